package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pregon/internal/document/llm/llmtest"
	"pregon/internal/server/ratelimit/redistest"
	"pregon/internal/server/telemetry/alerttest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/processtest"
)

const (
	rulesFile = "../../deploy/prometheus/pregon.rules.yml"

	// The configuration of Prometheus beside the compose file, and what of it is of its
	// containers.
	prometheusFile    = "../../deploy/compose/prometheus.yaml"
	prometheusRules   = "/etc/prometheus/pregon.rules.yml"
	prometheusTargets = `"pregon-1:9090", "pregon-2:9090"`
	prometheusPace    = "interval: 15s"
)

// TestDocumentsWaiting: no alert fires on the metrics of a healthy service, and
// one does when documents cannot be downloaded. Prometheus itself agrees.
func TestDocumentsWaiting(t *testing.T) {
	longtest.Skip(t, "it needs Prometheus")
	t.Parallel()
	alerts := alerttest.Read(t, rulesFile)
	r := newReader(t, startSource(t), engines["sqlite"](t))
	model := llmtest.NewServer(t, llmtest.Say("{}"))
	r.serve = r.startServe(t, "--debug-listen", "127.0.0.1:0", "--llm-url", model.URL, "--llm-model", "m-1", "--redis", redistest.Start(t).URL())
	r.started(t)
	eventually(t, func() error {
		page, err := r.serve.metrics()
		if err != nil {
			return err
		}
		for _, a := range alerts {
			if a.Fires(t, page) {
				return fmt.Errorf("%s fires on a healthy service: %s", a.Name, a.Expression)
			}
		}
		return nil
	})
	p := startPrometheus(t, r.serve)
	r.publish(t, `{"type":"oir"}`) // measures the delay
	eventually(t, func() error { return p.healthy(t) })
	r.arm(t, `{"kind":"stall","surface":"document","by":"1h","for":"1h"}`)
	for range 60 {
		r.publish(t, `{"type":"oir","document":true}`)
	}
	eventually(t, func() error {
		page, err := r.serve.metrics()
		if err == nil && !alerts["PregonDocumentsWaiting"].Fires(t, page) {
			return fmt.Errorf("%s does not fire", alerts["PregonDocumentsWaiting"].Expression)
		}
		return err
	})
	eventually(t, func() error {
		rules, err := p.rules()
		if err == nil && rules["PregonDocumentsWaiting"].State == "inactive" {
			err = errors.New("PregonDocumentsWaiting is inactive in Prometheus")
		}
		return err
	})
}

// prometheus is a Prometheus server with the configuration of the compose file, which
// scrapes a service and evaluates our rules.
type prometheus struct{ url string }

func startPrometheus(t *testing.T, s *service) prometheus {
	t.Helper()
	rules, err := filepath.Abs(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	debug, err := s.debugURL()
	if err != nil {
		t.Fatal(err)
	}
	port, err := processtest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	address, dir := net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), t.TempDir()
	text, err := os.ReadFile(prometheusFile)
	if err != nil {
		t.Fatal(err)
	}
	config := string(text)
	for old, here := range map[string]string{
		prometheusRules:   rules,
		prometheusTargets: strconv.Quote(strings.TrimPrefix(debug, "http://")),
		prometheusPace:    "interval: 1s",
	} {
		if !strings.Contains(config, old) {
			t.Fatalf("%s does not have %s", prometheusFile, old)
		}
		config = strings.ReplaceAll(config, old, here)
	}
	path := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := processtest.Start(exec.Command("prometheus", "--config.file="+path, "--storage.tsdb.path="+dir, "--web.listen-address="+address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	return prometheus{"http://" + address}
}

func (p prometheus) get(path string, into any) error {
	resp, err := http.Get(p.url + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

// rule is the state of a rule.
type rule struct{ Name, State, Health, LastError string }

// rules returns the rules by name.
func (p prometheus) rules() (map[string]rule, error) {
	var answer struct {
		Data struct{ Groups []struct{ Rules []rule } }
	}
	if err := p.get("/api/v1/rules", &answer); err != nil {
		return nil, err
	}
	out := map[string]rule{}
	for _, group := range answer.Data.Groups {
		for _, r := range group.Rules {
			out[r.Name] = r
		}
	}
	return out, nil
}

// healthy returns an error unless the service is scraped, every rule is evaluated
// without an error, none is active, and all metrics of the rules exist.
func (p prometheus) healthy(t *testing.T) error {
	t.Helper()
	var targets struct {
		Data struct {
			ActiveTargets []struct{ Health, LastError string }
		}
	}
	if err := p.get("/api/v1/targets", &targets); err != nil {
		return err
	}
	if all := targets.Data.ActiveTargets; len(all) != 1 || all[0].Health != "up" {
		return fmt.Errorf("the targets are %+v, want one that is up", all)
	}
	var names struct{ Data []string }
	if err := p.get("/api/v1/label/__name__/values", &names); err != nil {
		return err
	}
	var missing []string
	for _, file := range []string{rulesFile, "../../deploy/grafana/pregon.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, name := range regexp.MustCompile(`\bpregon_\w+`).FindAllString(string(text), -1) {
			if !slices.Contains(names.Data, name) {
				missing = append(missing, name)
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the service lacks the metrics %v of the rules or the dashboard", missing)
	}
	rules, err := p.rules()
	if err != nil {
		return err
	}
	if want := len(alerttest.Rules(t, rulesFile)); len(rules) != want {
		return fmt.Errorf("Prometheus has %d rules, want %d", len(rules), want)
	}
	for _, r := range rules {
		if r.Health != "ok" || r.State != "inactive" || r.LastError != "" {
			return fmt.Errorf("the rule is %+v, want it healthy and inactive", r)
		}
	}
	return nil
}

// debugURL returns the address of the debug listener.
func (s *service) debugURL() (string, error) {
	m := debugAddress.FindStringSubmatch(s.log.String())
	if m == nil {
		return "", errors.New("the log has no debug address")
	}
	return m[1], nil
}

// metrics returns the metrics of a service with a debug listener. It fails after five
// seconds if the process hangs.
func (s *service) metrics() (string, error) {
	address, err := s.debugURL()
	if err != nil {
		return "", err
	}
	resp, err := (&http.Client{Timeout: 5 * time.Second}).Get(address + "/metrics")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
