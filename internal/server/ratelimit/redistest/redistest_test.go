package redistest_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"

	"pregon/internal/server/ratelimit/redistest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// within calls a function with a connection whose replies come within a time.
func within(url string, d time.Duration, do func(redis.Conn) error) error {
	conn, err := redis.Dial("unix", strings.TrimPrefix(url, "unix://"), redis.DialReadTimeout(d))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return do(conn)
}

func ping(c redis.Conn) error {
	_, err := c.Do("PING")
	return err
}

func TestServer(t *testing.T) {
	longtest.Skip(t, "it needs Redis")
	var ended string
	t.Run("ends with its test", func(t *testing.T) {
		ended = redistest.Start(t).URL()
		if err := within(ended, time.Minute, ping); err != nil {
			t.Error(err)
		}
	})
	if err := within(ended, time.Minute, ping); err == nil {
		t.Error("the server outlived its test")
	}

	s := redistest.Start(t)
	set := func(c redis.Conn) error {
		_, err := c.Do("SET", "a", "b")
		return err
	}
	if err := within(s.URL(), time.Minute, set); err != nil {
		t.Error(err)
	}
	s.Kill()
	if err := within(s.URL(), time.Minute, ping); err == nil {
		t.Error("a killed server answers")
	}
	s.Restart()
	get := func(c redis.Conn) error {
		_, err := redis.Bytes(c.Do("GET", "a"))
		return err
	}
	if err := within(s.URL(), time.Minute, get); err != redis.ErrNil {
		t.Errorf("after a restart: %v, want nothing", err)
	}
	s.Pause()
	if err := within(s.URL(), 100*time.Millisecond, ping); err == nil {
		t.Error("a paused server answers")
	}
	s.Resume()
	if err := within(s.URL(), time.Minute, ping); err != nil {
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
	if err := within(url, time.Minute, ping); err != nil {
		t.Fatalf("the server of the process does not answer: %v", err)
	}
	kill()
	waittest.For(t, "the server ends with its process", func() bool { return within(url, time.Minute, ping) != nil })
}

// TestVictim is the process that TestKilled runs and kills.
func TestVictim(t *testing.T) {
	if os.Getenv("REDISTEST_VICTIM") == "" {
		return
	}
	fmt.Printf("server %s\n", redistest.Start(t).URL())
	waittest.Pace(t.Context(), 10*time.Minute) // until it is killed
}
