package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
)

// TestReadReplica serves clients from a standby server of PostgreSQL: while the
// primary writes, while the standby is behind, and while the primary is away.
func TestReadReplica(t *testing.T) {
	longtest.Skip(t, "it breaks a standby")
	t.Parallel()
	primary := pgtest.NewCluster(t)
	r := newReader(t, startSource(t), primary.URL()) // creates the schema
	standby := primary.Standby(t)
	ingest := r.startServe(t, "--role", "ingest")
	r.serve = r.startServe(t, "--role", "serve", "--store-read", standby.URL())
	r.started(t)
	ids := []string{r.publish(t, `{"type":"oir"}`), r.publish(t, `{"type":"ip"}`)}
	r.waitListed(t, ids...)
	key := pregon(t, r.spec, "keys", "create", "--plan", "pro")
	if got := r.serve.status(t, "/api/v1/webhooks", "X-API-Key", key); got != http.StatusOK {
		t.Errorf("a new key of the primary is answered with %d, want 200", got)
	}

	// A standby that does not receive changes is noticed.
	clients := r.alternate(t, key, r.startServe(t, "--role", "serve"), r.serve)
	if err := standby.Exec("SELECT pg_wal_replay_pause()"); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, r.publish(t, `{"type":"oir"}`))
	eventually(t, func() error {
		var s status
		h, err := fetch(r.serve.url, "/api/v1/status", &s)
		if err != nil {
			return err
		}
		if reasons := fmt.Sprint(s.Reasons); h.Get("Pregon-Age") == "" || !strings.Contains(reasons, "log:") {
			return fmt.Errorf("the standby is behind: Pregon-Age is %q, and the reasons are %v", h.Get("Pregon-Age"), reasons)
		}
		return nil
	})
	ids = append(ids, r.publish(t, `{"type":"ip"}`), r.publish(t, `{"type":"oir"}`))
	beyond := clients.whileBehind(t, ids...)
	if err := standby.Exec("SELECT pg_wal_replay_resume()"); err != nil {
		t.Fatal(err)
	}
	r.waitListed(t, ids...)
	clients.end(t)

	// Without its primary, and started anew: reports come from memory.
	if err := primary.Stop("immediate"); err != nil {
		t.Fatal(err)
	}
	if list, err := listed(r.serve.url); err != nil || list[ids[4]] != 1 {
		t.Errorf("without the primary the list has %v, %v", list, err)
	}
	demand(t, r.serve.url, key, http.MethodGet, "/api/v1/changes?after="+beyond, nil, nil, http.StatusServiceUnavailable)
	ids = append(ids, r.publish(t, `{"type":"ip"}`))
	if err := primary.Start(); err != nil {
		t.Fatal(err)
	}
	r.waitListed(t, ids...)

	// A standby that ends while it is read: memory again, and no restart is needed.
	if err := standby.Stop("immediate"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if list, err := listed(r.serve.url); err != nil || list[ids[5]] != 1 {
			return fmt.Errorf("without the standby the list has %v, %w", list, err)
		}
		if h, err := fetch(r.serve.url, "/api/v1/status", new(status)); err != nil || h.Get("Pregon-Age") == "" {
			return errors.New("no Pregon-Age without the standby")
		}
		return nil
	})
	if err := standby.Start(); err != nil {
		t.Fatal(err)
	}
	r.waitListed(t, append(ids, r.publish(t, `{"type":"oir"}`))...)
	if err := ingest.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	r.stop(t)
}

// alternating are clients that send each request to the other one of two processes.
type alternating struct {
	key             string
	front, behind   *service // behind reads from a standby
	after           disclosure.Cursor
	polled, resumed witness
	stop            context.CancelFunc
	running         sync.WaitGroup
}

// alternate starts a client of the change list and one of streams.
func (r *reader) alternate(t *testing.T, key string, front, behind *service) *alternating {
	t.Helper()
	head, err := r.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	a := &alternating{key: key, front: front, behind: behind, after: head.Cursor, stop: stop}
	a.running.Go(func() { a.poll(ctx) })
	a.running.Go(func() { a.resume(ctx) })
	t.Cleanup(func() { stop(); a.running.Wait() })
	return a
}

// server returns the process of the nth request.
func (a *alternating) server(n int) string {
	if n%2 == 0 {
		return a.front.url
	}
	return a.behind.url
}

func (a *alternating) poll(ctx context.Context) {
	after := a.after.String()
	for n := 0; ctx.Err() == nil; n++ {
		var list struct {
			Data []pushed
			Next string
		}
		status, err := call(ctx, a.server(n), a.key, http.MethodGet, "/api/v1/changes?wait=1&limit=100&after="+after, nil, &list)
		switch {
		case ctx.Err() != nil:
		case err != nil || status != http.StatusOK && status != http.StatusServiceUnavailable:
			a.polled.protest(fmt.Errorf("changes after %s: %d %w", after, status, err))
		case status == http.StatusOK:
			a.polled.saw(list.Data...)
			after = list.Next
		}
	}
}

// resume opens streams, and leaves each after its first change.
func (a *alternating) resume(ctx context.Context) {
	after := a.after.String()
	for n := 0; ctx.Err() == nil; n++ {
		opened, end := context.WithTimeout(ctx, 3*time.Second) // longer than a process that is behind waits
		l, err := listen(opened, http.DefaultClient, a.server(n), a.key, after)
		for err == nil {
			var f frame
			if f, err = l.next(); err != nil {
				break
			}
			if f.id != "" {
				after = f.id
			}
			if e, ok, _ := f.event(); ok {
				a.resumed.saw(e)
				break
			}
		}
		if l != nil {
			l.Body.Close()
		}
		end()
	}
}

// whileBehind waits until both clients have received reports that one process does not
// have, and checks what that one answers. It returns a cursor that the log never had.
func (a *alternating) whileBehind(t *testing.T, ids ...string) (beyond string) {
	t.Helper()
	id := ids[len(ids)-1]
	for _, w := range []*witness{&a.polled, &a.resumed} {
		eventually(t, func() error {
			if w.counts()[id] == 0 {
				return fmt.Errorf("the client has not received %s", id)
			}
			return nil
		})
	}
	var list changeList
	demand(t, a.front.url, a.key, http.MethodGet, "/api/v1/changes?limit=1000&after="+a.after.String(), nil, &list, http.StatusOK)
	demand(t, a.behind.url, a.key, http.MethodGet, "/api/v1/changes?after="+list.Next, nil, nil, http.StatusServiceUnavailable)
	l, err := listen(t.Context(), http.DefaultClient, a.behind.url, a.key, list.Next)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Body.Close()
	if text, err := io.ReadAll(l.lines); err != nil || !strings.Contains(string(text), "\n: ") || strings.Contains(string(text), "id:") {
		t.Errorf("the stream of a process that is behind is %q, %v, want a comment only", text, err)
	}
	beyond = disclosure.Cursor{Epoch: a.after.Epoch, Seq: 1 << 40}.String()
	demand(t, a.behind.url, a.key, http.MethodGet, "/api/v1/changes?after="+beyond, nil, nil, http.StatusBadRequest)
	return beyond
}

// end waits until both clients have the whole log: every change once.
func (a *alternating) end(t *testing.T) {
	t.Helper()
	var list changeList
	demand(t, a.front.url, a.key, http.MethodGet, "/api/v1/changes?limit=1000&after="+a.after.String(), nil, &list, http.StatusOK)
	last, ok := disclosure.ParseCursor(list.Next)
	if !ok {
		t.Fatalf("the newest cursor is %q", list.Next)
	}
	for name, w := range map[string]*witness{"change list": &a.polled, "stream": &a.resumed} {
		eventually(t, func() error {
			if seen, err := w.all(); err != nil || len(seen) == 0 || seen[len(seen)-1].Seq < last.Seq {
				return fmt.Errorf("the client of the %s has %d changes of %d, %w", name, len(seen), last.Seq-a.after.Seq, err)
			}
			return nil
		})
	}
	a.stop()
	a.running.Wait()
	for name, w := range map[string]*witness{"change list": &a.polled, "stream": &a.resumed} {
		seen, err := w.all()
		if err != nil {
			t.Error(err)
		}
		once := map[int64]bool{}
		for _, e := range seen {
			once[e.Seq] = true
		}
		if repeated := len(seen) - len(once); repeated > 0 || int64(len(once)) < last.Seq-a.after.Seq {
			t.Errorf("the client of the %s has received %d changes of %d, and %d again", name, len(once), last.Seq-a.after.Seq, repeated)
		}
	}
	if err := a.front.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// TestReadReplicaOfAnother: a database that is not a copy of the store is refused.
func TestReadReplicaOfAnother(t *testing.T) {
	longtest.Skip(t, "it needs two databases with standbys")
	t.Parallel()
	store, other := pgtest.Database(t), pgtest.Database(t)
	for _, spec := range []string{store, other} {
		pregon(t, spec, "migrate")
	}
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--source", "none", "--role", "serve", "--store", store, "--store-read", other)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--store-read is not a copy of --store") {
		t.Errorf("serve: %v\n%s", err, out)
	}
}
