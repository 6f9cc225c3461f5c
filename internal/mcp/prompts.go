package mcp

import (
	"context"
	"embed"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/template"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/mcp/tools"
	"pregon/internal/query"
	"pregon/internal/text"
)

// The names of the prompts.
const (
	morningBriefing = "morning_briefing"
	issuerBrief     = "issuer_brief"
	explainReport   = "explain_filing"
)

// prompt is a prompt as prompts/list returns it.
type prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Arguments   []promptArgument `json:"arguments"`
}

type promptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required,omitempty"`
}

var language = promptArgument{
	Name:        "language",
	Title:       "Language",
	Description: "Language of the answer: es (default) or en",
}

var prompts = []prompt{
	{
		Name:        morningBriefing,
		Title:       "Morning briefing · Informe de la mañana",
		Description: "What was filed on a day, by importance. Lo que se comunicó en un día, por importancia.",
		Arguments: []promptArgument{{
			Name:        "date",
			Title:       "Day",
			Description: "YYYY-MM-DD in Madrid; today by default",
		}, language},
	},
	{
		Name:        issuerBrief,
		Title:       "Issuer brief · Ficha de un emisor",
		Description: "An issuer and its newest reports. Un emisor y sus últimas comunicaciones.",
		Arguments: []promptArgument{{
			Name:        "issuer",
			Title:       "Issuer",
			Description: "Id, NIF, ISIN or name",
			Required:    true,
		}, language},
	},
	{
		Name:  explainReport,
		Title: "Explain a report · Explicar una comunicación",
		Description: "What a report means, for readers without legal training. Qué significa una " +
			"comunicación, para quien no es jurista.",
		Arguments: []promptArgument{{
			Name:        "id",
			Title:       "Report",
			Description: "Id of the report, such as oir-40374",
			Required:    true,
		}, language},
	},
}

//go:embed prompts/*.md
var promptFiles embed.FS

var promptTexts = template.Must(template.ParseFS(promptFiles, "prompts/*.md"))

// promptNamed returns a prompt, or nil.
func promptNamed(name string) *prompt {
	i := slices.IndexFunc(prompts, func(p prompt) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &prompts[i]
}

// getPrompt answers prompts/get: the instructions and, as a separate resource, their
// subject, so that a host and a model can distinguish the two.
func (s *Server) getPrompt(ctx context.Context, m message) (reply, error) {
	p := promptNamed(m.name)
	if p == nil {
		return reply{}, fault.New(fault.Invalid, "unknown prompt '%s': see prompts/list.", text.Clip(m.name, 100))
	}
	given, err := textsOf(m.params["arguments"])
	if err != nil {
		return reply{}, err
	}
	instructions, uri, about, err := s.prompt(ctx, p, given)
	if err != nil {
		return reply{}, err
	}
	type item = struct { // of a message
		Role    string `json:"role"`
		Content object `json:"content"`
	}
	b, err := query.Encode(object{"description": p.Description, "messages": []item{
		{"user", object{"type": "text", "text": instructions}},
		{"user", object{"type": "resource", "resource": contents{uri, jsonType, string(about.JSON), nil}}},
	}})
	return reply{object: b}, err
}

// textsOf returns the arguments of a prompt.
func textsOf(arguments any) (map[string]string, error) {
	given, ok := arguments.(object)
	if !ok && arguments != nil {
		return nil, wrongType("arguments", "an object of strings")
	}
	out := map[string]string{}
	for name, v := range given {
		if out[name], ok = v.(string); !ok && v != nil {
			return nil, wrongType("arguments", "an object of strings")
		}
	}
	return out, nil
}

// prompt returns the instructions of a prompt and the record that it is about.
func (s *Server) prompt(
	ctx context.Context,
	p *prompt,
	given map[string]string,
) (instructions, uri string, about tools.Result, err error) {
	params := query.NewParams(nil)
	values := url.Values{}
	for _, a := range p.Arguments {
		values.Set(a.Name, given[a.Name])
		if a.Required && strings.TrimSpace(given[a.Name]) == "" {
			params.Reject(a.Name, "", "is needed")
		}
	}
	params.SetValues(values)
	lang := params.Text("language")
	if lang != "" && lang != "es" && lang != "en" {
		params.Reject("language", lang, "must be es or en")
	}
	day := params.Day("date")
	if err := params.Err(); err != nil {
		return "", "", tools.Result{}, err
	}
	if lang == "" {
		lang = "es"
	}
	if day == 0 {
		day = disclosure.DayOf(time.Now())
	}
	snapshot, err := s.o.Query.Snapshot()
	if err != nil {
		return "", "", tools.Result{}, err
	}
	if uri, about, err = s.subject(ctx, snapshot, p.Name, params, day); err != nil {
		return "", "", tools.Result{}, err
	}
	var text strings.Builder
	err = promptTexts.ExecuteTemplate(&text, p.Name+"."+lang+".md",
		map[string]string{"Date": day.String(), "Now": tools.Clock(time.Now()), "Simulated": s.tools.Simulated()})
	return text.String(), uri, about, err
}

// subject returns the record that a prompt is about.
func (s *Server) subject(
	ctx context.Context,
	snapshot *catalog.Snapshot,
	prompt string,
	p *query.Params,
	day disclosure.Day,
) (uri string, about tools.Result, err error) {
	switch prompt {
	case morningBriefing:
		q := url.Values{"from": {day.String()}, "to": {day.String()}}
		uri = tools.SearchURI + "?" + q.Encode()
		q.Set("limit", fmt.Sprint(query.MaxLimit))
		about, err = s.tools.SearchReports(ctx, snapshot, s.o.Query.NewParams(q))
	case issuerBrief:
		var found *query.Issuer
		if found, err = s.findIssuer(ctx, snapshot, p.LimitedText("issuer", query.MaxSearch)); err == nil {
			uri = issuerURI + url.PathEscape(found.ID)
			about, err = s.tools.ShowIssuer(snapshot, found)
		}
	case explainReport:
		uri = reportURI + url.PathEscape(strings.ToLower(p.Text("id")))
		about, err = s.tools.Report(ctx, snapshot, p)
	}
	return uri, about, err
}

// findIssuer returns an issuer by an identifier or by its name.
func (s *Server) findIssuer(ctx context.Context, snapshot *catalog.Snapshot, what string) (*query.Issuer, error) {
	if len(snapshot.Lookup(what)) == 1 {
		return s.o.Query.Issuer(snapshot, what, access.FromContext(ctx))
	}
	found, err := snapshot.Issuers(ctx, what, "", 1)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return s.o.Query.Issuer(snapshot, found[0].Issuer.ID, access.FromContext(ctx))
	}
	return nil, fault.New(fault.NotFound,
		"No issuer is known as %q: search_issuers finds them by name, ticker, NIF or ISIN.", text.Clip(what, 100))
}

// recentDays returns the last 30 days, today first.
func recentDays() []string {
	today := disclosure.DayOf(time.Now())
	out := make([]string, 0, 30)
	for d := today; d > today-30; d-- {
		out = append(out, d.String())
	}
	return out
}
