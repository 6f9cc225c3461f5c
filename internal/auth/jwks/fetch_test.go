package jwks

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/fault"
	"pregon/internal/server/outbound"
)

func textLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// serve starts an issuer and returns its set.
func serve(t *testing.T, h http.HandlerFunc) *Set {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	client := outbound.NewClient(outbound.Options{AllowPrivate: true, Timeout: time.Minute})
	t.Cleanup(client.CloseIdleConnections)
	return Remote(server.URL, client, quiet)
}

func TestAnswers(t *testing.T) {
	good := set(ed("a"))
	var elsewhere atomic.Int32
	// The body is compressed before the request, whose timeout is short for a slow machine.
	zipped := func(pieces int) http.HandlerFunc {
		var body bytes.Buffer
		z := gzip.NewWriter(&body)
		for range pieces {
			_, _ = io.WriteString(z, strings.Repeat(" ", 64<<10))
		}
		_, _ = io.WriteString(z, good)
		_ = z.Close()
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(body.Bytes())
		}
	}
	for name, test := range map[string]struct {
		h    http.HandlerFunc
		want string // of the error; empty: a key
	}{
		"good": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, good) }, ""},
		"gzip": {zipped(7), ""},
		"as large as may be": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, good, strings.Repeat(" ", maxSize-len(good)))
		}, ""},
		"too large": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, good, strings.Repeat(" ", maxSize-len(good)+1))
		}, "longer than 512 KiB"},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := fmt.Fprint(w, strings.Repeat(" ", 64<<10)); err != nil {
					return
				}
			}
		}, "longer than 512 KiB"},
		"gzip bomb": {zipped(256), "longer than 512 KiB"}, // 16 MB out of 16 KB
		"gzip that is none": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, good)
		}, "gzip"},
		"another encoding": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "\x0b\x02\x80")
		}, "not a key set"},
		"cut short": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, good)
		}, "EOF"},
		"HTML":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!DOCTYPE html><html>") }, "not a key set"},
		"nothing": {func(http.ResponseWriter, *http.Request) {}, "not a key set"},
		"no keys": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"keys":[]}`) }, "does not have a key that can verify"},
		"302": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				elsewhere.Add(1)
				fmt.Fprint(w, good)
				return
			}
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}, "status 302"},
		"204": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "status 204"},
		"404": {http.NotFound, "status 404"},
		"500": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, good)
		}, "status 500"},
		"dropped": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, test.h)
			if test.want == "" {
				wantKeys(t, s, "a", 1)
				return
			}
			wantUnavailable(t, s, test.want)
		})
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

// Redirects are not followed, even if the client would.
func TestRedirectsAreNotFollowed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			t.Errorf("asked for %s", r.URL)
		}
		http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
	}))
	defer server.Close()
	client := server.Client()
	wantUnavailable(t, Remote(server.URL, client, quiet), "status 301")
	if client.CheckRedirect != nil {
		t.Error("the caller's client was changed")
	}
}

func TestRequest(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("User-Agent") != "pregon" || !strings.Contains(r.Header.Get("Accept"), "application/json") {
			t.Errorf("%s %v", r.Method, r.Header)
		}
		fmt.Fprint(w, set(ed("a")))
	})
	wantKeys(t, s, "a", 1)
}

// The timeout includes a body that arrives slowly.
func TestTrickle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := issuer{answer: func(req *http.Request) (*http.Response, error) {
			res, err := says("")(req)
			res.Body = trickle{req}
			return res, err
		}}
		before := time.Now()
		wantUnavailable(t, i.set(), "deadline exceeded")
		if waited := time.Since(before); waited != fetchTimeout {
			t.Errorf("waited %v, want %v", waited, fetchTimeout)
		}
	})
}

// trickle is a body with one byte per second.
type trickle struct{ req *http.Request }

func (b trickle) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	case <-b.req.Context().Done():
		return 0, b.req.Context().Err()
	}
}

func (trickle) Close() error { return nil }

func TestWrongAddress(t *testing.T) {
	wantUnavailable(t, Remote("https://%zz/", http.DefaultClient, quiet), "cannot be fetched")
}

// The reason of a refused address is in the error.
func TestRefused(t *testing.T) {
	s := Remote("https://127.0.0.1/keys", outbound.NewClient(outbound.Options{}), quiet)
	_, err := s.Keys(t.Context(), "a", "EdDSA")
	reason, ok := outbound.Refused(err)
	if fault.KindOf(err) != fault.Unavailable || !ok || reason != "the host 127.0.0.1 is a loopback address" {
		t.Errorf("%v: %q", err, reason)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	write(t, path, set(ed("a")))
	synctest.Test(t, func(t *testing.T) {
		s, err := File(path, quiet)
		if err != nil {
			t.Fatal(err)
		}
		wantKeys(t, s, "a", 1)

		write(t, path, set(ed("a"), ed("b")))
		wantKeys(t, s, "b", 0) // it has only just been read
		time.Sleep(minFetchInterval)
		wantKeys(t, s, "b", 1)

		time.Sleep(minFetchInterval)
		write(t, path, `{"keys":`)
		wantKeys(t, s, "c", 0)
		wantKeys(t, s, "a", 1)

		time.Sleep(minFetchInterval)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		wantKeys(t, s, "c", 0)
		wantKeys(t, s, "a", 1)

		// A key that was taken out does not serve for ever.
		write(t, path, set(ed("b")))
		time.Sleep(defaultFresh)
		wantKeys(t, s, "a", 1)
		synctest.Wait()
		wantKeys(t, s, "a", 0)
		wantKeys(t, s, "b", 1)
	})
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "html": "<html>", "none": set(), "long": set(ed("a")) + strings.Repeat(" ", maxSize),
	} {
		write(t, filepath.Join(dir, name), text)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, name := range []string{"missing", "empty", "html", "none", "long", "pipe", "socket", "."} {
		path := filepath.Join(dir, name)
		s, err := File(path, quiet)
		if s != nil || fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "the keys of "+path+" cannot be read: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
