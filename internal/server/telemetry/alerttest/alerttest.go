// Package alerttest evaluates the alerts of deploy/prometheus on pages of metrics,
// so that tests can show that each fires.
package alerttest

import (
	"bufio"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// Alert is an alert whose expression is one aggregate that is compared with a number.
type Alert struct {
	Name, Expression string

	age    bool   // the value is subtracted from the present time
	of     string // sum, max or min of the values
	metric string
	labels *regexp.Regexp // of a sample, as in a="b"; nil for any
	op     string
	bound  float64
}

// Rule is an alert of the rules.
type Rule struct {
	Name        string `yaml:"alert"`
	Expression  string `yaml:"expr"`
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

var form = regexp.MustCompile(`^(time\(\) - )?(sum|max|min)\((\w+)(?:\{(\w+)(=~?)"([^"]*)"\})?\) (==|<|>) (\d+)$`)

// Rules returns the alerts of a file of rules.
func Rules(t *testing.T, path string) []Rule {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []Rule } }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var out []Rule
	for _, group := range file.Groups {
		out = append(out, group.Rules...)
	}
	if len(out) == 0 {
		t.Fatalf("%s has no alerts", path)
	}
	return out
}

// Read returns the alerts of a file of rules, by name, whose expression is of the form
// sum(metric{label="value"}) > number, with max or min for sum, =~ for =, and time() -
// before it for an age. promtool tests all of them.
func Read(t *testing.T, path string) map[string]Alert {
	t.Helper()
	out := map[string]Alert{}
	for _, rule := range Rules(t, path) {
		parts := form.FindStringSubmatch(rule.Expression)
		if parts == nil {
			continue
		}
		bound, err := strconv.ParseFloat(parts[8], 64)
		if err != nil {
			t.Fatal(err)
		}
		out[rule.Name] = Alert{
			Name:       rule.Name,
			Expression: rule.Expression,
			age:        parts[1] != "",
			of:         parts[2],
			metric:     parts[3],
			labels:     matcher(parts[4], parts[5], parts[6]),
			op:         parts[7],
			bound:      bound,
		}
	}
	return out
}

// matcher returns what the labels of a sample must match, nil without a name.
func matcher(name, op, value string) *regexp.Regexp {
	if name == "" {
		return nil
	}
	if op == "=" {
		value = regexp.QuoteMeta(value)
	}
	return regexp.MustCompile(`(^|,)` + name + `="(` + value + `)"(,|$)`)
}

// Fires reports whether the alert fires on a page of metrics, or on those of
// several replicas together. A page without the metric fails the test.
func (a Alert) Fires(t *testing.T, page string) bool {
	t.Helper()
	var value float64
	found := false
	for lines := bufio.NewScanner(strings.NewReader(page)); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), " ")
		metric, labels, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
		if metric != a.metric || a.labels != nil && !a.labels.MatchString(labels) {
			continue
		}
		v, err := strconv.ParseFloat(rest, 64) // also +Inf
		if err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		switch {
		case a.of == "sum":
			value += v
		case !found, a.of == "max" && v > value, a.of == "min" && v < value:
			value = v
		}
		found = true
	}
	if !found {
		t.Fatalf("there is no %s for %s", a.metric, a.Name)
	}
	if a.age {
		value = float64(time.Now().UnixMilli())/1000 - value
	}
	switch a.op {
	case "==":
		return value == a.bound
	case "<":
		return value < a.bound
	}
	return value > a.bound
}
