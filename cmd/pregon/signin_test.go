package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
)

// Applications that others wrote get access from people, who sign in with a
// provider that others wrote, or by a key, in a browser.
func TestSignIn(t *testing.T) {
	longtest.Skip(t, "it needs an identity provider and Chromium")
	t.Parallel()
	p := newPortal(t)
	r := newReader(t, startSource(t), engines["sqlite"](t))
	r.env = p.env
	r.serve = r.startServe(t, p.args...)
	p.answers(func(*http.Request) *service { return r.serve })
	r.started(t)
	report := r.publish(t, `{"type":"oir","text":%q}`, dividend)
	r.settles(t, report)
	key := pregon(t, r.spec, "keys", "create", "--plan", "pro")

	t.Run("mcp", func(t *testing.T) {
		t.Parallel()
		settings, err := json.Marshal(map[string]string{"base": p.url, "sub": "ana", "key": key, "report": report, "client": p.client})
		if err != nil {
			t.Fatal(err)
		}
		runChecker(t, "signin.mjs", string(settings))
	})
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		for name, config := range map[string]auth.AuthorizationCodeHandlerConfig{
			"document":   {ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{URL: p.client}},
			"registered": {DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "Checkers"}}},
		} {
			t.Run(name, func(t *testing.T) { signInWithGo(t, p, config, key, report) })
		}
	})
	t.Run("oauth", func(t *testing.T) {
		t.Parallel()
		runChecker(t, "oauth-code.mjs", p.url, "key", key)
	})
	t.Run("conformance", func(t *testing.T) {
		t.Parallel()
		runChecker(t, "conformance-authorization.mjs", p.url, key, "suite", t.TempDir())
	})
}

// signInWithGo connects the Go client of the official SDK, which is known by its
// document or registers, and reads the document of a report.
func signInWithGo(t *testing.T, p *portal, config auth.AuthorizationCodeHandlerConfig, key, report string) {
	t.Helper()
	answers := make(chan url.Values, 1)
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			answers <- r.URL.Query()
		}
		fmt.Fprint(w, "You can close this page.")
	}))
	defer back.Close()
	config.RedirectURL = back.URL + "/callback"
	if dynamic := config.DynamicClientRegistrationConfig; dynamic != nil {
		dynamic.Metadata.RedirectURIs = []string{config.RedirectURL}
	}
	config.AuthorizationCodeFetcher = func(_ context.Context, asked *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		runChecker(t, "answer.mjs", asked.URL, key)
		select {
		case a := <-answers:
			return &auth.AuthorizationResult{Code: a.Get("code"), State: a.Get("state"), Iss: a.Get("iss")}, nil
		default:
			return nil, errors.New("the browser was not sent back")
		}
	}
	handler, err := auth.NewAuthorizationCodeHandler(&config)
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: p.url + "/api/mcp/signin", OAuthHandler: handler}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_document", Arguments: map[string]any{"id": report}})
	if err != nil || result.IsError {
		t.Errorf("read_document: got %+v, %v", result, err)
	}
}

// What starts on one replica continues on another: each step of a sign-in, a
// consent, a refresh and a revocation is answered by the replica that did not
// answer the step before.
func TestSignInOnReplicas(t *testing.T) {
	longtest.Skip(t, "it needs an identity provider")
	t.Parallel()
	p := newPortal(t)
	store := pgtest.Database(t)
	var replicas []*service
	for range 2 {
		replicas = append(replicas, p.start(t, store))
	}
	steps := 0
	p.answers(func(r *http.Request) *service {
		if isStep(r) {
			steps++
		}
		return replicas[steps%len(replicas)]
	})
	runChecker(t, "oauth-code.mjs", p.url, "sub", "ana")
	p.mu.Lock()
	defer p.mu.Unlock()
	if steps < 20 {
		t.Errorf("got %d steps, want 20 or more", steps)
	}
}

// The process is killed before each step, and another one continues.
func TestSignInSurvivesKill(t *testing.T) {
	longtest.Skip(t, "it needs an identity provider")
	t.Parallel()
	p := newPortal(t)
	store := engines["sqlite"](t)
	s := p.start(t, store)
	killed := map[string]int{}
	p.answers(func(r *http.Request) *service {
		step := r.Method + " " + r.URL.Path
		if isStep(r) && killed[step] < 2 {
			killed[step]++
			_ = s.end(syscall.SIGKILL)
			next, err := p.launch(t, store)
			if err != nil {
				t.Error(err)
				return s
			}
			s = next
		}
		return s
	})
	runChecker(t, "oauth-code.mjs", p.url, "sub", "ana")
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, step := range []string{
		"GET /oauth/authorize", "POST /oauth/authorize", "GET /signin", "GET /signin/callback/corp", "POST /api/auth/token", "POST /oauth/revoke",
	} {
		if killed[step] == 0 {
			t.Errorf("the process was not killed before %s: %v", step, killed)
		}
	}
}

var stepPath = regexp.MustCompile(`^/(signin|oauth|api/auth)(/|$)`)

// isStep reports whether a request is one of a sign-in, a consent or for a token.
func isStep(r *http.Request) bool { return stepPath.MatchString(r.URL.Path) }

// portal is the public address of services with sign-in: a proxy that chooses
// which service answers each request. A provider sends people back to it.
type portal struct {
	url    string
	client string   // the address of a Client ID Metadata Document
	env    []string // of the services
	args   []string
	dir    string // where they run

	mu     sync.Mutex
	choose func(*http.Request) *service // guarded by mu
}

func newPortal(t *testing.T) *portal {
	t.Helper()
	p := &portal{dir: t.TempDir()}
	front := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		p.mu.Lock()
		defer p.mu.Unlock()
		target, err := url.Parse(p.choose(r.In).url)
		if err != nil {
			t.Error(err)
		}
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}})
	t.Cleanup(front.Close)
	p.url = front.URL
	certificate := p.describeClient(t)
	config := filepath.Join(p.dir, "signin.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, `
signin:
  providers:
    - id: corp
      name: Example Corp
      issuer: %s
      client_id: pregon
      secret_env: PREGON_SIGNIN_CORP
      allow: { domains: [example.com] }
      plan: pro
      scopes: [read:reports, read:issuers, read:analytics]
      allow_private: true
  clients:
    - { id: suite, name: Conformance suite, redirect_uris: ["http://127.0.0.1/callback"], auth: none }
  registration: true
  client_documents: true
  allow_private_documents: true
`, startProvider(t, p.url+"/signin/callback/corp")), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = []string{"PREGON_SECRET_KEY=" + strings.Repeat("k", 32), "PREGON_SIGNIN_CORP=s3cret of pregon", "SSL_CERT_FILE=" + certificate}
	p.args = []string{"--base-url", p.url, "--config", config}
	return p
}

// answers sets the function that chooses the service of a request.
func (p *portal) answers(choose func(*http.Request) *service) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.choose = choose
}

// start starts one of the services.
func (p *portal) start(t *testing.T, store string) *service {
	t.Helper()
	s, err := p.launch(t, store)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// launch is start for goroutines that may not end the test.
func (p *portal) launch(t *testing.T, store string) (*service, error) {
	s, err := startService(append([]string{"PREGON_STORE=" + store}, p.env...), p.dir, p.args...)
	if err == nil {
		t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	}
	return s, err
}

// describeClient serves the Client ID Metadata Document of an application, and
// returns the file with the certificate of its server.
func (p *portal) describeClient(t *testing.T) string {
	t.Helper()
	documents := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"client_id":%q,"client_name":"Checkers","redirect_uris":["http://127.0.0.1/callback"],"token_endpoint_auth_method":"none"}`, p.client)
	}))
	t.Cleanup(documents.Close)
	p.client = documents.URL + "/checkers.json"
	file := filepath.Join(p.dir, "documents.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: documents.Certificate().Raw})
	if err := os.WriteFile(file, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// startProvider starts an OpenID provider that sends people back to one address,
// and returns its issuer.
func startProvider(t *testing.T, back string) string {
	t.Helper()
	settings, err := json.Marshal(map[string]any{
		"redirect_uris": []string{back},
		"people": []map[string]any{
			{"sub": "ana", "name": "Ana", "email": "ana@example.com", "email_verified": true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node_modules/.bin/node", "idp.mjs", string(settings))
	cmd.Dir, cmd.Stderr = checkers, t.Output()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	issuer, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(issuer)
}
