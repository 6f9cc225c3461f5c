package mcp

import (
	"context"
	"encoding/json"

	"pregon/internal/mcp/tools"
	"pregon/internal/text"
)

// offeredTool is a tool as tools/list returns it.
type offeredTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  annotations     `json:"annotations"`
	Meta         object          `json:"_meta,omitempty"`
}

// annotations are hints about a tool. All tools only read.
type annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

func offeredTools() (all []offeredTool) {
	for _, t := range tools.All {
		offered := offeredTool{
			t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema,
			annotations{ReadOnly: true},
			nil,
		}
		if t.View != "" {
			offered.Meta = object{"ui": object{"resourceUri": t.View}}
		}
		all = append(all, offered)
	}
	return all
}

// callTool answers tools/call. An error about the arguments is a result too, so that
// the model can read it and try again.
func (s *Server) callTool(ctx context.Context, m message) (reply, error) {
	t, err := tools.Named(m.name)
	if err != nil {
		return reply{}, err
	}
	snapshot, err := s.tools.Snapshot(t)
	if err != nil {
		return reply{}, err
	}
	out, err := s.tools.Call(ctx, t, snapshot, m.params["arguments"])
	if err != nil {
		s.logInternal(ctx, t.Name, err)
		return reply{object: append(appendText(nil, t.ErrorText(err)), `,"isError":true}`...)}, nil
	}
	return reply{tool: &out}, nil
}

// appendResult appends the result of a tool.
func appendResult(b []byte, out *tools.Result) []byte {
	b = appendText(b, out.Text)
	return append(append(append(b, `,"structuredContent":`...), out.JSON...), '}')
}

// appendText appends the start of a result, with its text.
func appendText(b []byte, s string) []byte {
	return append(text.AppendJSON(append(b, `{"content":[{"type":"text","text":`...), s), "}]"...)
}
