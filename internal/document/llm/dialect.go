package llm

import (
	"encoding/json"
	"net/http"
	"sync"
)

// format is how an endpoint is asked for JSON.
type format int

const (
	bySchema format = iota
	asObject
	inWords // the prompt asks for it, nothing else
)

// dialect is what an endpoint understands. All of them speak the protocol, none
// of them all of it.
type dialect struct {
	format        format
	newTokens     bool // max_completion_tokens instead of max_tokens
	noTemperature bool // only the model's own
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

// request says a question in the dialect.
func (d dialect) request(o Options, q question) request {
	r := request{Model: o.Model, Messages: []message{{"system", q.system}, {"user", q.user}}}
	if !d.noTemperature {
		r.Temperature = new(int) // 0: the same question, the same answer
	}
	if d.newTokens {
		r.MaxCompletionTokens = o.MaxTokens
	} else {
		r.MaxTokens = o.MaxTokens
	}
	switch {
	case len(q.schema) == 0 || d.format == inWords:
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

// simpler returns the dialect to try after a refusal, if there is one: without
// what the endpoint named, else with less of a format.
func (d dialect) simpler(f *failure) (dialect, bool) {
	if f.status != http.StatusBadRequest && f.status != http.StatusUnprocessableEntity {
		return d, false
	}
	switch {
	case f.param == "max_tokens" && !d.newTokens:
		d.newTokens = true
	case f.param == "temperature" && !d.noTemperature:
		d.noTemperature = true
	case d.format < inWords:
		d.format++
	default:
		return d, false
	}
	return d, true
}

// dialects remembers what an endpoint was found to understand.
type dialects struct {
	mu    sync.Mutex
	known dialect // guarded by mu
}

func (d *dialects) get() dialect {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known
}

// learn is told only of what brought an answer: a refusal may have had other
// reasons.
func (d *dialects) learn(known dialect) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known = known
}
