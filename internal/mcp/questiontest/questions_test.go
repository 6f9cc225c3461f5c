package questiontest_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/test/longtest"
)

// asked is a question with the calls that a model makes to answer it.
type asked struct {
	ID       string `json:"id"`
	Language string `json:"language"` // en or es
	Question string `json:"question"`
	Calls    []struct {
		Tool      string         `json:"tool"`
		Arguments map[string]any `json:"arguments"`
	} `json:"calls"`
	Wants string `json:"wants"` // the right answer in words, as the author of the question put it
	Truth truth  `json:"truth"`
}

// reply is the answer to a call.
type reply struct {
	text  string
	json  []byte
	err   error
	empty bool // it says that nothing was found
}

// maxCalls is the number of calls of a question.
const maxCalls = 2

// verdict is the result of a question.
type verdict struct {
	right     bool
	falseZero bool   // an answer says that nothing was found, although the truth is not empty
	why       string // what is wrong
}

func TestQuestions(t *testing.T) {
	longtest.Skip(t, "it generates a market of two years")
	w, err := simulated()
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, w)
	t.Run("development", func(t *testing.T) {
		all := readQuestions(t, "testdata/development.json")
		s.check(t, w, all, func(q *asked) []truth { return []truth{q.Truth} }, len(all))
	})
	t.Run("heldout", func(t *testing.T) { s.askHeldOut(t, w) })
}

// check asks questions, of which at least some must be answered rightly, and none with a
// false zero. With -v it prints a table of the others.
func (s *service) check(t *testing.T, w *world, all []asked, truths func(*asked) []truth, least int) {
	t.Helper()
	var table strings.Builder
	columns := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	right := 0
	for n := range all {
		q := &all[n]
		got := s.ask(t, w, q, truths(q))
		if got.right {
			right++
			continue
		}
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\n", q.ID, q.Question, q.tools(), got.why)
		if got.falseZero {
			t.Errorf("%s: a false zero: %s", q.ID, got.why)
		}
	}
	if err := columns.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d are answered rightly. The others:\n%s", right, len(all), table.String())
	if right < least {
		t.Errorf("%d questions are answered rightly, want at least %d", right, least)
	}
}

// tools returns the names of the tools that are called.
func (q *asked) tools() string {
	var names []string
	for _, c := range q.Calls {
		names = append(names, c.Tool)
	}
	return strings.Join(names, ", ")
}

func readQuestions(t *testing.T, file string) (all []asked) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(&all); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, q := range all {
		if len(q.Calls) == 0 || len(q.Calls) > maxCalls || q.Language != "en" && q.Language != "es" {
			t.Errorf("%s: %s has %d calls and the language %q", file, q.ID, len(q.Calls), q.Language)
		}
	}
	return all
}

// ask makes the calls of a question and compares the answers with the truths.
func (s *service) ask(t *testing.T, w *world, q *asked, truths []truth) verdict {
	t.Helper()
	replies := s.replies(t, q)
	if len(truths) == 0 {
		t.Errorf("%s has no truth", q.ID)
		return verdict{why: "its truth is missing"}
	}
	out := verdict{right: true}
	for n := range truths {
		want, err := w.demand(&truths[n])
		if err != nil {
			t.Errorf("%s: the truth: %v", q.ID, err)
			return verdict{why: err.Error()}
		}
		of := cmp.Or(truths[n].Call, len(replies))
		got := judge(want, replies[of-1])
		if !got.right && out.right {
			out.right, out.why = false, got.why
		}
		out.falseZero = out.falseZero || got.falseZero
	}
	for _, r := range replies {
		if r.err != nil && out.right {
			out.right, out.why = false, "an error: "+r.err.Error()
		}
	}
	return out
}

// replies makes the calls of a question. The second one may refer to the first item of the
// first answer.
func (s *service) replies(t *testing.T, q *asked) (out []reply) {
	t.Helper()
	first := ""
	for _, c := range q.Calls {
		arguments := map[string]any{}
		for name, value := range c.Arguments {
			if s, ok := value.(string); ok {
				value = firstItem.ReplaceAllLiteralString(placeholders(s), first)
			}
			arguments[name] = value
		}
		result, err := s.call(t.Context(), c.Tool, arguments)
		r := reply{text: result.Text, json: result.JSON, err: err}
		if err == nil {
			first = firstID(result.JSON)
			r.empty = isEmpty(result.JSON) || strings.Contains(result.Text, "No report was found.")
		} else {
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Kind == fault.Internal {
				t.Errorf("%s: %s: %v", q.ID, c.Tool, err)
			}
			r.empty = ok && e.Kind == fault.NotFound
		}
		out = append(out, r)
	}
	return out
}

// firstItem is the placeholder for the id of the first item of the answer before.
var firstItem = regexp.MustCompile(`\{first\.(?:id|ID)\}`)

// isEmpty reports whether a result is a list without an entry.
func isEmpty(result []byte) bool {
	var list struct {
		Total   *int
		Data    []json.RawMessage
		Results []json.RawMessage
	}
	if json.Unmarshal(result, &list) != nil {
		return false
	}
	return list.Total != nil && *list.Total == 0 || list.Results != nil && len(list.Results) == 0 ||
		list.Total == nil && list.Data != nil && len(list.Data) == 0
}

// firstID returns what identifies the first item of a list, or its first report.
func firstID(result []byte) string {
	var list struct {
		Data    []map[string]any
		Results []struct{ ID string }
	}
	_ = json.Unmarshal(result, &list) // what is no list has no first item
	for _, r := range list.Results {
		if reportID.MatchString(r.ID) {
			return r.ID
		}
	}
	if len(list.Data) == 0 {
		return ""
	}
	for _, name := range []string{"id", "report_id", "issuer_id", "value"} {
		if value, ok := list.Data[0][name].(string); ok && value != "" {
			return value
		}
	}
	return ""
}

// reportID is the id of a report.
var reportID = regexp.MustCompile(`\b(ip|oir|hr)-\d+\b`)

// placeholder is a day that depends on the clock.
var placeholder = regexp.MustCompile(`\{(?:today([+-]\d+)?|[a-z]+_?[a-z]*_?[a-z]*)\}`)

// namedDays are the days of placeholders other than {today} and {today+30}.
var namedDays = map[string]disclosure.Day{
	"{monday}":           mustDay("2026-11-16"),
	"{last_monday}":      mustDay("2026-11-09"),
	"{last_sunday}":      mustDay("2026-11-15"),
	"{month_start}":      mustDay("2026-11-01"),
	"{last_month_start}": mustDay("2026-10-01"),
	"{last_month_end}":   mustDay("2026-10-31"),
	"{year_start}":       mustDay("2026-01-01"),
}

// placeholders replaces the placeholders of an argument.
func placeholders(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(found string) string {
		if day, ok := namedDays[found]; ok {
			return day.String()
		}
		if !strings.HasPrefix(found, "{today") {
			return found
		}
		n, _ := strconv.Atoi(placeholder.FindStringSubmatch(found)[1]) // zero without one
		return (today + disclosure.Day(n)).String()
	})
}
