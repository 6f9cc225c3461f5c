package mcp

import (
	"context"
	"embed"
	"fmt"
	"net/url"
	"strings"
	"text/template"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/text"
)

// The names of the prompts.
const (
	morningBriefing = "morning_briefing"
	issuerBrief     = "issuer_brief"
	explainReport   = "explain_filing"
)

var language = &sdk.PromptArgument{Name: "language", Title: "Language", Description: "Language of the answer: es (default) or en"}

var prompts = []*sdk.Prompt{
	{
		Name: morningBriefing, Title: "Morning briefing · Informe de la mañana",
		Description: "What was filed on a day, by importance. Lo que se comunicó en un día, por importancia.",
		Arguments:   []*sdk.PromptArgument{{Name: "date", Title: "Day", Description: "YYYY-MM-DD in Madrid; today by default"}, language},
	},
	{
		Name: issuerBrief, Title: "Issuer brief · Ficha de un emisor",
		Description: "An issuer and its newest reports. Un emisor y sus últimas comunicaciones.",
		Arguments:   []*sdk.PromptArgument{{Name: "issuer", Title: "Issuer", Description: "Id, NIF, ISIN or name", Required: true}, language},
	},
	{
		Name: explainReport, Title: "Explain a report · Explicar una comunicación",
		Description: "What a report means, for readers without legal training. Qué significa una comunicación, para quien no es jurista.",
		Arguments:   []*sdk.PromptArgument{{Name: "id", Title: "Report", Description: "Id of the report, such as oir-40374", Required: true}, language},
	},
}

//go:embed prompts/*.md
var promptFiles embed.FS

var promptTexts = template.Must(template.ParseFS(promptFiles, "prompts/*.md"))

func (s *Server) addPrompts() {
	for _, p := range prompts {
		s.sdk.AddPrompt(p, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			out, err := s.prompt(ctx, p, req.Params.Arguments)
			if err != nil {
				return nil, sdkError(fault.New(promptKind(err), "%s", s.errorText(ctx, p.Name, err)))
			}
			return out, nil
		})
	}
}

// promptKind returns the kind of an error for a prompt, where a missing record
// is an invalid argument.
func promptKind(err error) fault.Kind {
	if k := fault.KindOf(err); k != fault.NotFound {
		return k
	}
	return fault.Invalid
}

// prompt returns the instructions and, as a separate resource, their subject,
// so that a host and a model can distinguish the two.
func (s *Server) prompt(ctx context.Context, p *sdk.Prompt, given map[string]string) (*sdk.GetPromptResult, error) {
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
		return nil, err
	}
	if lang == "" {
		lang = "es"
	}
	if day == 0 {
		day = disclosure.DayOf(time.Now())
	}
	snapshot, err := s.o.Query.Snapshot()
	if err != nil {
		return nil, err
	}
	uri, about, err := s.subject(ctx, snapshot, p.Name, params, day)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	if err := promptTexts.ExecuteTemplate(&text, p.Name+"."+lang+".md", map[string]string{"Date": day.String(), "Now": clock(time.Now()), "Simulated": s.simulated()}); err != nil {
		return nil, err
	}
	return &sdk.GetPromptResult{Description: p.Description, Messages: []*sdk.PromptMessage{
		{Role: "user", Content: &sdk.TextContent{Text: text.String()}},
		{Role: "user", Content: &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: jsonType, Text: string(about.json)}}},
	}}, nil
}

// subject returns the record that a prompt is about.
func (s *Server) subject(ctx context.Context, snapshot *catalog.Snapshot, prompt string, p *query.Params, day disclosure.Day) (uri string, about result, err error) {
	switch prompt {
	case morningBriefing:
		q := url.Values{"from": {day.String()}, "to": {day.String()}}
		uri = searchURI + "?" + q.Encode()
		q.Set("limit", fmt.Sprint(query.MaxLimit))
		about, err = s.searchReports(ctx, snapshot, query.NewParams(q))
	case issuerBrief:
		var found *query.Issuer
		if found, err = s.findIssuer(ctx, snapshot, p.LimitedText("issuer", query.MaxSearch)); err == nil {
			uri = issuerURI + url.PathEscape(found.ID)
			about, err = s.showIssuer(snapshot, found)
		}
	case explainReport:
		uri = reportURI + url.PathEscape(strings.ToLower(p.Text("id")))
		about, err = s.getReport(ctx, snapshot, p)
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
	return nil, fault.New(fault.NotFound, "No issuer is known as %q: search_issuers finds them by name, ticker, NIF or ISIN.", text.Clip(what, 100))
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
