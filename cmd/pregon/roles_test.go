package main_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
)

// TestRoles runs one process of each role on one store. Together they do what one
// process of all roles does, and each does its own part alone.
func TestRoles(t *testing.T) {
	longtest.Skip(t, "it starts many replicas")
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, startSource(t), newStore(t))
			debug := []string{"--debug-listen", "127.0.0.1:0", "--webhook-allow-private", "--role"}
			ingest := r.startServe(t, append(debug, "ingest")...)
			r.serve = r.startServe(t, append(debug, "serve")...)
			r.started(t)
			if !holds(ingest) || holds(r.serve) {
				t.Errorf("holding the lease: ingest %v, serve %v, want true, false", holds(ingest), holds(r.serve))
			}

			key := pregon(t, r.spec, "keys", "create", "--plan", "pro")
			receiver := newReceiver(t, false)
			receiver.register(t, r.serve.url, key)
			ids := []string{r.publish(t, `{"type":"oir"}`), r.publish(t, `{"type":"ip"}`)}
			r.waitListed(t, ids...)
			if seen, err := receiver.all(); err != nil || len(seen) > 0 {
				t.Errorf("without a process that delivers, the receiver got %v, %v", seen, err)
			}
			deliver := r.startServe(t, append(debug, "deliver")...)
			eventually(t, func() error {
				newest, err := r.store.Newest(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return receiver.received(newest)
			})

			for role, s := range map[string]*service{"ingest": ingest, "deliver": deliver} {
				if got := s.status(t, "/healthz", "", ""); got != http.StatusOK {
					t.Errorf("%s: /healthz is answered with %d", role, got)
				}
				if got := s.status(t, "/api/v1/reports", "X-API-Key", key); got != http.StatusNotFound {
					t.Errorf("%s: /api/v1/reports is answered with %d, want 404", role, got)
				}
				if got, want := unrouted(t, s), "its --role is "+role; !strings.Contains(got, want) {
					t.Errorf("%s: / is answered with %s, want %q", role, got, want)
				}
			}

			// Without a process that reads the source, the others say so.
			if err := ingest.end(syscall.SIGTERM); err != nil {
				t.Errorf("ingest did not end cleanly: %v\n%s", err, ingest.log)
			}
			r.state(t, "blind")
			ingest = r.startServe(t, append(debug, "ingest")...)
			r.state(t, "live", "quiet")
			r.waitListed(t, append(ids, r.publish(t, `{"type":"oir"}`))...)
			if err := ingest.end(syscall.SIGTERM); err != nil { // nothing may be appended while stop compares the log
				t.Errorf("ingest did not end cleanly: %v\n%s", err, ingest.log)
			}
			r.stop(t)
		})
	}
}

func unrouted(t *testing.T, s *service) string {
	t.Helper()
	resp, err := http.Get(s.url + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestAge stops PostgreSQL: reads are answered from memory, and say how old they are.
func TestAge(t *testing.T) {
	longtest.Skip(t, "it stops the database for a while")
	t.Parallel()
	p := newStoreProxy(t, pgtest.Database(t))
	s := startReplica(t, p.url)
	age := func() string {
		t.Helper()
		resp, err := http.Get(s.url + "/api/v1/reports")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d", resp.StatusCode)
		}
		return resp.Header.Get("Pregon-Age")
	}
	if got := age(); got != "" {
		t.Errorf("Pregon-Age is %q with fresh data, want none", got)
	}
	p.freeze(true)
	eventually(t, func() error {
		if age() == "" {
			return errors.New("no Pregon-Age while the store does not answer")
		}
		return nil
	})
	var status struct {
		Catalog struct {
			Behind float64 `json:"behind_seconds"`
		}
	}
	if _, err := fetch(s.url, "/api/v1/status", &status); err != nil || status.Catalog.Behind < 5 {
		t.Errorf("behind_seconds is %v (%v), want 5 or more", status.Catalog.Behind, err)
	}
	p.freeze(false)
	eventually(t, func() error {
		if got := age(); got != "" {
			return fmt.Errorf("Pregon-Age is %s although the store answers", got)
		}
		return nil
	})
}
