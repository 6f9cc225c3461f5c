package llm

import (
	"encoding/json"
	"net/http"
)

// format is the way in which a request asks for JSON.
type format int

const (
	bySchema format = iota
	asObject
	byPrompt // only the prompt asks for it
)

// dialect is the subset of the protocol that an endpoint supports.
type dialect struct {
	format        format
	newTokens     bool // max_completion_tokens instead of max_tokens
	noTemperature bool // the endpoint accepts only its default
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type request struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	Temperature         *int      `json:"temperature,omitempty"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
	ResponseFormat      any       `json:"response_format,omitempty"`
}

// request returns the request for a question.
func (d dialect) request(q question) request {
	r := request{Model: q.model, Messages: []message{{"system", q.system}, {"user", q.user}}}
	if !d.noTemperature {
		r.Temperature = new(int) // 0, for reproducible answers
	}
	if d.newTokens {
		r.MaxCompletionTokens = maxTokens
	} else {
		r.MaxTokens = maxTokens
	}
	switch {
	case len(q.schema) == 0 || d.format == byPrompt:
	case d.format == asObject:
		r.ResponseFormat = map[string]string{"type": "json_object"}
	default:
		r.ResponseFormat = map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": "answer", "strict": true, "schema": json.RawMessage(q.schema)},
		}
	}
	return r
}

// simpler returns the dialect to try after a refusal, if there is one: without the
// field that the endpoint rejects, or else with a simpler format.
func (d dialect) simpler(f *failure) (dialect, bool) {
	if f.status != http.StatusBadRequest && f.status != http.StatusUnprocessableEntity {
		return d, false
	}
	switch {
	case f.param == "max_tokens" && !d.newTokens:
		d.newTokens = true
	case f.param == "temperature" && !d.noTemperature:
		d.noTemperature = true
	case d.format < byPrompt:
		d.format++
	default:
		return d, false
	}
	return d, true
}
