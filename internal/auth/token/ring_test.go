package token_test

import (
	"bytes"
	"context"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/token"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// kids returns the ids of the published keys.
func (w *world) kids() []string {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.mux.ServeHTTP(rec, httptest.NewRequest("GET", "/.well-known/jwks.json", nil))
	var set struct {
		Keys []struct {
			KeyID string `json:"kid"`
		}
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &set); err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, k := range set.Keys {
		out = append(out, k.KeyID)
	}
	return out
}

// kidOf returns the id of the key that signed a token.
func kidOf(raw string) string {
	header, _, _ := strings.Cut(raw, ".")
	var h struct {
		KeyID string `json:"kid"`
	}
	if err := json.Unmarshal(must1(base64.RawURLEncoding.DecodeString(header)), &h); err != nil {
		panic(err)
	}
	return h.KeyID
}

// replica returns another process on the same store.
func (w *world) replica() *world {
	w.t.Helper()
	r := &world{t: w.t, store: w.store, limiter: &limiter{}, sources: w.sources}
	r.ring = token.NewRing(w.store, seal{"s"}, nil)
	r.ring.SetGenerate(func() (*rsa.PrivateKey, error) { return nil, errors.New("this replica makes no keys") })
	if _, err := r.ring.LoadOrCreate(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	r.serve(config())
	return r
}

func (w *world) rotate(now bool) token.SigningKey {
	w.t.Helper()
	k, err := w.ring.Rotate(w.t.Context(), now)
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

func (w *world) accepts(raw string) bool {
	w.t.Helper()
	_, err := w.server.Verify(w.t.Context(), raw)
	if err != nil && fault.KindOf(err) != fault.Unauthorized {
		w.t.Errorf("refused with %v", err)
	}
	return err == nil
}

// The first start creates a key, and the next finds it.
func TestSecondStartFindsTheKey(t *testing.T) {
	w := newWorld(t)
	r := w.replica()
	if raw := w.token(); !r.accepts(raw) || !slices.Equal(w.kids(), r.kids()) || len(r.kids()) != 1 {
		t.Errorf("%v and %v", w.kids(), r.kids())
	}
}

// A token whose key cannot be looked up is not refused: it may be valid.
func TestUnknownKeyWhileTheStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.replica()
		w.rotate(true) // the replica has not seen it yet
		raw := w.token()
		w.store.fail(errors.New("the connection was refused"))
		reads := w.store.readCount()
		for range 3 {
			if _, err := r.server.Verify(t.Context(), raw); fault.KindOf(err) != fault.Unavailable || strings.Contains(err.Error(), "refused:") {
				t.Errorf("got %v, want Unavailable", err)
			}
		}
		if n := w.store.readCount() - reads; n != 1 {
			t.Errorf("the store was read %d times within a second, want once", n)
		}
		if _, err := r.server.Verify(t.Context(), raw[1:]); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("a token that cannot be read: %v", err)
		}
		w.store.fail(nil)
		time.Sleep(time.Second)
		if !r.accepts(raw) {
			t.Error("it is refused once the store answers again")
		}
	})
}

func TestConcurrentFirstStart(t *testing.T) {
	db := newStore()
	rings := make([]*token.Ring, 3)
	keys := signingKeys()
	var gate sync.WaitGroup
	gate.Add(len(rings))
	var wg sync.WaitGroup
	for i := range rings {
		rings[i] = token.NewRing(db, seal{"s"}, nil)
		rings[i].SetGenerate(func() (*rsa.PrivateKey, error) {
			gate.Done()
			gate.Wait() // now none of them has seen the key of another
			return keys()
		})
		wg.Go(func() {
			if _, err := rings[i].LoadOrCreate(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var first []string
	for i, r := range rings {
		w := &world{t: t, store: db, ring: r, limiter: &limiter{}, sources: newWorld(t).sources}
		w.serve(config())
		if got := w.kids(); i == 0 {
			first = got
		} else if !slices.Equal(first, got) {
			t.Errorf("they do not agree: %v and %v", first, got)
		}
		w.token()
	}
	if len(first) != 1 {
		t.Errorf("there are %d keys", len(first))
	}
}

// A new key is published at once and signs later, and old tokens stay valid.
func TestRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.TokenLifetime = time.Hour
		w := newWorldWith(t, c)
		before := w.token()
		added := w.rotate(false)
		if want := time.Now().Add(5 * time.Minute); !added.SignsFrom.Equal(want) {
			t.Errorf("it signs from %v, want %v", added.SignsFrom, want)
		}
		if got := w.kids(); len(got) != 2 || got[1] != added.ID {
			t.Errorf("published are %v", got)
		}
		if kidOf(w.token()) == added.ID {
			t.Error("it signs before others have seen it")
		}
		time.Sleep(5*time.Minute - time.Nanosecond)
		last := w.token()
		if kidOf(last) == added.ID {
			t.Error("it signs too early")
		}
		time.Sleep(time.Nanosecond)
		after := w.token()
		if kidOf(after) != added.ID {
			t.Error("it does not sign when its time has come")
		}
		if !w.accepts(before) || !w.accepts(last) || !w.accepts(after) {
			t.Error("a token is refused")
		}
		// The last token of the old key ends, and so does the key.
		time.Sleep(time.Hour - time.Nanosecond - time.Second)
		if !w.accepts(last) || len(w.kids()) != 2 {
			t.Error("the old key is gone before its last token")
		}
		time.Sleep(time.Second + time.Nanosecond)
		if got := w.kids(); len(got) != 1 || got[0] != added.ID {
			t.Errorf("published are %v", got)
		}
		if w.accepts(last) {
			t.Error("a token of a key that is gone is accepted")
		}
	})
}

// Replaced keys expire one after the other.
func TestRotationTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		first := w.kids()[0]
		second := w.rotate(false).ID
		time.Sleep(time.Minute)
		third := w.rotate(false).ID
		for _, step := range []struct {
			wait   time.Duration
			signs  string
			verify []string
		}{
			{0, first, []string{first, second, third}},
			{4 * time.Minute, second, []string{first, second, third}},
			{time.Minute, third, []string{first, second, third}},
			{59 * time.Minute, third, []string{second, third}},
			{time.Minute, third, []string{third}},
			{10000 * time.Hour, third, []string{third}},
		} {
			time.Sleep(step.wait)
			if kid := kidOf(w.token()); kid != step.signs || !slices.Equal(w.kids(), step.verify) {
				t.Errorf("after %v more %s signs and %v verify, want %s and %v", step.wait, kid, w.kids(), step.signs, step.verify)
			}
		}
	})
}

// After a leak no older token is accepted, cached or not, here at once and in other
// replicas after their next poll.
func TestDistrust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.replica()
		pending := w.rotate(false)
		old := w.token()
		if !w.accepts(old) || !r.accepts(old) {
			t.Fatal("a good token is refused")
		}
		added := w.rotate(true)
		if !added.SignsFrom.Equal(time.Now()) || !slices.Equal(w.kids(), []string{added.ID}) {
			t.Errorf("it signs from %v, published are %v", added.SignsFrom, w.kids())
		}
		if w.accepts(old) {
			t.Error("what the leaked key signed is accepted")
		}
		if kid := kidOf(w.token()); kid != added.ID {
			t.Errorf("%s signs", kid)
		}
		if err := r.ring.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r.accepts(old) || !slices.Equal(r.kids(), []string{added.ID}) {
			t.Errorf("a replica still has the keys %v", r.kids())
		}
		time.Sleep(10 * time.Minute) // when the key that waited would have begun
		if kid := kidOf(w.token()); kid != added.ID || kid == pending.ID {
			t.Errorf("%s signs", kid)
		}
	})
}

// The clock of another replica may be ahead: after a leak its key signs here too.
func TestDistrustByAClockAhead(t *testing.T) {
	w := newWorld(t)
	old := w.token()
	synctest.Test(t, func(t *testing.T) { // where it is the year 2000
		r := w.replica()
		if kid := kidOf(r.token()); kid != kidOf(old) {
			t.Errorf("%s signs", kid)
		}
	})
	added := w.rotate(true)
	synctest.Test(t, func(t *testing.T) {
		r := w.replica()
		if kid := kidOf(r.token()); kid != added.ID {
			t.Errorf("%s signs", kid)
		}
	})
}

// A key expires when the first of its successors has signed for long enough, even if
// that is not the next one.
func TestRotationByClocksThatDiffer(t *testing.T) {
	w := newWorld(t)
	first := w.kids()[0]
	w.rotate(false)
	synctest.Test(t, func(t *testing.T) { // where it is the year 2000
		r := w.replica()
		r.ring.SetGenerate(func() (*rsa.PrivateKey, error) { return rsaKeys()[5], nil })
		third := r.rotate(false)
		time.Sleep(token.Notice + token.MaxLifetime)
		if got := r.kids(); slices.Contains(got, first) || !slices.Contains(got, third.ID) || kidOf(r.token()) != third.ID {
			t.Errorf("published are %v", got)
		}
	})
}

// Two concurrent rotations after a leak both get a key, and older keys are distrusted.
// Two concurrent normal rotations create one key.
func TestRotateAtOnce(t *testing.T) {
	w := newWorld(t)
	old := w.token()
	r := w.replica() // has not seen what comes
	first := w.rotate(true)
	r.ring.SetGenerate(func() (*rsa.PrivateKey, error) { return rsaKeys()[5], nil })
	second, err := r.ring.Rotate(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.ring.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.kids(); !slices.Equal(got, []string{second.ID}) || first.ID == second.ID {
		t.Errorf("published are %v", got)
	}
	if w.accepts(old) || r.accepts(old) {
		t.Error("the first key is accepted")
	}
}

// race makes another process write just before a record is put.
type race struct {
	*memoryStore
	before func()
}

func (r *race) PutRecords(ctx context.Context, lease *store.Lease, records ...store.Record) ([]store.Record, error) {
	if f := r.before; f != nil {
		r.before = nil
		f()
	}
	return r.memoryStore.PutRecords(ctx, lease, records...)
}

func TestRotateConflict(t *testing.T) {
	for _, leak := range []bool{false, true} {
		w := newWorld(t)
		old := w.token()
		between := &race{memoryStore: w.store}
		ring := token.NewRing(between, seal{"s"}, nil)
		ring.SetGenerate(func() (*rsa.PrivateKey, error) { return rsaKeys()[5], nil })
		var other token.SigningKey
		between.before = func() { other = w.rotate(false) }
		added, err := ring.Rotate(t.Context(), leak)
		if !leak {
			if fault.KindOf(err) != fault.Conflict {
				t.Errorf("in peace: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := w.ring.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.kids(); !slices.Equal(got, []string{added.ID}) || other.ID == "" || w.accepts(old) {
			t.Errorf("published are %v", got)
		}
	}
}

// A replica reads the store for an unknown key, once a second at most.
func TestUnknownKeyIsLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.replica()
		w.rotate(true)
		raw := w.token()
		reads := w.store.readCount()
		if !r.accepts(raw) {
			t.Error("the token of a new key is refused")
		}
		if n := w.store.readCount() - reads; n != 1 {
			t.Errorf("the store was asked %d times", n)
		}
		forged := strings.Replace(raw, raw[:strings.Index(raw, ".")],
			encode([]byte(`{"alg":"RS256","typ":"at+jwt","kid":"`+strings.Repeat("x", 43)+`"}`)), 1)
		for range 100 {
			if r.accepts(forged) {
				t.Fatal("a forgery is accepted")
			}
		}
		if n := w.store.readCount() - reads; n != 1 {
			t.Errorf("forgeries made the store be asked %d times within a second", n-1)
		}
		time.Sleep(time.Second)
		r.accepts(forged)
		r.accepts(forged)
		if n := w.store.readCount() - reads; n != 2 {
			t.Errorf("the store was asked %d times after a second", n)
		}
		time.Sleep(time.Second)
		short := strings.Replace(raw, raw[:strings.Index(raw, ".")], encode([]byte(`{"alg":"RS256","typ":"at+jwt","kid":"1"}`)), 1)
		if r.accepts(short) || w.store.readCount()-reads != 2 {
			t.Error("the store was asked for what cannot be a key of ours")
		}
	})
}

// Known keys are used while the store fails.
func TestStoreIsDown(t *testing.T) {
	w := newWorld(t)
	raw := w.token()
	w.store.fail(errors.New("down"))
	if err := w.ring.Refresh(t.Context()); err == nil {
		t.Error("the failure of the store is not reported")
	}
	if !w.accepts(raw) || len(w.kids()) != 1 {
		t.Error("the known keys are lost")
	}
	w.serve(config()) // without memory
	if !w.accepts(raw) {
		t.Error("a good token is refused")
	}
	if _, err := w.ring.Rotate(t.Context(), false); err == nil {
		t.Error("rotated without a store")
	}
	if _, err := w.ring.Rotate(t.Context(), true); err == nil {
		t.Error("rotated without a store")
	}
	if _, err := token.NewRing(w.store, seal{"s"}, nil).LoadOrCreate(t.Context()); err == nil {
		t.Error("started without a store")
	}
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var log bytes.Buffer // read when there is no writer
		ring := token.NewRing(w.store, seal{"s"}, slog.New(slog.NewTextHandler(&log, nil)))
		r := &world{t: t, store: w.store, ring: ring, limiter: &limiter{}, sources: w.sources}
		r.serve(config())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- ring.Follow(ctx) }()
		synctest.Wait()
		if len(r.kids()) != 1 {
			t.Error("it does not poll at its start")
		}
		w.rotate(false)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(r.kids()) != 2 {
			t.Error("it does not look after a second")
		}
		w.store.fail(errors.New("down"))
		reads := w.store.readCount()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := w.store.readCount() - reads; n != 60 {
			t.Errorf("it polled a failing store %d times in a minute, want 60", n)
		}
		if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "down") {
			t.Errorf("the log has %q", log.String())
		}
		w.store.fail(nil)
		w.rotate(true)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(r.kids()) != 1 {
			t.Error("it does not recover within a second")
		}
		reads = w.store.readCount()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := w.store.readCount() - reads; n != 10 {
			t.Errorf("it polls %d times in 10 s", n)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// The private key is stored sealed only.
func TestKeysAreSealed(t *testing.T) {
	w := newWorld(t)
	records, err := w.store.RecordsSince(t.Context(), "signing-key", 0)
	if err != nil || len(records) != 1 || records[0].ID != "1" {
		t.Fatalf("%v, %v", records, err)
	}
	var body map[string]string
	if err := json.Unmarshal([]byte(records[0].Body), &body); err != nil {
		t.Fatal(err)
	}
	if body["kid"] != w.kids()[0] || !strings.HasPrefix(body["private_key"], "sealed:s:signing-key/1:") {
		t.Errorf("the record is %v", body)
	}
	for _, when := range []string{"created_at", "signs_from"} {
		if _, err := time.Parse(time.RFC3339, body[when]); err != nil {
			t.Error(err)
		}
	}
	thief := token.NewRing(w.store, seal{"another secret"}, nil)
	if _, err := thief.LoadOrCreate(t.Context()); err == nil || !strings.Contains(err.Error(), "signing key 1") {
		t.Errorf("opened with another secret: %v", err)
	}
}

// A key moved to the number or id of another is refused.
func TestKeysThatWereMoved(t *testing.T) {
	for name, change := range map[string]func(r *store.Record){
		"number":  func(r *store.Record) { r.ID = "2" },
		"kid":     func(r *store.Record) { r.Body = strings.Replace(r.Body, `"kid":"`, `"kid":"x`, 1) },
		"sealing": func(r *store.Record) { r.Body = strings.Replace(r.Body, `"sealed:`, `"`, 1) },
		"no JSON": func(r *store.Record) { r.Body = "{" },
	} {
		w := newWorld(t)
		records, err := w.store.RecordsSince(t.Context(), "signing-key", 0)
		if err != nil {
			t.Fatal(err)
		}
		r := records[0]
		change(&r)
		other := newStore()
		r.Revision = 0
		if _, err := store.PutRecord(t.Context(), other, r); err != nil {
			t.Fatal(err)
		}
		if _, err := token.NewRing(other, seal{"s"}, nil).LoadOrCreate(t.Context()); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// When the secret is lost, an operator can continue with a new one. A key that cannot be
// opened does not hide the effects of other keys.
func TestSecretIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var log bytes.Buffer
		ring := token.NewRing(w.store, seal{"new"}, slog.New(slog.NewTextHandler(&log, nil)))
		keys := signingKeys()
		_, _ = keys() // which w has
		ring.SetGenerate(keys)
		if _, err := ring.Rotate(t.Context(), false); err == nil {
			t.Error("rotated beside a key that cannot be opened")
		}
		added, err := ring.Rotate(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ring.LoadOrCreate(t.Context()); err != nil {
			t.Errorf("the key that does not count is in the way: %v", err)
		}
		// The replica with the old secret cannot open the new key, but knows
		// that its own is distrusted.
		old := w.token()
		if err := w.ring.Refresh(t.Context()); err == nil {
			t.Error("the unreadable key is not logged")
		}
		if w.accepts(old) || len(w.kids()) != 0 {
			t.Errorf("published are %v", w.kids())
		}
		used := len(w.store.markNames())
		if a := w.exchange().do(); a.Code != 503 || len(w.store.markNames()) != used {
			t.Errorf("without a key it answers %d %s and uses the assertion up", a.Code, a.Body)
		}
		r := &world{t: t, store: w.store, ring: ring, limiter: &limiter{}, sources: w.sources}
		r.serve(config())
		if kid := kidOf(r.token()); kid != added.ID {
			t.Errorf("%s signs", kid)
		}
		follower := token.NewRing(w.store, seal{"s"}, slog.New(slog.NewTextHandler(&log, nil)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_ = follower.Follow(ctx)
		if n := strings.Count(log.String(), "signing key 2"); n != 1 {
			t.Errorf("the log has %q", log.String())
		}
	})
}

// A deleted record removes its key, and its number is not used again.
func TestKeyIsRemoved(t *testing.T) {
	w := newWorld(t)
	raw := w.token()
	records, err := w.store.RecordsSince(t.Context(), "signing-key", 0)
	if err != nil {
		t.Fatal(err)
	}
	records[0].Body = ""
	if _, err := store.PutRecord(t.Context(), w.store, records[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ring.LoadOrCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.accepts(raw) || len(w.kids()) != 1 {
		t.Errorf("published are %v", w.kids())
	}
	w.token()
}
