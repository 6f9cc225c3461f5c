package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/auth/secret"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/text"
)

// tool is a tool: its description in tools.json and its implementation.
type tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	View         string          `json:"view"`       // URI of the view of its results
	Scope        string          `json:"scope"`      // of callers with a credential
	Credential   bool            `json:"credential"` // a credential is required
	IDs          string          `json:"ids"`        // the tool that finds its ids
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`

	properties []property
	required   map[string]bool
	answer     answer
}

// result is the result of a tool: JSON for programs, and a short text.
type result struct {
	json []byte
	text string
}

//go:embed tools.json
var toolsJSON []byte

// answer is the implementation of a tool.
type answer func(*Server, context.Context, *catalog.Snapshot, *query.Params) (result, error)

var tools = loadTools(map[string]answer{
	"search_reports": (*Server).searchReports,
	"get_report":     (*Server).getReport,
	"read_document":  (*Server).readDocument,
	"search_issuers": (*Server).searchIssuers,
	"get_issuer":     (*Server).getIssuer,
	"get_analytics":  (*Server).getAnalytics,
	"service_status": (*Server).serviceStatus,
})

func loadTools(answers map[string]answer) []*tool {
	var all []*tool
	if err := json.Unmarshal(toolsJSON, &all); err != nil {
		panic("mcp: tools.json: " + err.Error())
	}
	for _, t := range all {
		var schema struct {
			Required   []string        `json:"required"`
			Properties json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(t.InputSchema, &schema); err != nil {
			panic("mcp: tools.json: " + err.Error())
		}
		t.properties, t.required = propertiesOf(schema.Properties), map[string]bool{}
		for _, name := range schema.Required {
			t.required[name] = true
		}
		t.answer = answers[t.Name]
	}
	return all
}

func toolNamed(name string) *tool {
	for _, t := range tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func errNoTool(name string) error {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return fault.New(fault.Invalid, "unknown tool '%s': use %s.", text.Clip(name, 100), strings.Join(names, ", "))
}

// anyObject is the schema of any object.
var anyObject = json.RawMessage(`{"type":"object"}`)

// addTools registers the tools without their schemas, which the SDK would parse
// at every call. listTools returns them complete.
func (s *Server) addTools() {
	for _, t := range tools {
		s.sdk.AddTool(&sdk.Tool{Name: t.Name, InputSchema: anyObject}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.call(ctx, t, req.Params.Arguments), nil
		})
	}
}

// offeredTools are the tools as tools/list returns them.
var offeredTools = func() (all []*sdk.Tool) {
	no := false
	for _, t := range tools {
		offered := &sdk.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
		}
		if t.View != "" {
			offered.Meta = sdk.Meta{"ui": map[string]any{"resourceUri": t.View}}
		}
		all = append(all, offered)
	}
	return all
}()

// listTools replaces the tools in the SDK's list by the complete ones.
func listTools(result sdk.Result, err error) (sdk.Result, error) {
	if list, ok := result.(*sdk.ListToolsResult); ok && err == nil {
		list.Tools = offeredTools
	}
	return result, err
}

// call runs a tool. An error is a result too, so that the model can read it and
// try again.
func (s *Server) call(ctx context.Context, t *tool, arguments json.RawMessage) *sdk.CallToolResult {
	out, err := s.ask(ctx, t, arguments)
	if err != nil {
		text := s.errorText(ctx, t.Name, err)
		if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind == fault.NotFound && e.Code == "" {
			text += " Find ids with " + t.IDs + "."
		}
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	}
	return ctx.Value(resultKey{}).(*encodedResult).set(out)
}

func (s *Server) ask(ctx context.Context, t *tool, arguments json.RawMessage) (result, error) {
	p, err := t.read(arguments)
	if err != nil {
		return result{}, err
	}
	snapshot, err := s.snapshot(t.Name)
	if err != nil {
		return result{}, err
	}
	return t.answer(s, ctx, snapshot, p)
}

// snapshot returns the catalogue for a tool. service_status works before the
// first data is loaded.
func (s *Server) snapshot(tool string) (*catalog.Snapshot, error) {
	if tool == "service_status" {
		return s.o.Query.Loaded()
	}
	return s.o.Query.Snapshot()
}

// errorText says what was wrong and how to fix it. Internal errors are logged,
// and their text is not shown.
func (s *Server) errorText(ctx context.Context, what string, err error) string {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind == fault.Internal {
		if ctx.Err() == nil {
			s.o.Logger.ErrorContext(ctx, "a request failed", "mcp", what, "err", err)
		}
		return "Something went wrong on our side. Try again in a moment."
	}
	if len(e.Fields) == 0 {
		return secret.Mask(e.Message)
	}
	lines := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		value := text.Clip(secret.Mask(f.Value), 100)
		switch allowed := enumOf(f.Name); {
		case value == "":
			lines[i] = f.Name + " " + f.Reason
		case allowed != "":
			lines[i] = fmt.Sprintf("unknown %s '%s': use %s", f.Name, value, allowed)
		default:
			lines[i] = fmt.Sprintf("%s '%s' %s", f.Name, value, f.Reason)
		}
	}
	return text.ClipBytes(strings.Join(lines, "; "), maxText) + "."
}

// enumOf lists the values of an enumerated argument. An argument has the same
// values in every tool.
func enumOf(name string) string {
	for _, t := range tools {
		for _, p := range t.properties {
			if n := len(p.Enum); p.name == name && n > 1 {
				return strings.Join(p.Enum[:n-1], ", ") + " or " + p.Enum[n-1]
			}
		}
	}
	return ""
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

// nowInMadrid returns the time for models, which do not know the day.
func nowInMadrid() string { return "It is " + clock(time.Now()) + " in Madrid." }

const minutes = "2006-01-02 15:04"

// clock formats a time in Madrid to the minute.
func clock(t time.Time) string { return query.Madrid(t).Format(minutes) }

// simulated returns the warning that precedes texts about the simulated market.
func (s *Server) simulated() string {
	if s.o.Query.Source() == "demo" {
		return "SIMULATED MARKET: companies and reports are fictional.\n"
	}
	return ""
}
