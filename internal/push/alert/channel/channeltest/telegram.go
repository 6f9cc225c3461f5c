package channeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"
)

// TelegramToken is the token of the bot of the stand-in.
const TelegramToken = "123456789:geheim-geheim-geheim-geheim-geheim"

// Telegram is a stand-in for the Bot API: https://core.telegram.org/bots/api
type Telegram struct {
	BaseURL string

	mu      sync.Mutex
	answers []Answer // of sendMessage
	sent    []TelegramText
	refused []string
	updates []string // JSON, from the number first on
	first   int64
	polls   int
	arrived chan struct{} // closed when an update is added
}

// TelegramText is a message that was accepted.
type TelegramText struct {
	Chat string
	HTML string
	Text string // without the elements
}

// StartTelegram starts a stand-in that ends with the test.
func StartTelegram(t testing.TB, answers ...Answer) *Telegram {
	t.Helper()
	b := NewTelegram(answers...)
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.BaseURL = server.URL
	return b
}

// NewTelegram returns a stand-in that does not listen.
func NewTelegram(answers ...Answer) *Telegram {
	return &Telegram{answers: answers, first: 1000, arrived: make(chan struct{})}
}

// Type sends a text of a person to the bot.
func (b *Telegram) Type(chat int64, kind, text string) {
	quoted, _ := json.Marshal(text) // of a string: cannot fail
	b.Add(fmt.Sprintf(`"message": {"text": %s, "chat": {"id": %d, "type": %q}, `+
		`"from": {"id": %[2]d, "username": "ana_%[2]d", "language_code": "es-ES"}}`, quoted, chat, kind))
}

// Block blocks the bot.
func (b *Telegram) Block(chat int64) {
	b.Add(fmt.Sprintf(`"my_chat_member": {"chat": {"id": %d, "type": "private"}, "from": {"id": %[1]d}, `+
		`"new_chat_member": {"status": "kicked"}}`, chat))
}

// Add adds an update: the members of its object.
func (b *Telegram) Add(members string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	number := b.first + int64(len(b.updates))
	b.updates = append(b.updates, fmt.Sprintf(`{"update_id": %d, %s}`, number, members))
	close(b.arrived)
	b.arrived = make(chan struct{})
}

// Waiting returns how many updates were not confirmed.
func (b *Telegram) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.updates)
}

// Sent returns the accepted messages.
func (b *Telegram) Sent() []TelegramText {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]TelegramText(nil), b.sent...)
}

// Refused returns why requests were refused that Telegram would refuse, too.
func (b *Telegram) Refused() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.refused...)
}

func (b *Telegram) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method, ok := strings.CutPrefix(r.URL.Path, "/bot"+TelegramToken+"/")
	raw, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	switch {
	case err != nil:
	case !ok:
		fails(w, http.StatusUnauthorized, "Unauthorized")
	case r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json":
		fails(w, http.StatusBadRequest, "Bad Request: it is not JSON")
	case method == "getMe":
		answers(w, `{"id": 123456789, "is_bot": true, "username": "pregon_test_bot"}`)
	case method == "getUpdates":
		b.getUpdates(w, r, raw)
	case method == "sendMessage":
		b.sendMessage(w, r, raw)
	default:
		fails(w, http.StatusNotFound, "Not Found: method not found")
	}
}

func answers(w http.ResponseWriter, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"ok": true, "result": %s}`, result)
}

func fails(w http.ResponseWriter, status int, description string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"ok": false, "error_code": %d, "description": %q}`, status, description)
}

// getUpdates answers at once if there are updates, and otherwise when one arrives.
func (b *Telegram) getUpdates(w http.ResponseWriter, r *http.Request, raw []byte) {
	var request struct {
		Offset int64 `json:"offset"`
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		fails(w, http.StatusBadRequest, "Bad Request")
		return
	}
	b.mu.Lock()
	if b.polls > 0 {
		b.mu.Unlock()
		fails(w, http.StatusConflict, "Conflict: terminated by other getUpdates request")
		return
	}
	b.polls++
	defer func() {
		b.mu.Lock()
		b.polls--
		b.mu.Unlock()
	}()
	for len(b.updates) > 0 && b.first < request.Offset {
		b.updates = b.updates[1:]
		b.first++
	}
	arrived := b.arrived
	waiting := append([]string(nil), b.updates...)
	b.mu.Unlock()
	if len(waiting) == 0 {
		select {
		case <-arrived:
		case <-r.Context().Done():
			return
		}
		b.mu.Lock()
		waiting = append(waiting, b.updates...)
		b.mu.Unlock()
	}
	answers(w, "["+strings.Join(waiting, ",")+"]")
}

// sendMessage: https://core.telegram.org/bots/api#sendmessage
func (b *Telegram) sendMessage(w http.ResponseWriter, r *http.Request, raw []byte) {
	var request struct {
		Chat      string `json:"chat_id"`
		Text      string `json:"text"`
		ParseMode string `json:"parse_mode"`
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		fails(w, http.StatusBadRequest, "Bad Request")
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.answers) > 0 {
		next := b.answers[0]
		b.answers = b.answers[1:]
		next.serve(w, r)
		return
	}
	shown, problem := parseTelegram(request.Text)
	switch {
	case request.Chat == "" || strings.HasPrefix(request.Chat, "0"):
		problem = "chat not found"
	case request.ParseMode != "HTML":
		problem = "unsupported parse_mode"
	case problem == "":
		problem = longer("message text", shown, 4096)
	}
	if problem != "" {
		b.refused = append(b.refused, problem)
		fails(w, http.StatusBadRequest, "Bad Request: "+problem)
		return
	}
	b.sent = append(b.sent, TelegramText{Chat: request.Chat, HTML: request.Text, Text: shown})
	answers(w, `{"message_id": 1}`)
}

// parseTelegram reads the HTML that Telegram accepts: its elements, four entities, and no
// other "<", ">" or "&". See https://core.telegram.org/bots/api#html-style
func parseTelegram(source string) (shown, problem string) {
	var open []string
	tokens := html.NewTokenizer(strings.NewReader(source))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				return "", "can't parse entities: an element is not closed"
			}
			return shown, ""
		case html.TextToken:
			written := string(tokens.Raw())
			if strings.ContainsAny(written, "<>") || foreignEntity(written) {
				return "", "can't parse entities: " + written
			}
			shown += html.UnescapeString(written)
		case html.StartTagToken:
			token := tokens.Token()
			if token.Data != "b" && token.Data != "a" {
				return "", "can't parse entities: unsupported start tag " + token.Data
			}
			open = append(open, token.Data)
		case html.EndTagToken:
			token := tokens.Token()
			if len(open) == 0 || open[len(open)-1] != token.Data {
				return "", "can't parse entities: unexpected end tag " + token.Data
			}
			open = open[:len(open)-1]
		default:
			return "", "can't parse entities"
		}
	}
}

// foreignEntity reports whether a text has an ampersand that does not begin one of the four
// entities.
func foreignEntity(s string) bool {
	for rest := s; ; {
		_, after, found := strings.Cut(rest, "&")
		if !found {
			return false
		}
		name, _, _ := strings.Cut(after, ";")
		if name != "lt" && name != "gt" && name != "amp" && name != "quot" {
			return true
		}
		rest = after
	}
}
