package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
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
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": text}}},
			"usage":   map[string]int{"prompt_tokens": 100, "completion_tokens": len(text) / 4, "total_tokens": 100 + len(text)/4},
		})
	}
}

// Sentence is a sentence of a summary.
type Sentence struct {
	Text  string `json:"text"`
	Page  int    `json:"page"`
	Quote string `json:"quote"`
}

// Summarise answers with sentences in the format of summaries.
func Summarise(sentences ...Sentence) Answer {
	text, err := json.Marshal(map[string]any{"sentences": sentences})
	if err != nil {
		panic(err) // strings and numbers
	}
	return Say(string(text))
}

var (
	pageMark = regexp.MustCompile(`^\[página (\d+) `)
	sentence = regexp.MustCompile(`^\p{Lu}.{40,280}?\p{L}{3,}\.(?: |$)`)
)

// Copy answers with the first sentence of the document, which is a valid summary
// of any document.
func Copy() Answer {
	return Think(func(b Body) string {
		page := 0
		for line := range strings.Lines(b.User()) {
			line = strings.TrimSpace(line)
			if m := pageMark.FindStringSubmatch(line); m != nil {
				page, _ = strconv.Atoi(m[1])
			}
			if found := strings.TrimSpace(sentence.FindString(line)); page > 0 && found != "" {
				text, _ := json.Marshal(map[string]any{"sentences": []Sentence{{found, page, found}}})
				return string(text)
			}
		}
		return `{"sentences":[]}`
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
