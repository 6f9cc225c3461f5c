package main_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pregon/internal/test/longtest"
)

// audited is a service with an audit log.
type audited struct {
	*service
	key, file string
}

func startAudited(t *testing.T) *audited {
	t.Helper()
	spec, a := engines["sqlite"](t), &audited{file: filepath.Join(t.TempDir(), "audit.jsonl")}
	a.service = startReplica(t, spec, "--audit-log", a.file, "--webhook-allow-private")
	a.key = pregon(t, spec, "keys", "create", "--plan", "enterprise")
	return a
}

// create creates a webhook, which is an audit event with its id, and deletes it.
func (a *audited) create(ctx context.Context) (id string, err error) {
	var h hook
	status, err := call(ctx, a.url, a.key, http.MethodPost, "/api/v1/webhooks", map[string]any{"url": "http://127.0.0.1:1/", "events": everyEvent}, &h)
	if err == nil && status == http.StatusCreated {
		status, err = call(ctx, a.url, a.key, http.MethodDelete, "/api/v1/webhooks/"+h.ID, nil, nil)
	}
	if err == nil && status != http.StatusNoContent {
		err = fmt.Errorf("got status %d", status)
	}
	return h.ID, err
}

// hangup sends SIGHUP and waits until the text is logged once more.
func (a *audited) hangup(t *testing.T, text string) {
	t.Helper()
	before := strings.Count(a.log.String(), text)
	if err := a.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if got := strings.Count(a.log.String(), text); got != before+1 {
			return fmt.Errorf("%q is logged %d times, want %d", text, got, before+1)
		}
		return nil
	})
}

// contains checks whether the file has the events of a webhook.
func (a *audited) contains(t *testing.T, file, id string, want bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := bytes.Contains(text, []byte(id)); got != want {
		t.Errorf("%s has the event of %s: %v, want %v", filepath.Base(file), id, got, want)
	}
}

// The audit log is renamed under load, and opened again on SIGHUP: each event is in
// exactly one of the files.
func TestAuditLogIsReopened(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	a := startAudited(t)
	const callers, each, rotations = 4, 40, 5
	ids := make([][]string, callers)
	var g sync.WaitGroup
	for i := range callers {
		g.Go(func() {
			for range each {
				id, err := a.create(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				ids[i] = append(ids[i], id)
			}
		})
	}
	for i := range rotations {
		if err := os.Rename(a.file, fmt.Sprintf("%s.%d", a.file, i)); err != nil {
			t.Fatal(err)
		}
		a.hangup(t, "the audit log was opened again")
	}
	g.Wait()
	last, err := a.create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.contains(t, a.file, last, true)
	if err := a.end(syscall.SIGTERM); err != nil {
		t.Errorf("got %v, want a clean end after SIGHUP", err)
	}

	files, err := filepath.Glob(a.file + "*")
	if err != nil || len(files) != rotations+1 {
		t.Fatalf("got %q %v, want %d files", files, err, rotations+1)
	}
	var all []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	for _, id := range slices.Concat(ids...) {
		if got := bytes.Count(all, []byte(id)); got != 2 { // it was created and deleted
			t.Errorf("%s is in %d events, want 2", id, got)
		}
	}
}

// A file that cannot be opened again stays in use.
func TestAuditLogCannotBeReopened(t *testing.T) {
	t.Parallel()
	a := startAudited(t)
	renamed := a.file + ".1"
	if err := os.Rename(a.file, renamed); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(a.file, 0o700); err != nil { // in the way, also for root
		t.Fatal(err)
	}
	a.hangup(t, "the audit log cannot be opened again")
	id, err := a.create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.contains(t, renamed, id, true)
	if err := os.Remove(a.file); err != nil {
		t.Fatal(err)
	}
	a.hangup(t, "the audit log was opened again")
	if id, err = a.create(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.contains(t, a.file, id, true)
}

// Without an audit log SIGHUP ends serve, as when its terminal is closed.
func TestHangupWithoutAuditLog(t *testing.T) {
	t.Parallel()
	ignored := make(chan os.Signal, 1) // serve would ignore it too if this process does, as under nohup
	signal.Notify(ignored, syscall.SIGHUP)
	defer signal.Stop(ignored)
	s, err := startService([]string{"PREGON_STORE=" + engines["sqlite"](t)}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.end(syscall.SIGHUP); err == nil || !strings.Contains(err.Error(), "hangup") {
		t.Errorf("got %v, want the end by the signal", err)
	}
}

// TestLogrotate runs logrotate with the file of the kit, on a file of this user, and
// with kill in place of systemctl.
func TestLogrotate(t *testing.T) {
	longtest.Skip(t, "it needs logrotate")
	t.Parallel()
	a := startAudited(t)
	before, err := a.create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kit, err := os.ReadFile("../../deploy/logrotate/pregon")
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	group, err := user.LookupGroupId(me.Gid)
	if err != nil {
		t.Fatal(err)
	}
	text := string(kit)
	for from, to := range map[string]string{
		"/var/log/pregon/audit.jsonl": a.file,
		"pregon pregon":               me.Username + " " + group.Name,
		"systemctl kill --signal=HUP --kill-whom=main pregon.service": fmt.Sprintf("kill -HUP %d", a.cmd.Process.Pid),
	} {
		if !strings.Contains(text, from) {
			t.Fatalf("deploy/logrotate/pregon has no %q", from)
		}
		text = strings.ReplaceAll(text, from, to)
	}
	config := filepath.Join(t.TempDir(), "logrotate.conf")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/usr/sbin/logrotate", "--force", "--verbose", "--state", config+".state", config).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("error:")) {
		t.Fatalf("%v\n%s", err, out)
	}
	eventually(t, func() error {
		if !strings.Contains(a.log.String(), "the audit log was opened again") {
			return fmt.Errorf("not opened again:\n%s", out)
		}
		return nil
	})
	after, err := a.create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.contains(t, a.file+".1", before, true)
	a.contains(t, a.file, before, false)
	a.contains(t, a.file, after, true)
}
