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
	"unicode/utf16"

	"pregon/internal/push/alert"
)

// Chat is a stand-in for the service of a chat. It refuses what the documentation of the
// service says that it refuses, and keeps what it accepts.
type Chat struct {
	Kind    alert.Kind
	BaseURL string // of the service

	mu       sync.Mutex
	answers  []Answer
	received []Received
	refused  []string
}

// Answer is what a service answers in the place of accepting a message.
type Answer struct {
	Status int
	Header map[string]string
	Body   string
	// Do, if not nil, answers in the place of the fields above.
	Do http.HandlerFunc
}

// Received is a message that was accepted.
type Received struct {
	Path   string // with the query
	Header http.Header
	Body   map[string]any
	// Shown is all texts of the message, as people see them but for markup.
	Shown string
}

// StartChat starts a stand-in that ends with the test. The answers are given to the first
// requests, in their order.
func StartChat(t testing.TB, kind alert.Kind, answers ...Answer) *Chat {
	t.Helper()
	c := &Chat{Kind: kind, answers: answers}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.BaseURL = server.URL
	return c
}

// Address returns an address of the service, as a person copies it.
func (c *Chat) Address() string {
	return c.BaseURL + map[alert.Kind]string{
		alert.Slack:      "/services/T0123/B0123/geheim",
		alert.Discord:    "/api/webhooks/123456789/geheim_token-1",
		alert.Teams:      "/workflows/0123/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers&sv=1.0&sig=geheim",
		alert.Mattermost: "/hooks/geheim0123",
		alert.Ntfy:       "/geheim-topic",
		alert.Gotify:     "/message?token=geheim",
	}[c.Kind]
}

// Then adds answers for the next requests.
func (c *Chat) Then(answers ...Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = append(c.answers, answers...)
}

// Received returns the accepted messages.
func (c *Chat) Received() []Received {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Received(nil), c.received...)
}

// Refused returns why requests were refused that the real service would refuse, too.
func (c *Chat) Refused() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.refused...)
}

func (c *Chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	c.mu.Lock()
	var next *Answer
	if len(c.answers) > 0 {
		next = &c.answers[0]
		c.answers = c.answers[1:]
	}
	c.mu.Unlock()
	if next != nil {
		next.serve(w, r)
		return
	}
	got, status, refusal := c.accept(r, raw)
	c.mu.Lock()
	defer c.mu.Unlock()
	if refusal != "" {
		c.refused = append(c.refused, refusal)
		http.Error(w, refusal, http.StatusBadRequest)
		return
	}
	c.received = append(c.received, got)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "ok")
}

func (a *Answer) serve(w http.ResponseWriter, r *http.Request) {
	if a.Do != nil {
		a.Do(w, r)
		return
	}
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body)
}

// accept checks a request as the service does.
func (c *Chat) accept(r *http.Request, raw []byte) (got Received, status int, refusal string) {
	switch {
	case r.Method != http.MethodPost:
		return got, 0, "the method is " + r.Method
	case r.Header.Get("Content-Type") != "application/json":
		return got, 0, "the content type is " + r.Header.Get("Content-Type")
	}
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		return got, 0, "the body is not JSON: " + err.Error()
	}
	got = Received{
		Path:   r.URL.RequestURI(),
		Header: r.Header,
		Body:   body,
	}
	status = http.StatusOK
	switch c.Kind {
	case alert.Slack:
		refusal = checkSlack(&got)
	case alert.Discord:
		refusal = checkDiscord(&got)
	case alert.Teams:
		status = http.StatusAccepted
		refusal = checkTeams(&got, len(raw))
	case alert.Mattermost:
		got.Shown = text(body["text"])
		refusal = longer("text", got.Shown, 16383)
	case alert.Ntfy:
		refusal = checkNtfy(&got)
	case alert.Gotify:
		refusal = checkGotify(&got)
	}
	return got, status, refusal
}

// text returns a string of a decoded body, or "".
func text(v any) string {
	s, _ := v.(string)
	return s
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// longer says that a text is empty, or has more UTF-16 units than a limit.
func longer(name, s string, limit int) string {
	n := len(utf16.Encode([]rune(s)))
	switch {
	case strings.TrimSpace(s) == "":
		return name + " is empty"
	case n > limit:
		return fmt.Sprintf("%s has %d characters, more than %d", name, n, limit)
	}
	return ""
}

// checkSlack: https://docs.slack.dev/reference/block-kit/blocks and
// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
func checkSlack(got *Received) string {
	fallback := text(got.Body["text"])
	if problem := longer("text", fallback, 4000); problem != "" {
		return problem
	}
	shown := []string{fallback}
	blocks := list(got.Body["blocks"])
	if len(blocks) == 0 || len(blocks) > 50 {
		return fmt.Sprintf("%d blocks", len(blocks))
	}
	for _, b := range blocks {
		if object(b)["type"] != "rich_text" || len(list(object(b)["elements"])) == 0 {
			return "invalid_blocks"
		}
		for _, section := range list(object(b)["elements"]) {
			elements := list(object(section)["elements"])
			if object(section)["type"] != "rich_text_section" || len(elements) == 0 {
				return "invalid_blocks"
			}
			for _, e := range elements {
				element := object(e)
				kind := element["type"]
				link := text(element["url"])
				if kind != "text" && (kind != "link" || !strings.HasPrefix(link, "http")) || text(element["text"]) == "" {
					return fmt.Sprintf("invalid_blocks: %v", element)
				}
				shown = append(shown, text(element["text"]), link)
			}
		}
	}
	got.Shown = strings.Join(shown, "\n")
	return ""
}

// checkDiscord: https://docs.discord.com/developers/resources/message#embed-object-embed-limits
func checkDiscord(got *Received) string {
	if !strings.Contains(got.Path, "wait=true") {
		return "errors would not be reported"
	}
	embeds := list(got.Body["embeds"])
	if len(embeds) == 0 || len(embeds) > 10 {
		return fmt.Sprintf("%d embeds", len(embeds))
	}
	mentions, ok := object(got.Body["allowed_mentions"])["parse"].([]any)
	if !ok || len(mentions) > 0 {
		return "people may be mentioned"
	}
	all := ""
	for _, e := range embeds {
		title, description := text(object(e)["title"]), text(object(e)["description"])
		if problem := longer("title", title, 256) + longer("description", description, 4096); problem != "" {
			return problem
		}
		all += title + "\n" + description + "\n"
	}
	got.Shown = all
	return longer("all embeds", all, 6000)
}

// checkTeams: https://learn.microsoft.com/connectors/teams and
// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
func checkTeams(got *Received, size int) string {
	if size > 28<<10 {
		return fmt.Sprintf("%d bytes", size)
	}
	attachments := list(got.Body["attachments"])
	if got.Body["type"] != "message" || len(attachments) != 1 {
		return "it is not a message with one attachment"
	}
	attachment := object(attachments[0])
	card := object(attachment["content"])
	if attachment["contentType"] != "application/vnd.microsoft.card.adaptive" || card["type"] != "AdaptiveCard" || text(card["version"]) == "" {
		return "it is not an Adaptive Card"
	}
	var shown []string
	for _, b := range list(card["body"]) {
		if object(b)["type"] != "RichTextBlock" {
			return fmt.Sprintf("a block of the type %v", object(b)["type"])
		}
		for _, r := range list(object(b)["inlines"]) {
			run := object(r)
			if run["type"] != "TextRun" || text(run["text"]) == "" {
				return fmt.Sprintf("a run %v", run)
			}
			shown = append(shown, text(run["text"]), text(object(run["selectAction"])["url"]))
		}
	}
	for _, a := range list(card["actions"]) {
		if object(a)["type"] != "Action.OpenUrl" || text(object(a)["title"]) == "" {
			return fmt.Sprintf("an action %v", a)
		}
		shown = append(shown, text(object(a)["title"]), text(object(a)["url"]))
	}
	got.Shown = strings.Join(shown, "\n")
	return longer("the card", got.Shown, 28<<10)
}

// checkNtfy: https://docs.ntfy.sh/publish/#publish-as-json
func checkNtfy(got *Received) string {
	if path, _, _ := strings.Cut(got.Path, "?"); path != "/" {
		return "JSON is published to the server, not to " + path
	}
	body := text(got.Body["message"])
	if len(body) > 4096 {
		return fmt.Sprintf("the message has %d bytes and would be an attachment", len(body))
	}
	got.Shown = text(got.Body["title"]) + "\n" + body + "\n" + text(got.Body["click"])
	if text(got.Body["topic"]) == "" {
		return "the topic is missing"
	}
	return longer("message", body, 4096)
}

// checkGotify: https://gotify.net/api-docs#/message/createMessage
func checkGotify(got *Received) string {
	if got.Path != "/message" || got.Header.Get("X-Gotify-Key") == "" {
		return "the path is " + got.Path + ", or the key is missing"
	}
	got.Shown = text(got.Body["title"]) + "\n" + text(got.Body["message"])
	if _, ok := got.Body["priority"].(float64); !ok {
		return "the priority is not a number"
	}
	return longer("message", text(got.Body["message"]), 64<<10)
}
