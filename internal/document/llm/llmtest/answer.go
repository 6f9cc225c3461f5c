package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Answer answers one request. It returns when closed is closed.
type Answer func(w http.ResponseWriter, r *http.Request, b Body, closed <-chan struct{})

// Say answers with a text.
func Say(text string) Answer {
	return Think(func(Body) string { return text })
}

// Think answers with a function of the question.
func Think(think func(Body) string) Answer {
	return func(w http.ResponseWriter, _ *http.Request, b Body, _ <-chan struct{}) {
		text := think(b)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{ // fails if the client has disconnected
			"id": "chatcmpl-1", "object": "chat.completion", "model": b.Model,
			"choices": []any{map[string]any{
				"index": 0, "finish_reason": "stop",
				"message": map[string]string{"role": "assistant", "content": text},
			}},
			"usage": map[string]int{
				"prompt_tokens": 100, "completion_tokens": len(text) / 4,
				"total_tokens": 100 + len(text)/4,
			},
		})
	}
}

// Item is a sentence of a summary that a model proposes.
type Item struct {
	Text     string
	Sources  []string // sentences of the document, or their beginnings
	Language string   // empty: es
}

// Summarise answers with items in the format of summaries, and with yes if it is
// asked to verify one.
func Summarise(items ...Item) Answer {
	return Both(Think(func(b Body) string { return b.Cite(items...) }), Verdict("yes"))
}

// Both passes questions to write a summary to one answer and questions to verify a
// sentence to the other.
func Both(write, verify Answer) Answer {
	return func(w http.ResponseWriter, r *http.Request, b Body, closed <-chan struct{}) {
		if b.Claim() != "" {
			verify(w, r, b, closed)
		} else {
			write(w, r, b, closed)
		}
	}
}

// Verdict answers a question to verify a sentence.
func Verdict(follows string) Answer { return Say(`{"follows":"` + follows + `"}`) }

var (
	numbered = regexp.MustCompile(`(?m)^\[(\d+)\] (.*)$`)
	claimed  = regexp.MustCompile(`(?s)\nCLAIM \w+\n(.*)\nEND \w+$`)
)

// Cite returns the JSON of items, with the numbers that the prompt gives their
// sources. A source that was not sent has the number 0.
func (b Body) Cite(items ...Item) string {
	type answer struct {
		Text     string `json:"text"`
		Sources  []int  `json:"sources"`
		Language string `json:"language"`
	}
	all := make([]answer, len(items))
	for n, item := range items {
		all[n] = answer{item.Text, []int{}, cmp.Or(item.Language, "es")}
		for _, source := range item.Sources {
			all[n].Sources = append(all[n].Sources, b.numberOf(source))
		}
	}
	text, err := json.Marshal(map[string]any{"items": all})
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(text)
}

func (b Body) numberOf(source string) int {
	for n, sentence := range b.Sentences() {
		if strings.HasPrefix(sentence, source) {
			return n + 1
		}
	}
	return 0
}

// Sentences returns the numbered sentences of a prompt.
func (b Body) Sentences() []string {
	var all []string
	for _, m := range numbered.FindAllStringSubmatch(b.User(), -1) {
		all = append(all, m[2])
	}
	return all
}

// Claim returns the sentence to verify, or "" if the question is another one.
func (b Body) Claim() string {
	if m := claimed.FindStringSubmatch(b.User()); m != nil {
		return m[1]
	}
	return ""
}

// Copy answers with the first sentence of the document, which is a valid summary
// of any document.
func Copy() Answer {
	return Think(func(b Body) string {
		if all := b.Sentences(); len(all) > 0 {
			return b.Cite(Item{Text: all[0], Sources: all[:1]})
		}
		return `{"items":[]}`
	})
}

// Status answers with a status, and headers given as name, value, name…
func Status(status int, headers ...string) Answer {
	return func(w http.ResponseWriter, _ *http.Request, _ Body, _ <-chan struct{}) {
		for n := 0; n+1 < len(headers); n += 2 {
			w.Header().Set(headers[n], headers[n+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"message":"no","type":"test","code":"scripted"}}`)
	}
}

// RefuseFormats refuses requests with a response format, like endpoints that do
// not support it, and passes the others to the next answer.
func RefuseFormats(next Answer, kinds ...string) Answer {
	return func(w http.ResponseWriter, r *http.Request, b Body, closed <-chan struct{}) {
		for _, k := range kinds {
			if b.ResponseFormat.Type == k {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error":{"message":"'response_format' of type '%s' is not supported","param":"response_format"}}`, k)
				return
			}
		}
		next(w, r, b, closed)
	}
}

// Hang never answers.
func Hang() Answer {
	return func(_ http.ResponseWriter, r *http.Request, _ Body, closed <-chan struct{}) {
		select {
		case <-r.Context().Done():
		case <-closed:
		}
	}
}

// Drip answers one byte at a time and never ends.
func Drip(every time.Duration) Answer {
	return func(w http.ResponseWriter, r *http.Request, _ Body, closed <-chan struct{}) {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			if _, err := w.Write([]byte{' '}); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			select {
			case <-ticker.C:
			case <-r.Context().Done():
				return
			case <-closed:
				return
			}
		}
	}
}

// Raw answers with a body that is no chat completion.
func Raw(body string) Answer {
	return func(w http.ResponseWriter, _ *http.Request, _ Body, _ <-chan struct{}) {
		_, _ = io.WriteString(w, body)
	}
}

// Huge answers with more than the client reads.
func Huge(bytes int) Answer {
	return Say(strings.Repeat("x", bytes))
}

// Redirect answers with a redirect.
func Redirect(to string) Answer { return Status(http.StatusTemporaryRedirect, "Location", to) }

// Cut closes the connection without an answer.
func Cut() Answer {
	return func(_ http.ResponseWriter, _ *http.Request, _ Body, _ <-chan struct{}) { panic(http.ErrAbortHandler) }
}
