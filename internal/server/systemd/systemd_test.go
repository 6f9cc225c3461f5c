package systemd_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/server/systemd"
)

// childEnv makes the test program take over a socket and print the outcome.
const childEnv = "SYSTEMD_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	l, err := systemd.Listener(os.Getenv)
	switch {
	case err != nil:
		fmt.Println("error:", err)
	case l == nil:
		fmt.Println("no socket")
	default:
		fmt.Println("socket", l.Addr())
		inherited, _ := exec.Command("sh", "-c", "[ ! -e /proc/self/fd/3 ] || readlink /proc/self/fd/3").Output()
		fmt.Printf("inherited: %q\n", inherited)
	}
}

// run runs the test program as a child with files at descriptor 3 and above. In
// environ, $$ is its process id.
func run(t *testing.T, environ string, files ...*os.File) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "exec env "+childEnv+"=1 "+environ+" "+self)
	cmd.ExtraFiles = files
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func TestListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tcp, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	u, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	local, err := u.(*net.UnixListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	plain, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for name, test := range map[string]struct {
		environ string
		files   []*os.File
		want    string
	}{
		"none":             {"", nil, "no socket\n"},
		"of the parent":    {"LISTEN_PID=1 LISTEN_FDS=1", []*os.File{tcp}, "no socket\n"},
		"one":              {"LISTEN_PID=$$ LISTEN_FDS=1", []*os.File{tcp}, "socket " + l.Addr().String() + "\ninherited: \"\"\n"},
		"two":              {"LISTEN_PID=$$ LISTEN_FDS=2", []*os.File{tcp, tcp}, "error: systemd passed 2 sockets"},
		"no number":        {"LISTEN_PID=$$ LISTEN_FDS=x", []*os.File{tcp}, "error: systemd passed x sockets"},
		"not TCP":          {"LISTEN_PID=$$ LISTEN_FDS=1", []*os.File{local}, "error: systemd passed the socket " + u.Addr().String()},
		"not a socket":     {"LISTEN_PID=$$ LISTEN_FDS=1", []*os.File{plain}, "error: cannot use the socket of systemd"},
		"not open at all":  {"LISTEN_PID=$$ LISTEN_FDS=1", nil, "error: cannot use the socket of systemd"},
		"pid and no count": {"LISTEN_PID=$$", []*os.File{tcp}, "error: systemd passed  sockets"},
	} {
		if got := run(t, test.environ, test.files...); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// newNotifier returns a notifier and a function that returns the next message.
func newNotifier(t *testing.T, socket string, more map[string]string) (*systemd.Notifier, func() string) {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	n := systemd.NewNotifier(func(name string) string {
		if name == "NOTIFY_SOCKET" {
			return socket
		}
		return more[name]
	})
	return n, func() string {
		message := make([]byte, 100)
		size, err := conn.Read(message)
		if err != nil && err != io.EOF {
			t.Error(err)
		}
		return string(message[:size])
	}
}

func TestNotifier(t *testing.T) {
	for _, socket := range []string{filepath.Join(t.TempDir(), "notify"), fmt.Sprintf("@pregon-test-%d", os.Getpid())} {
		n, next := newNotifier(t, socket, nil)
		for want, send := range map[string]func() error{"READY=1": n.Ready, "STOPPING=1": n.Stopping} {
			if err := send(); err != nil {
				t.Fatal(err)
			}
			if got := next(); got != want {
				t.Errorf("%s: got %q, want %q", socket, got, want)
			}
		}
		if err := n.Run(t.Context()); err != nil { // returns, since no watchdog is set
			t.Error(err)
		}
	}
}

// The watchdog of another process is not ours.
func TestNotifierWithoutSystemd(t *testing.T) {
	n := systemd.NewNotifier(func(name string) string { return map[string]string{"WATCHDOG_USEC": "1000"}[name] })
	for _, send := range []func() error{n.Ready, n.Stopping, func() error { return n.Run(t.Context()) }} {
		if err := send(); err != nil {
			t.Error(err)
		}
	}
	n, _ = newNotifier(t, filepath.Join(t.TempDir(), "notify"), map[string]string{"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"})
	if err := n.Run(t.Context()); err != nil {
		t.Error(err)
	}
	n = systemd.NewNotifier(func(string) string { return filepath.Join(t.TempDir(), "none") })
	if err := n.Ready(); err == nil || !strings.Contains(err.Error(), "report to systemd") {
		t.Errorf("got %v, want an error for a socket that does not exist", err)
	}
}

// Run reports twice in the time that systemd waits.
func TestWatchdog(t *testing.T) {
	n, next := newNotifier(t, filepath.Join(t.TempDir(), "notify"), map[string]string{"WATCHDOG_USEC": "20000000", "WATCHDOG_PID": fmt.Sprint(os.Getpid())})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		go func() {
			if err := n.Run(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		for i := range 4 {
			synctest.Wait()
			if got := next(); got != "WATCHDOG=1" {
				t.Errorf("got %q", got)
			}
			if got, want := time.Since(began), time.Duration(i)*10*time.Second; got != want {
				t.Errorf("message %d after %v, want %v", i, got, want)
			}
			time.Sleep(10 * time.Second)
		}
	})
}
