package alerttest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pregon/internal/server/telemetry/alerttest"
	"pregon/internal/test/longtest"
)

const (
	deploy = "../../../../deploy/"
	docs   = "../../../../docs/"
)

var (
	metricName = regexp.MustCompile(`\bpregon_\w+`)
	metricRow  = regexp.MustCompile("(?m)^\\| `(pregon_\\w+)` \\| (\\w+) \\|")
	entry      = regexp.MustCompile(`(?m)^### (Pregon\w+)$`)
)

// TestRules: promtool accepts the rules, and every alert fires when it should.
func TestRules(t *testing.T) {
	longtest.Skip(t, "it needs promtool")
	for _, args := range [][]string{{"check", "rules", "pregon.rules.yml"}, {"test", "rules", "pregon.rules.test.yml"}} {
		promtool(t, deploy+"prometheus", args...)
	}
	tests := read(t, deploy+"prometheus/pregon.rules.test.yml")
	for _, rule := range alerttest.Rules(t, deploy+"prometheus/pregon.rules.yml") {
		if !strings.Contains(tests, fmt.Sprintf(`ALERTS{alertname=%q,alertstate="firing"}`, rule.Name)) {
			t.Errorf("no test of pregon.rules.test.yml makes %s fire", rule.Name)
		}
	}
}

// TestRunbook: every alert has its annotations and an entry in the runbook, and
// every entry has an alert.
func TestRunbook(t *testing.T) {
	var entries []string
	for _, m := range entry.FindAllStringSubmatch(read(t, docs+"reliability.md"), -1) {
		entries = append(entries, m[1])
	}
	var names []string
	for _, rule := range alerttest.Rules(t, deploy+"prometheus/pregon.rules.yml") {
		names = append(names, rule.Name)
		if want := "docs/reliability.md#" + strings.ToLower(rule.Name); rule.Annotations["runbook_url"] != want {
			t.Errorf("runbook_url of %s is %q, want %q", rule.Name, rule.Annotations["runbook_url"], want)
		}
		if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" || rule.For == "" ||
			!slices.Contains([]string{"critical", "warning"}, rule.Labels["severity"]) {
			t.Errorf("%s lacks a summary, a description, a time or a severity: %+v", rule.Name, rule)
		}
	}
	if !slices.Equal(names, entries) {
		t.Errorf("entries of the runbook in docs/reliability.md: %v, want one for each alert, in their order: %v", entries, names)
	}
}

// TestMetricsExist: the rules, the dashboard and the runbook name only metrics of the
// table in docs/metrics.md.
func TestMetricsExist(t *testing.T) {
	known := map[string]bool{}
	for _, m := range metricRow.FindAllStringSubmatch(read(t, docs+"metrics.md"), -1) {
		known[m[1]] = true
		if m[2] == "histogram" {
			known[m[1]+"_bucket"], known[m[1]+"_count"], known[m[1]+"_sum"] = true, true, true
		}
	}
	for _, path := range []string{deploy + "prometheus/pregon.rules.yml", deploy + "prometheus/pregon.rules.test.yml", deploy + "grafana/pregon.json", docs + "reliability.md"} {
		for _, name := range metricName.FindAllString(read(t, path), -1) {
			if !known[name] {
				t.Errorf("%s names %s, which is not in docs/metrics.md", filepath.Base(path), name)
			}
		}
	}
}

// TestMetricsUsed: the dashboard or an alert uses every metric.
func TestMetricsUsed(t *testing.T) {
	used := read(t, deploy+"grafana/pregon.json") + read(t, deploy+"prometheus/pregon.rules.yml")
	for _, m := range metricRow.FindAllStringSubmatch(read(t, docs+"metrics.md"), -1) {
		if name := regexp.MustCompile(`\b` + m[1] + `(_bucket|_count|_sum)?\b`); !name.MatchString(used) {
			t.Errorf("neither the dashboard nor an alert uses %s: add a panel or a rule for it", m[1])
		}
	}
}

// dashboard is the dashboard of Grafana.
type dashboard struct {
	Panels []struct {
		ID         int
		Type       string
		Title      string
		Datasource source
		GridPos    struct{ X, Y, W, H int }
		Targets    []struct {
			Expr       string
			Datasource source
		}
	}
	Templating struct{ List []struct{ Name string } }
}

type source struct{ UID string }

func readDashboard(t *testing.T) (board dashboard) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, deploy+"grafana/pregon.json")), &board); err != nil {
		t.Fatal(err)
	}
	return board
}

// TestDashboard: ids and places of panels are unique, and each panel has a query and the
// variable data source.
func TestDashboard(t *testing.T) {
	board := readDashboard(t)
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, p := range board.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := places[[2]int{x, y}]; other != "" {
					t.Fatalf("the panels %q and %q overlap", other, p.Title)
				}
				places[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" {
			t.Errorf("%q has no query, or not the variable data source", p.Title)
		}
		for n, target := range p.Targets {
			if target.Expr == "" || target.Datasource.UID != "${datasource}" {
				t.Errorf("query %d of %q is empty, or has not the variable data source", n, p.Title)
			}
		}
	}
	if list := board.Templating.List; len(list) != 2 || list[0].Name != "datasource" || list[1].Name != "job" {
		t.Errorf("variables %v, want datasource and job", list)
	}
}

// TestQueries: Prometheus parses every query of the dashboard.
func TestQueries(t *testing.T) {
	longtest.Skip(t, "it needs promtool")
	var queries strings.Builder
	queries.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for _, p := range readDashboard(t).Panels {
		for n, target := range p.Targets {
			expr := strings.ReplaceAll(target.Expr, "$__rate_interval", "5m") // as Grafana does
			fmt.Fprintf(&queries, "  - record: panel_%d_%d\n    expr: %q\n", p.ID, n, expr)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "queries.yml"), []byte(queries.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, dir, "check", "rules", "queries.yml")
}

func promtool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "promtool", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
