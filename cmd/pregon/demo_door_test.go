package main_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// doorLink matches the link that the demo prints.
var doorLink = regexp.MustCompile(`(?m)^Sign in to the demo \(this link works once\): (\S+)$`)

// startDemo starts the demo, over a market that does not move unless the arguments say so.
func startDemo(t *testing.T, dir string, args ...string) *service {
	t.Helper()
	if !slices.Contains(args, "--rate") {
		args = append(args, "--rate", "0")
	}
	env := []string{"PREGON_STORE=sqlite:" + filepath.Join(dir, "pregon.db")}
	s, err := startService(env, dir, append(args, "--source", "demo")...)
	if s != nil {
		t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if !strings.Contains(s.log.String(), "Pregón is ready: ") {
			return errors.New("the program does not say that it is ready")
		}
		return nil
	})
	return s
}

// door returns the link that a demo has printed, or "".
func (s *service) door() string {
	if m := doorLink.FindStringSubmatch(s.log.String()); m != nil {
		return m[1]
	}
	return ""
}

// knock follows a link with further headers, of which Host is the name of the host.
func knock(t *testing.T, link string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	client := &http.Client{
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

// The link that the demo prints signs in once, and only who sits at this machine.
func TestDemoDoor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startDemo(t, dir, "--audit-log", filepath.Join(dir, "audit.jsonl"))
	link := s.door()
	if link == "" {
		t.Fatalf("the demo prints no link:\n%s", s.log)
	}
	address, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	port := address.Port()
	for name, header := range map[string][]string{
		"a forged host":          {"Host", "attacker.example.com"},
		"a forged host and port": {"Host", "attacker.example.com:" + port},
		"another port":           {"Host", "127.0.0.1:1"},
		"another site":           {"Sec-Fetch-Site", "cross-site"},
		"another port's page":    {"Sec-Fetch-Site", "same-site"},
		"a proxy":                {"X-Forwarded-For", "192.0.2.1"},
		"a local proxy":          {"X-Forwarded-For", "127.0.0.1"},
		"a standard proxy":       {"Forwarded", "for=127.0.0.1"},
	} {
		if resp := knock(t, link, header...); resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) != 0 {
			t.Errorf("%s: got status %d and the cookies %v", name, resp.StatusCode, resp.Cookies())
		}
	}
	wrong := strings.Replace(link, "once=", "once=X", 1)
	if resp := knock(t, wrong); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a wrong secret: got status %d", resp.StatusCode)
	}

	// A program that only checks the link does not use it up.
	checked, err := http.Head(link)
	if err != nil {
		t.Fatal(err)
	}
	checked.Body.Close()
	if len(checked.Cookies()) != 0 {
		t.Errorf("HEAD is answered with %v", checked.Cookies())
	}

	resp := knock(t, link, "Sec-Fetch-Site", "none")
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/following" || len(resp.Cookies()) != 1 {
		t.Fatalf("got status %d to %q with %v", resp.StatusCode, resp.Header.Get("Location"), resp.Cookies())
	}
	session := resp.Cookies()[0]
	account := func(of *service) int {
		return knock(t, of.url+"/account", "Cookie", session.Name+"="+session.Value).StatusCode
	}
	if got := account(s); got != http.StatusOK {
		t.Errorf("the account: got status %d", got)
	}
	if resp := knock(t, link); resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) != 0 {
		t.Errorf("the second time: got status %d and the cookies %v", resp.StatusCode, resp.Cookies())
	}
	kept, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	audit := string(kept)
	for _, event := range []string{`"session.opened"`, `"signin.refused"`, `"demo#visitor"`} {
		if !strings.Contains(audit, event) {
			t.Errorf("the audit log lacks %s:\n%s", event, audit)
		}
	}
	if secret := address.Query().Get("once"); strings.Contains(audit, secret) ||
		strings.Contains(strings.ReplaceAll(s.log.String(), link, ""), secret) {
		t.Error("the secret of the link is in a log")
	}

	// The next start has another link, and the session of before.
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s = startDemo(t, dir)
	if next := s.door(); next == "" || strings.HasSuffix(next, address.RawQuery) {
		t.Errorf("the next start prints %q", next)
	}
	if got := account(s); got != http.StatusOK {
		t.Errorf("the account after a start: got status %d", got)
	}
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}

	// Over the same store, a service without the source has neither the door nor the account.
	s, err = startService([]string{"PREGON_STORE=sqlite:" + filepath.Join(dir, "pregon.db")}, dir, "--source", "none")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	if got := account(s); got != http.StatusSeeOther {
		t.Errorf("the account without the demo: got status %d", got)
	}
}

// A container listens on all of its addresses, and its requests come from its network. An
// operator who sets a base URL on loopback says that people are on this machine.
func TestDemoDoorOfContainer(t *testing.T) {
	t.Parallel()
	number := strconv.Itoa(port(t))
	s := startDemo(t, t.TempDir(), "--listen", "0.0.0.0:"+number, "--base-url", "http://127.0.0.1:"+number)
	link := s.door()
	if link == "" {
		t.Fatalf("the demo prints no link:\n%s", s.log)
	}
	address := outsideAddress(t)
	published := strings.Replace(link, "127.0.0.1", address, 1)
	for name, header := range map[string][]string{
		"its own address": {},
		"a forged host":   {"Host", "attacker.example.com:" + number},
		"a proxy":         {"Host", "127.0.0.1:" + number, "X-Forwarded-For", "127.0.0.1"},
	} {
		if resp := knock(t, published, header...); resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) != 0 {
			t.Errorf("%s: got status %d and the cookies %v", name, resp.StatusCode, resp.Cookies())
		}
	}
	if resp := knock(t, published, "Host", "127.0.0.1:"+number); resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) != 1 {
		t.Errorf("through the port: got status %d and the cookies %v", resp.StatusCode, resp.Cookies())
	}
}

// outsideAddress returns an address of this machine that is not on loopback.
func outsideAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no address beside loopback")
	return ""
}

// No other service has the door: neither one with another source, nor one that others
// than this machine reach, by its listener or by its name.
func TestNoDemoDoor(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"none":       {"--source", "none"},
		"all":        {"--source", "demo", "--rate", "0", "--listen", "0.0.0.0:0"},
		"public":     {"--source", "demo", "--rate", "0", "--base-url", "https://pregon.example.com"},
		"no sign-in": {"--source", "demo", "--rate", "0", "--signin", "off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := startService([]string{"PREGON_STORE=sqlite:" + filepath.Join(dir, "pregon.db")}, dir, args...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.cmd.Process.Kill() })
			eventually(t, func() error {
				if !strings.Contains(s.log.String(), "Pregón is ready: ") {
					return fmt.Errorf("not ready:\n%s", s.log)
				}
				return nil
			})
			if link := s.door(); link != "" {
				t.Errorf("it prints %s", link)
			}
			port := s.url[strings.LastIndexByte(s.url, ':')+1:]
			if resp := knock(t, "http://127.0.0.1:"+port+"/signin/demo?once="); resp.StatusCode != http.StatusNotFound {
				t.Errorf("got status %d", resp.StatusCode)
			}
		})
	}
}
