package remote_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/fault"
	"pregon/internal/proof/prooftest"
	"pregon/internal/proof/remote"
)

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"http://example.org":           "http://example.org/log",
		"http://example.org/":          "http://example.org/log",
		"https://example.org:8443/log": "https://example.org:8443/log",
		"https://example.org/log/":     "https://example.org/log",
		"https://example.org/pregon":   "https://example.org/pregon/log",
		"":                             "", "example.org": "", "ftp://example.org": "", "http://": "", "http://u:p@example.org": "",
		"http://example.org/?x": "", "http://example.org/#x": "", "http://example.org:x": "",
	} {
		log, err := remote.New(address, "")
		if got := ""; err == nil {
			if got = log.Address(); got != want {
				t.Errorf("the log of %q is at %q, want %q", address, got, want)
			}
		} else if want != "" || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// failing checks a log that cannot be read, and returns the error.
func failing(t *testing.T, s *prooftest.Server) error {
	t.Helper()
	c := newClient(t, s)
	_, err := c.check.Check(t.Context())
	if _, wrong := errors.AsType[*remote.Mismatch](err); wrong || err == nil {
		t.Fatalf("the error is %v, want one that does not accuse the log", err)
	}
	if files := c.files(); len(files) > 0 {
		t.Errorf("files were written: %v", files)
	}
	return err
}

func TestHugeAnswers(t *testing.T) {
	for _, path := range []string{"/log/checkpoint", "/log/tile/0/000", "/log/tile/0/001.p/44"} {
		s := prooftest.New(t, 300)
		written := 0
		s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			n, _ := fmt.Fprint(w, strings.Repeat("x", 1<<20))
			written += n
			return true
		}
		if err := failing(t, s); !strings.Contains(err.Error(), "is longer than") {
			t.Errorf("%s: %v", path, err)
		}
		if written > 1<<20 {
			t.Errorf("%s was read %d times", path, written>>20)
		}
	}
}

// TestHugeLog: a checkpoint can state any size, but not make a client compute or
// download without end.
func TestHugeLog(t *testing.T) {
	for _, size := range []int{remote.MaxLeaves + 1, 1 << 40, 1 << 62} {
		s := prooftest.New(t, 300)
		s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/log/checkpoint" {
				return false
			}
			signer, _ := s.Keys()
			text, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", prooftest.Origin, size, tlog.Hash{})}, signer)
			if err != nil {
				t.Error(err)
			}
			_, _ = w.Write(text)
			return true
		}
		if _, err := newClient(t, s).check.Check(t.Context()); err == nil {
			t.Errorf("a log of %d changes is right", size)
		}
		if len(s.Paths) > 100 {
			t.Errorf("%d requests", len(s.Paths))
		}
	}
}

// TestSlowServer: a server that never answers is given up.
func TestSlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := prooftest.New(t, 300)
		s.Intrude = func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}
		begin := time.Now()
		err := failing(t, s)
		if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "does not answer") {
			t.Errorf("the error is %v", err)
		}
		if took := time.Since(begin); took > 5*time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

func TestServerThatFailsAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := prooftest.New(t, 700)
		failures := map[string]int{}
		s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
			if failures[r.URL.Path]++; failures[r.URL.Path] > 2 {
				return false
			}
			if failures[r.URL.Path] == 1 {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(http.StatusTooManyRequests)
			} else {
				w.WriteHeader(http.StatusBadGateway)
			}
			return true
		}
		begin := time.Now()
		newClient(t, s).ok()
		if waited := time.Since(begin); waited < 14*time.Second || waited > time.Minute {
			t.Errorf("it waited %v for two rounds of requests, each after 7 s", waited)
		}
	})
}

func TestServerThatKeepsFailing(t *testing.T) {
	for code, kind := range map[int]fault.Kind{500: fault.Unavailable, 429: fault.Unavailable, 404: fault.NotFound, 403: fault.Unauthorized, 400: fault.Invalid} {
		synctest.Test(t, func(t *testing.T) {
			s := prooftest.New(t, 3)
			s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
				w.Header().Set("Retry-After", "86400") // more than is waited for
				w.WriteHeader(code)
				return true
			}
			if err := failing(t, s); fault.KindOf(err) != kind || !strings.Contains(err.Error(), fmt.Sprint(code)) {
				t.Errorf("the error is %v", err)
			}
			if want := 1; kind != fault.Unavailable && len(s.Paths) != want {
				t.Errorf("%d: %d requests, want %d", code, len(s.Paths), want)
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	for to, allowed := range map[string]bool{
		"/elsewhere": true, "https://example.org/elsewhere": true,
		"http://other.example/log/checkpoint": false, "http://example.org:8080/log/checkpoint": false, "/log/checkpoint": false,
	} {
		s := prooftest.New(t, 3)
		asked := ""
		s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
			switch r.URL.Path {
			case "/log/checkpoint":
				if r.URL.Host != "example.org" {
					asked = r.URL.Host
				}
				http.Redirect(w, r, to, http.StatusFound)
			case "/elsewhere":
				_, _ = w.Write(s.Checkpoint())
			default:
				return false
			}
			return true
		}
		if allowed {
			newClient(t, s).ok()
		} else if err := failing(t, s); !strings.Contains(err.Error(), "redirects") {
			t.Errorf("%s: %v", to, err)
		}
		if asked != "" {
			t.Errorf("%s was asked", asked)
		}
	}
}

// TestRemovedPartialTiles: a server may remove a partial tile when the complete one
// exists.
func TestRemovedPartialTiles(t *testing.T) {
	s := prooftest.New(t, 300)
	old := s.Checkpoint()
	s.Grow(600, "")
	s.Intrude = func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/log/checkpoint":
			_, _ = w.Write(old)
		case "/log/tile/0/001.p/44", "/log/tile/entries/001.p/44":
			w.WriteHeader(http.StatusNotFound)
		default:
			return false
		}
		return true
	}
	c := newClient(t, s)
	c.check.Entries = true
	if result := c.ok(); result.Checkpoint.Size != 300 || result.Entries != 300 {
		t.Errorf("the result is %+v", result)
	}
}

func TestKeyIsSent(t *testing.T) {
	s := prooftest.New(t, 3)
	log, err := remote.New("http://example.org", "secret")
	if err != nil {
		t.Fatal(err)
	}
	log.Through(s)
	s.Intrude = func(_ http.ResponseWriter, r *http.Request) bool {
		if got := r.Header.Get("X-API-Key"); got != "secret" {
			t.Errorf("the key is %q", got)
		}
		return false
	}
	keys, err := log.Keys(t.Context())
	if _, public := s.Keys(); err != nil || keys.String() != public {
		t.Errorf("the keys of the log are %q (%v)", keys, err)
	}
}

func TestWrongKeys(t *testing.T) {
	for _, text := range []string{"", "\n", "x", "example.org/log", "example.org/log+12345678+AAAA", strings.Repeat("x\n", 20), "<html>"} {
		s := prooftest.New(t, 3)
		log, err := remote.New("http://example.org", "")
		if err != nil {
			t.Fatal(err)
		}
		log.Through(s)
		answer("/log/vkey", func(string) string { return text })(s)
		if keys, err := log.Keys(t.Context()); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q is read as %q (%v)", text, keys, err)
		}
	}
}
