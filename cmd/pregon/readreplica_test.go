package main_test

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"pregon/internal/store/postgres/pgtest"
)

// TestReadReplica serves clients from a standby server of PostgreSQL: while the
// primary writes, while the standby is behind, and while the primary is away.
func TestReadReplica(t *testing.T) {
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
	if err := standby.Exec("SELECT pg_wal_replay_resume()"); err != nil {
		t.Fatal(err)
	}
	r.waitListed(t, ids...)

	// Without its primary, and started anew: reports come from memory.
	if err := primary.Stop("immediate"); err != nil {
		t.Fatal(err)
	}
	if list, err := listed(r.serve.url); err != nil || list[ids[2]] != 1 {
		t.Errorf("without the primary the list has %v, %v", list, err)
	}
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
		if list, err := listed(r.serve.url); err != nil || list[ids[3]] != 1 {
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

// TestReadReplicaOfAnother: a database that is not a copy of the store is refused.
func TestReadReplicaOfAnother(t *testing.T) {
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
