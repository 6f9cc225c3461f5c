package jwks

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/fault"
)

func TestFetchedOnFirstNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: says(set(ed("a")))}
		s := i.set()
		i.wantAsked(t, 0)
		wantKeys(t, s, "a", 1)
		wantKeys(t, s, "", 1)
		time.Sleep(defaultFresh - time.Second)
		wantKeys(t, s, "a", 1)
		synctest.Wait()
		i.wantAsked(t, 1)
	})
}

// Stale keys are used while the set is fetched: no caller waits.
func TestStaleKeysAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: says(set(ed("old")))}
		s := i.set()
		wantKeys(t, s, "old", 1)

		time.Sleep(defaultFresh)
		i.answer = func(req *http.Request) (*http.Response, error) {
			time.Sleep(3 * time.Second)
			return says(set(ed("new")))(req)
		}
		before := time.Now()
		for range 10 {
			wantKeys(t, s, "old", 1)
			wantKeys(t, s, "", 1)
		}
		if waited := time.Since(before); waited > 0 {
			t.Errorf("waited %v for a known key", waited)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		wantKeys(t, s, "new", 1)
		wantKeys(t, s, "old", 0)
		i.wantAsked(t, 2)
	})
}

func TestFreshness(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"":                                      10 * time.Minute,
		"public":                                10 * time.Minute,
		"max-age=600":                           10 * time.Minute,
		"public, max-age=1200, must-revalidate": 20 * time.Minute,
		"PUBLIC,MAX-AGE=1200":                   20 * time.Minute,
		`max-age="1200"`:                        20 * time.Minute,
		"s-maxage=5, max-age=1200":              20 * time.Minute,
		"max-age=0":                             time.Minute,
		"max-age=59":                            time.Minute,
		"max-age=3601":                          time.Hour,
		"max-age=31536000":                      time.Hour,
		"max-age=99999999999999999999999":       time.Hour,
		"max-age=-1":                            10 * time.Minute,
		"max-age=1.5":                           10 * time.Minute,
		"max-age":                               10 * time.Minute,
		"max-age=":                              10 * time.Minute,
		"no-store":                              time.Minute,
		"max-age=1200, no-cache":                time.Minute,
	} {
		h := http.Header{}
		if header != "" {
			h.Set("Cache-Control", header)
		}
		if got := Freshness(h); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
	if got := Freshness(http.Header{"Cache-Control": {"public", "max-age=1200"}}); got != 20*time.Minute {
		t.Errorf("of two headers: %v", got)
	}
}

func TestMaxAgeIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: says(set(ed("a")), "Cache-Control", "max-age=120")}
		s := i.set()
		for range 121 { // two minutes, and once more
			wantKeys(t, s, "a", 1)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		i.wantAsked(t, 2)
	})
}

// An unknown kid causes a fetch at once, but not another one soon.
func TestUnknownKid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: says(set(ed("a")))}
		s := i.set()
		wantKeys(t, s, "a", 1)
		time.Sleep(minFetchInterval)

		i.answer = says(set(ed("a"), ed("b")))
		wantKeys(t, s, "b", 1)
		i.wantAsked(t, 2)

		i.answer = says(set(ed("a"), ed("b"), ed("c")))
		for range 9 {
			time.Sleep(time.Second)
			wantKeys(t, s, "c", 0)
			wantKeys(t, s, "x"+time.Now().String(), 0)
			wantKeys(t, s, "a", 1)
		}
		i.wantAsked(t, 2)
		time.Sleep(time.Second)
		wantKeys(t, s, "c", 1)
		i.wantAsked(t, 3)
	})
}

// A failure does not cause more fetches, and the old keys stay valid.
func TestUnknownKidWhenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: says(set(ed("a")))}
		s := i.set()
		wantKeys(t, s, "a", 1)
		i.answer = down
		for range 60 {
			time.Sleep(time.Second)
			wantKeys(t, s, "b", 0)
			wantKeys(t, s, "a", 1)
		}
		i.wantAsked(t, 1+6)
	})
}

// A known kid with another algorithm is not unknown.
func TestUnfitKidIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: says(set(ed("a")))}
		s := i.set()
		wantKeys(t, s, "a", 1)
		time.Sleep(minFetchInterval)
		if keys, err := s.Keys(t.Context(), "a", "RS256"); err != nil || len(keys) > 0 {
			t.Errorf("%d keys, %v", len(keys), err)
		}
		i.wantAsked(t, 1)
	})
}

func TestOneFlightForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: func(req *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return says(set(ed("a")))(req)
		}}
		s := i.set()
		var wg sync.WaitGroup
		for n := range 100 {
			wg.Go(func() {
				time.Sleep(time.Duration(n) * time.Millisecond)
				wantKeys(t, s, "a", 1)
				wantKeys(t, s, "b", 0)
			})
		}
		wg.Wait()
		i.wantAsked(t, 1)
	})
}

// A canceled caller does not cancel the others.
func TestCallerIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: func(req *http.Request) (*http.Response, error) {
			select {
			case <-time.After(4 * time.Second):
				return says(set(ed("a")))(req)
			case <-req.Context().Done():
				return nil, req.Context().Err()
			}
		}}
		s := i.set()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() { // it starts the flight
			before := time.Now()
			if _, err := s.Keys(ctx, "a", "EdDSA"); !errors.Is(err, context.DeadlineExceeded) || time.Since(before) != time.Second {
				t.Errorf("%v after %v", err, time.Since(before))
			}
		})
		synctest.Wait()
		wg.Go(func() { wantKeys(t, s, "a", 1) })
		wg.Wait()
		i.wantAsked(t, 1)

		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if keys, err := s.Keys(gone, "a", "EdDSA"); err != nil || len(keys) != 1 {
			t.Errorf("what is there is not given to who is gone: %v", err)
		}
	})
}

func TestHangingIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: hangs}
		s := i.set()
		before := time.Now()
		wantUnavailable(t, s, "the keys of https://issuer.example/keys cannot be fetched: ")
		if waited := time.Since(before); waited != fetchTimeout {
			t.Errorf("waited %v, want %v", waited, fetchTimeout)
		}
		before = time.Now()
		wantUnavailable(t, s, "cannot be fetched") // the answer of before
		if waited := time.Since(before); waited > 0 {
			t.Errorf("waited %v again", waited)
		}
		i.wantAsked(t, 1)
		i.answer = says(set(ed("a")))
		time.Sleep(minFetchInterval - fetchTimeout)
		wantKeys(t, s, "a", 1)
	})
}

func TestNeverFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: down}
		s := i.set()
		for range 20 {
			wantUnavailable(t, s, "the keys of https://issuer.example/keys cannot be fetched: the issuer is down")
			time.Sleep(time.Second)
		}
		i.wantAsked(t, 2)
		_, err := s.Keys(t.Context(), "", "EdDSA")
		if !errors.Is(err, errDown) {
			t.Errorf("%v has lost its cause", err)
		}
		i.answer = says(set(ed("a")))
		time.Sleep(minFetchInterval)
		wantKeys(t, s, "a", 1)
	})
}

// The old keys are used while their issuer is down, but not for ever.
func TestOldKeysAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		i := issuer{answer: says(set(ed("a")))}
		s := i.set()
		s.logger = textLogger(&log)
		wantKeys(t, s, "a", 1)
		begun := time.Now()
		for n, answer := range []func(*http.Request) (*http.Response, error){
			down, hangs, says("<html>"), says(set()), says(set(`{"kty":"oct","k":"AAAA"}`)), says(strings.Repeat(" ", maxSize) + set(ed("b"))),
		} {
			i.answer = answer
			time.Sleep(time.Hour)
			wantKeys(t, s, "a", 1)
			time.Sleep(fetchTimeout)
			synctest.Wait()
			wantKeys(t, s, "a", 1)
			i.wantAsked(t, int32(n)+2)
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 6 || !strings.Contains(log.String(), "the keys of https://issuer.example/keys cannot be fetched") {
			t.Errorf("%d warnings: %s", n, log.String())
		}
		i.answer = down
		time.Sleep(maxStale - time.Since(begun))
		wantKeys(t, s, "a", 1)
		time.Sleep(minFetchInterval)
		wantUnavailable(t, s, errDown.Error())
		wantUnavailable(t, s, errDown.Error())

		i.answer = says(set(ed("c")))
		time.Sleep(minFetchInterval)
		wantKeys(t, s, "c", 1)
		wantKeys(t, s, "a", 0)
	})
}

// A set that was not used for a long time is fetched before it is used.
func TestLongUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: says(set(ed("a")))}
		s := i.set()
		wantKeys(t, s, "a", 1)
		time.Sleep(30 * 24 * time.Hour)
		i.answer = says(set(ed("b")))
		wantKeys(t, s, "a", 0)
		wantKeys(t, s, "b", 1)
		i.wantAsked(t, 2)
	})
}

func TestFetchInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: down}
		s := i.set()
		for n := range 1000 {
			if n == 500 {
				i.answer = says(set(ed("a")))
			}
			_, err := s.Keys(t.Context(), "unknown", "EdDSA")
			if err != nil && fault.KindOf(err) != fault.Unavailable {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		i.wantAsked(t, 10)
	})
}
