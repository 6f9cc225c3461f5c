package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"pregon/internal/document/extract/sandbox"
)

// The test re-executes its own program, which confines itself and then makes the
// attempts in attemptsEnv.
const (
	policyEnv   = "CONFINE_TEST_POLICY"
	attemptsEnv = "CONFINE_TEST_ATTEMPTS"
	statusEnv   = "CONFINE_TEST_STATUS"
)

// init locks the main thread, whose inherited settings attempt checks.
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(statusEnv) != "":
		attempt()
	case os.Getenv(policyEnv) != "":
		var p sandbox.Policy
		if err := json.Unmarshal([]byte(os.Getenv(policyEnv)), &p); err != nil {
			panic(err)
		}
		_, err := sandbox.Exec(p, func(s sandbox.Status) []string {
			body, _ := json.Marshal(s)
			return append(os.Environ(), statusEnv+"="+string(body))
		})
		panic(err)
	default:
		os.Exit(m.Run())
	}
}

// attempts holds the paths, addresses and process that the confined process tries
// to access.
type attempts struct{ Allowed, Store, TCP, Unix, Process string }

// outcome holds the error of each attempt, "" for success.
type outcome struct {
	Status sandbox.Status
	Errors map[string]string
}

// attempt makes all attempts and prints the outcome.
func attempt() {
	var a attempts
	o := outcome{Errors: map[string]string{}}
	if json.Unmarshal([]byte(os.Getenv(attemptsEnv)), &a) != nil || json.Unmarshal([]byte(os.Getenv(statusEnv)), &o.Status) != nil {
		os.Exit(2)
	}
	note := func(name string, err error) {
		if o.Errors[name] = ""; err != nil {
			o.Errors[name] = err.Error()
		}
	}
	read := func(path string) error { _, err := os.ReadFile(path); return err }
	dial := func(network, address string) error {
		c, err := net.Dial(network, address)
		if err == nil {
			c.Close()
		}
		return err
	}
	var signal int32
	err := unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&signal)), 0, 0, 0)
	if err == nil && signal != int32(unix.SIGKILL) {
		err = fmt.Errorf("got signal %d for the end of the parent", signal)
	}
	note("end with the parent, which is allowed", err)
	note("read what is allowed", read(a.Allowed))
	note("run what is allowed", exec.Command("/bin/sh", "-c", "exit 0").Run())
	note("write beside it", os.WriteFile(a.Allowed+".new", nil, 0o600))
	note("read the store", read(a.Store))
	note("write the store", os.WriteFile(a.Store, nil, 0o600))
	note("open the store to others", os.Chmod(a.Store, 0o777))
	note("connect over TCP", dial("tcp", a.TCP))
	note("connect over a socket of the file system", dial("unix", a.Unix))
	note("read the parent's environment", read("/proc/"+a.Process+"/environ"))
	var pid int
	fmt.Sscan(a.Process, &pid)
	note("end the parent", syscall.Kill(pid, 0))
	note("trace the parent", syscall.PtraceAttach(pid))
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		os.Exit(2)
	}
	os.Exit(0)
}

func TestExec(t *testing.T) {
	dir := t.TempDir()
	a := attempts{
		Allowed: filepath.Join(dir, "allowed", "file"), Store: filepath.Join(dir, "pregon.db"), Unix: filepath.Join(dir, "socket"), Process: fmt.Sprint(os.Getpid()),
	}
	if err := os.Mkdir(filepath.Dir(a.Allowed), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{a.Allowed, a.Store} {
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": a.Unix} {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if network == "tcp" {
			a.TCP = l.Addr().String()
		}
	}
	policy := sandbox.Policy{
		Read:  []string{filepath.Dir(a.Allowed), "/bin", "/lib", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", filepath.Join(dir, "missing")},
		Write: []string{os.DevNull},
	}
	o := run(t, policy, a)
	t.Logf("missing layers: %q", o.Status.Missing())

	files, calls := o.Status.Holds(sandbox.Landlock), o.Status.Holds(sandbox.Seccomp)
	for name, denied := range map[string]bool{
		"read what is allowed":                     false,
		"run what is allowed":                      false,
		"end with the parent, which is allowed":    false,
		"write beside it":                          files,
		"read the store":                           files,
		"write the store":                          files,
		"open the store to others":                 calls,
		"connect over TCP":                         files && calls,
		"connect over a socket of the file system": calls,
		"read the parent's environment":            files,
		"trace the parent":                         calls,
	} {
		got, tried := o.Errors[name]
		switch {
		case !tried:
			t.Errorf("%s: got no attempt, want one", name)
		case denied && !strings.Contains(got, "permission denied") && !strings.Contains(got, "operation not permitted"):
			t.Errorf("%s: got %q, want it denied", name, got)
		case !denied && strings.Contains(name, "allowed") && got != "":
			t.Errorf("%s: got %s, want it allowed", name, got)
		}
	}
	if !o.Status.Holds(sandbox.NoNewPrivileges) {
		t.Errorf("got missing layers %q, want no_new_privs, which every kernel has", o.Status.Missing())
	}
}

func run(t *testing.T, p sandbox.Policy, a attempts) (o outcome) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	policy, _ := json.Marshal(p)
	tries, _ := json.Marshal(a)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), policyEnv+"="+string(policy), attemptsEnv+"="+string(tries))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("got %v after output %s", err, out)
	}
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("got %v for output %s", err, out)
	}
	return o
}

func TestHideMemory(t *testing.T) {
	defer unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	if err := sandbox.HideMemory(); err != nil {
		t.Fatal(err)
	}
	if state, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || state != 0 {
		t.Errorf("got dumpable %d, %v, want 0", state, err)
	}
}

func TestMissing(t *testing.T) {
	s := sandbox.Status{sandbox.NoNewPrivileges: "", sandbox.Landlock: "the kernel does not support it"}
	if got, want := s.Missing(), "landlock: the kernel does not support it; seccomp: not tried"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s[sandbox.Landlock], s[sandbox.Seccomp] = "", ""; s.Missing() != "" {
		t.Errorf("got %q, want nothing", s.Missing())
	}
}
