// Package alerttest evaluates the alerts that the documents recommend on pages
// of metrics, so that tests can show that each fires.
package alerttest

import (
	"bufio"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Alert is a row of the table of alerts.
type Alert struct {
	Name, Expression string

	age    bool   // the value is subtracted from the present time
	of     string // sum, max or min of the values
	metric string
	labels string // as a sample has it: a="b"; empty for any
	op     string
	bound  float64
}

var (
	row  = regexp.MustCompile("^\\| (\\w+) \\| `([^`]+)` \\|")
	form = regexp.MustCompile(`^(time\(\) - )?(sum|max|min)\((\w+)(?:\{(\w+="[^"]*")\})?\) (==|<|>) (\d+)$`)
)

// Read returns the alerts of a document, by name.
func Read(t *testing.T, path string) map[string]Alert {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n### Alerts\n")
	table, _, _ = strings.Cut(table, "\n## ")
	out := map[string]Alert{}
	for line := range strings.Lines(table) {
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		parts := form.FindStringSubmatch(m[2])
		if parts == nil {
			t.Fatalf("%s: %s is not of the form sum(metric{label=\"value\"}) > number, with max or min for sum, and time() - before it for an age", m[1], m[2])
		}
		bound, err := strconv.ParseFloat(parts[6], 64)
		if err != nil {
			t.Fatal(err)
		}
		out[m[1]] = Alert{Name: m[1], Expression: m[2], age: parts[1] != "", of: parts[2], metric: parts[3], labels: parts[4], op: parts[5], bound: bound}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no alerts", path)
	}
	return out
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
		if metric != a.metric || a.labels != "" && !strings.Contains(","+labels+",", ","+a.labels+",") {
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
