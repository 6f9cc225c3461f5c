// Package tools implements the tools of the MCP server: their descriptions, their
// arguments and their results. Package query answers the questions; a tool bounds
// the result and adds a text that quotes the reports (see package quote).
package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/push/watchlist"
	"pregon/internal/query"
	"pregon/internal/search"
	"pregon/internal/text"
	"pregon/internal/text/mask"
)

// Service answers the calls of tools.
type Service struct {
	Query      *query.Service
	Watchlists *watchlist.Registry // nil: there are none
	BaseURL    string              // of the service, without a slash at the end
	Now        func() time.Time    // nil: time.Now
}

// Tool is a tool: its description in tools.json and its implementation.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	View         string          `json:"view"`       // URI of the view of its results
	Scope        string          `json:"scope"`      // of callers with a credential
	Credential   bool            `json:"credential"` // a credential is required
	IDs          string          `json:"ids"`        // the tool that finds its ids
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`

	Arguments []Argument `json:"-"` // of InputSchema
	answer    answer
}

// Result is the result of a tool: JSON for programs, and a short text.
type Result struct {
	JSON []byte
	Text string
}

//go:embed tools.json
var toolsJSON []byte

// answer is the implementation of a tool.
type answer func(*Service, context.Context, *catalog.Snapshot, *query.Params) (Result, error)

// All are the tools.
var All = load(map[string]answer{
	"search_reports":  (*Service).SearchReports,
	"count_reports":   (*Service).countReports,
	"list_values":     (*Service).values,
	"get_report":      (*Service).Report,
	"read_document":   (*Service).readDocument,
	"search_issuers":  (*Service).searchIssuers,
	"get_issuer":      (*Service).Issuer,
	"get_analytics":   (*Service).analytics,
	"service_status":  (*Service).status,
	"propose_alert":   (*Service).proposeAlert,
	"list_facts":      (*Service).listFacts,
	"calendar":        (*Service).calendar,
	"get_ownership":   (*Service).ownership,
	"list_dealings":   (*Service).listDealings,
	"list_shorts":     (*Service).listShorts,
	"list_watchlists": (*Service).watchlists,
	"search":          (*Service).search,
	"fetch":           (*Service).fetch,
})

func load(answers map[string]answer) (all []*Tool) {
	if err := json.Unmarshal(toolsJSON, &all); err != nil {
		panic("mcp: tools.json: " + err.Error())
	}
	for _, t := range all {
		t.Arguments, t.answer = argumentsOf(t.InputSchema), answers[t.Name]
	}
	return all
}

// Named returns a tool, or an error that names all of them.
func Named(name string) (*Tool, error) {
	for _, t := range All {
		if t.Name == name {
			return t, nil
		}
	}
	names := make([]string, len(All))
	for i, t := range All {
		names[i] = t.Name
	}
	return nil, fault.New(fault.Invalid, "unknown tool '%s': use %s.", text.Clip(name, 100), strings.Join(names, ", "))
}

// Snapshot returns the catalogue for a tool. service_status works before the
// first data is loaded.
func (s *Service) Snapshot(t *Tool) (*catalog.Snapshot, error) {
	if t.Name == "service_status" {
		return s.Query.Loaded()
	}
	return s.Query.Snapshot()
}

// Call runs a tool with arguments as they were decoded from JSON.
func (s *Service) Call(ctx context.Context, t *Tool, snapshot *catalog.Snapshot, arguments any) (Result, error) {
	p, err := t.read(s.Query, arguments)
	if err != nil {
		return Result{}, err
	}
	p.For(access.FromContext(ctx))
	p.Strict()
	out, err := t.answer(s, ctx, snapshot, p)
	if warnings := p.Warnings(); err == nil && len(warnings) > 0 {
		out.Text = "Warning: " + strings.Join(warnings, " ") + "\n" + out.Text
	}
	return out, err
}

// ErrorText says what was wrong with a call and how to correct it.
func (t *Tool) ErrorText(err error) string {
	e, ok := errors.AsType[*fault.Error](err)
	if ok && e.Kind == fault.NotFound && e.Code == "" && t.IDs != "" {
		return ErrorText(err) + " Find ids with " + t.IDs + "."
	}
	return errorText(err, t)
}

// ErrorText says what was wrong and how to correct it. It reveals nothing of internal
// errors.
func ErrorText(err error) string { return errorText(err, All...) }

// errorText names the values of enumerated arguments as the tools have them.
func errorText(err error, of ...*Tool) string {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind == fault.Internal {
		return "Something went wrong on our side. Try again; if it persists, report the request id."
	}
	if len(e.Fields) == 0 {
		return mask.Credentials(e.Message)
	}
	fields := slices.Clone(e.Fields)
	for i, f := range fields {
		value := text.Clip(mask.Credentials(f.Value), 100)
		allowed := enumOf(of, f.Name)
		switch {
		case f.Sentence || value == "":
		case len(allowed) > 1 && !slices.Contains(allowed, f.Value): // an allowed one has another fault
			fields[i].Name = "unknown " + f.Name
			fields[i].Reason = fmt.Sprintf("'%s': use %s", value, search.OrList(allowed))
			if len(f.Suggestions) > 0 {
				fields[i].Reason += query.DidYouMean(f.Suggestions)
			}
		default:
			fields[i].Reason = fmt.Sprintf("'%s' %s", value, f.Reason)
		}
	}
	return text.ClipBytes(mask.Credentials(fault.Describe(fields)), maxText)
}

// enumOf returns the values of an enumerated argument, which may differ between tools.
func enumOf(of []*Tool, name string) []string {
	for _, t := range of {
		for _, a := range t.Arguments {
			if a.Name == name && len(a.Enum) > 1 {
				return a.Enum
			}
		}
	}
	return nil
}

// withSeq adds the seq and the cursor of the snapshot to an object.
func withSeq(object []byte, s *catalog.Snapshot) []byte {
	return fmt.Appendf(object[:len(object)-1], `,"seq":%d,"cursor":"%v"}`, s.Seq(), s.Head())
}

// encodeWithSeq encodes a record with the seq and the cursor of the snapshot.
func encodeWithSeq(v any, s *catalog.Snapshot) ([]byte, error) {
	b, err := query.Encode(v)
	if err != nil {
		return nil, err
	}
	return withSeq(b, s), nil
}

// nowInMadrid returns the time of the service for models, which do not know the day.
func (s *Service) nowInMadrid() string { return "It is " + Clock(s.now()) + " in Madrid." }

const minutes = "2006-01-02 15:04"

// Clock formats a time in Madrid to the minute.
func Clock(t time.Time) string { return query.Madrid(t).Format(minutes) }

// Simulated returns the warning that precedes texts about the simulated market.
func (s *Service) Simulated() string {
	if s.Query.Source() == "demo" {
		return "SIMULATED MARKET: companies and reports are fictional.\n"
	}
	return ""
}

// valueOf returns a text, "" for nil.
func valueOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
