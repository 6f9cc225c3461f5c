package main_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pregon/internal/document/extract/sandbox"
	"pregon/internal/rest/resttest"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/waittest"
)

// program is the binary under test. It is built as users get it, without the
// race detector, under which the SQLite driver is twenty times slower.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pregon-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "pregon")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		return 1
	}
	flag.Parse()
	if testing.Short() {
		delete(engines, "postgres") // the suite of the store runs on both
	}
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = flag.Set("test.parallel", "4") // the tests mostly wait for processes
	}
	return pgtest.Main(m).Run()
}

// cacheEnv lets all programs of the tests share the compiled reader of PDF
// files, which the first caller compiles: no service of a test waits for that.
func cacheEnv() string { return "PREGON_CACHE_DIR=" + compiledOnce() }

var compiledOnce = sync.OnceValue(func() string {
	dir := filepath.Join(filepath.Dir(program), "cache")
	r := sandbox.NewReader(sandbox.Options{
		Command: []string{program, "extract-worker"}, CacheDir: dir, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	_ = r.Warm(context.Background()) // the tests that need the reader report the error
	_ = r.Close()
	return dir
})

// engines maps each kind of store to a function that returns the --store value of a
// new one.
// engines returns an empty store of each kind. In make test there is only SQLite.
var engines = map[string]func(t testing.TB) string{
	"sqlite":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "pregon.db") },
	"postgres": func(t testing.TB) string { return pgtest.Database(t) },
}

// TestScripts runs every script of testdata/script against both stores. In a
// script, `pregon` runs the program, `serve` starts it beside the script,
// `other` starts and ends a second one on the same store, `get`
// sends a request and prints the answer (checked against the OpenAPI document),
// `until` repeats a request until the answer matches, `halt` ends it and expects a
// clean exit, `crash` kills it. (stop and kill are commands of testscript.)
func TestScripts(t *testing.T) {
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir: "testdata/script",
				Setup: func(env *testscript.Env) error {
					env.Setenv("PREGON_STORE", newStore(env.T().(testing.TB)))
					env.Setenv("OTHER_STORE", newStore(env.T().(testing.TB)))
					env.Setenv("PREGON_REGISTERS", "none")
					env.Values[serviceKey{}] = new(*service)
					env.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
					return nil
				},
				Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
					"serve": serveCommand, "other": otherCommand, "halt": haltCommand, "crash": crashCommand, "get": getCommand, "until": untilCommand,
				},
				Condition: func(cond string) (bool, error) { return cond == name, nil },
			})
		})
	}
}

// service is a running `pregon serve`, or `pregon sim`.
type service struct {
	cmd  *exec.Cmd
	url  string
	log  *logbook
	done chan error
}

// logbook is the log and other output, which is read while it is written.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (l *logbook) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.WriteString(line + "\n")
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// events returns the log without the requests.
func (l *logbook) events() string {
	lines := slices.Collect(strings.Lines(l.String()))
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return strings.Contains(s, "msg=request ") }), "")
}

// withoutRegisters is the environment of tests about reports. Those about the registers of
// positions are in registers_test.go.
var withoutRegisters = []string{"PREGON_REGISTERS=none"}

// startService starts serve and waits until it is ready. Tests send more requests
// than anonymous callers may.
func startService(env []string, dir string, args ...string) (*service, error) {
	return startServiceOf(program, env, dir, args...)
}

// startServiceOf is startService with another build of the program.
func startServiceOf(program string, env []string, dir string, args ...string) (*service, error) {
	if !slices.Contains(args, "--source") {
		args = append(args, "--source", "none")
	}
	if !slices.Contains(args, "--anonymous-limit") {
		args = append(args, "--anonymous-limit", "0")
	}
	args = append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
	env = slices.Concat(withoutRegisters, env)
	s, err := startCommand(exec.Command(program, args...), env, dir)
	if err != nil {
		return nil, err
	}
	return s, s.waitReady()
}

// startProgram starts the program and waits until it logs its address.
func startProgram(env []string, dir string, args ...string) (*service, error) {
	env = slices.Concat(withoutRegisters, env)
	return startCommand(exec.Command(program, args...), env, dir)
}

// startCommand is startProgram for a command that runs the program.
func startCommand(cmd *exec.Cmd, env []string, dir string) (*service, error) {
	// With the small heap that serve chooses, a fifth of the time is spent on collecting garbage.
	cmd.Env = slices.Concat([]string{"GOGC=200", cacheEnv(), "PREGON_DRAIN=0s", "PATH=" + os.Getenv("PATH")}, env)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = cmd.Stderr // as in a terminal
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &service{cmd: cmd, log: &logbook{}, done: make(chan error, 1)}
	address := make(chan string, 1)
	go s.watch(stderr, address)
	select {
	case s.url = <-address:
	case err := <-s.done:
		return nil, fmt.Errorf("serve ended: %v\n%s", err, s.log)
	case <-time.After(patient):
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("serve does not log its address\n%s", s.log)
	}
	return s, nil
}

var listening = regexp.MustCompile(`msg=listening address=(\S+)`)

// watch records the output and finds the address in it.
func (s *service) watch(stderr io.Reader, address chan<- string) {
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		s.log.add(lines.Text())
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			address <- m[1]
		}
	}
	s.done <- s.cmd.Wait()
}

func (s *service) waitReady() error {
	deadline := time.Now().Add(patient)
	for time.Now().Before(deadline) {
		resp, err := http.Get(s.url + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-s.done:
			s.done <- err // for end
			return fmt.Errorf("serve ended: %v\n%s", err, s.log)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("serve does not become ready\n%s", s.log)
}

// logs waits for a line of the log, which is written a moment after what it is about.
func (s *service) logs(t *testing.T, text string) {
	t.Helper()
	eventually(t, func() error {
		if !strings.Contains(s.log.String(), text) {
			return fmt.Errorf("the log does not have %q:\n%s", text, s.log)
		}
		return nil
	})
}

// end signals the program and returns the error of its exit.
func (s *service) end(sig syscall.Signal) error {
	_ = s.cmd.Process.Signal(sig)
	select {
	case err := <-s.done:
		return err
	case <-time.After(patient):
		_ = s.cmd.Process.Kill()
		return errors.New("serve does not end")
	}
}

// running returns the service of a script.
func running(ts *testscript.TestScript) **service { return ts.Value(serviceKey{}).(**service) }

type serviceKey struct{}

func serveCommand(ts *testscript.TestScript, _ bool, args []string) {
	env := []string{"PREGON_STORE=" + ts.Getenv("PREGON_STORE"), "HOME=" + ts.Getenv("HOME"), "GOGC="} // the size of heap that users get
	s, err := startService(env, ts.Getenv("WORK"), args...)
	ts.Check(err)
	*running(ts) = s
	ts.Setenv("URL", s.url)
	ts.Defer(func() { _ = s.cmd.Process.Kill() })
}

// otherCommand runs a second service on the same store until it is ready.
func otherCommand(ts *testscript.TestScript, _ bool, args []string) {
	s, err := startService([]string{"PREGON_STORE=" + ts.Getenv("PREGON_STORE")}, ts.Getenv("WORK"), args...)
	ts.Check(err)
	ts.Check(s.end(syscall.SIGTERM))
}

func haltCommand(ts *testscript.TestScript, _ bool, _ []string) {
	s := *running(ts)
	if err := s.end(syscall.SIGTERM); err != nil {
		ts.Fatalf("serve did not end cleanly: %v\n%s", err, s.log)
	}
	_, _ = io.WriteString(ts.Stdout(), s.log.String())
}

func crashCommand(ts *testscript.TestScript, _ bool, _ []string) {
	_ = (*running(ts)).end(syscall.SIGKILL)
}

// getCommand: get [-X METHOD] [-H 'Name: value'] [-K FILE] [-B FILE] PATH, where
// a key is read from the file and sent as X-API-Key or as a bearer.
func getCommand(ts *testscript.TestScript, _ bool, args []string) {
	dump, err := get(ts.Getenv("URL"), withKeys(ts, args))
	ts.Check(err)
	_, _ = ts.Stdout().Write(dump)
}

// untilCommand: until REGEXP [options] PATH
func untilCommand(ts *testscript.TestScript, _ bool, args []string) {
	want, args := regexp.MustCompile(args[0]), withKeys(ts, args[1:])
	deadline := time.Now().Add(patient)
	for {
		dump, err := get(ts.Getenv("URL"), args)
		ts.Check(err)
		if want.Match(dump) {
			_, _ = ts.Stdout().Write(dump)
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s never matched; the last answer was\n%s", want, dump)
		}
		waittest.Pace(context.Background(), 20*time.Millisecond)
	}
}

// withKeys replaces the options that name a key file by headers.
func withKeys(ts *testscript.TestScript, args []string) []string {
	headers := map[string]string{"-K": "X-API-Key: ", "-B": "Authorization: Bearer "}
	args = slices.Clone(args)
	for i := 0; i+1 < len(args)-1; i += 2 {
		if header := headers[args[i]]; header != "" {
			args[i], args[i+1] = "-H", header+strings.TrimSpace(ts.ReadFile(args[i+1]))
		}
	}
	return args
}

// get sends a request, checks the answer against the OpenAPI document, and returns it
// unchanged.
func get(base string, args []string) ([]byte, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, base+args[len(args)-1], nil)
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(args)-1; i += 2 {
		switch args[i] {
		case "-X":
			req.Method = args[i+1]
		case "-H":
			name, value, _ := strings.Cut(args[i+1], ": ")
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := resttest.Read(resp)
	if err != nil {
		return nil, err
	}
	if err := resttest.Check(req, answer); err != nil {
		return nil, fmt.Errorf("%s %s is not answered as documented: %w", req.Method, req.URL, err)
	}
	return httputil.DumpResponse(resp, true)
}
