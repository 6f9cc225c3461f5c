package redistest_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"pregon/internal/server/ratelimit/redistest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// within calls a function with a client, within a time.
func within(t *testing.T, url string, d time.Duration, do func(context.Context, *redis.Client) error) error {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.ContextTimeoutEnabled = true
	options.DialerRetries = 1
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return do(ctx, client)
}

func ping(ctx context.Context, c *redis.Client) error { return c.Ping(ctx).Err() }

func TestServer(t *testing.T) {
	longtest.Skip(t, "it needs Redis")
	var ended string
	t.Run("ends with its test", func(t *testing.T) {
		ended = redistest.Start(t).URL()
		if err := within(t, ended, time.Minute, ping); err != nil {
			t.Error(err)
		}
	})
	if err := within(t, ended, time.Minute, ping); err == nil {
		t.Error("the server outlived its test")
	}

	s := redistest.Start(t)
	set := func(ctx context.Context, c *redis.Client) error { return c.Set(ctx, "a", "b", 0).Err() }
	if err := within(t, s.URL(), time.Minute, set); err != nil {
		t.Error(err)
	}
	s.Kill()
	if err := within(t, s.URL(), time.Minute, ping); err == nil {
		t.Error("a killed server answers")
	}
	s.Restart()
	get := func(ctx context.Context, c *redis.Client) error { return c.Get(ctx, "a").Err() }
	if err := within(t, s.URL(), time.Minute, get); err != redis.Nil {
		t.Errorf("after a restart: %v, want nothing", err)
	}
	s.Pause()
	if err := within(t, s.URL(), 100*time.Millisecond, ping); err == nil {
		t.Error("a paused server answers")
	}
	s.Resume()
	if err := within(t, s.URL(), time.Minute, ping); err != nil {
		t.Errorf("after a pause: %v", err)
	}
}

// TestKilled kills a test process that has a server, and expects the server to end too.
func TestKilled(t *testing.T) {
	longtest.Skip(t, "it needs Redis")
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$", "-test.v")
	cmd.Env = append(os.Environ(), "REDISTEST_VICTIM=1", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	url := ""
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		url, _ = strings.CutPrefix(lines.Text(), "server ")
		if !strings.HasPrefix(url, "unix:") {
			url = ""
		}
	}
	if err := within(t, url, time.Minute, ping); err != nil {
		t.Fatalf("the server of the process does not answer: %v", err)
	}
	kill()
	waittest.For(t, "the server ends with its process", func() bool { return within(t, url, time.Minute, ping) != nil })
}

// TestVictim is the process that TestKilled runs and kills.
func TestVictim(t *testing.T) {
	if os.Getenv("REDISTEST_VICTIM") == "" {
		return
	}
	fmt.Printf("server %s\n", redistest.Start(t).URL())
	waittest.Pace(t.Context(), 10*time.Minute) // until it is killed
}
