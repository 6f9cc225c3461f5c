package render

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/fault"
	"pregon/internal/text"
	"pregon/internal/text/mask"
)

// Message is what an error says to people.
type Message struct {
	Text    string
	Foreign bool // it is English on a page in another language
}

// messagesFile has the messages of errors: English formats, which are the codes of
// messages, with their Spanish ones.
//
//go:embed messages.json
var messagesFile []byte

// spanishMessages returns the Spanish formats by the keys of the English ones.
func spanishMessages() (map[string]string, error) {
	d := json.NewDecoder(bytes.NewReader(messagesFile))
	var all map[string]string
	if err := d.Decode(&all); err != nil {
		return nil, err
	}
	out := make(map[string]string, len(all))
	for en, es := range all {
		if err := checkText(bilingual{ES: es, EN: en}); err != nil {
			return nil, err
		}
		out[messageKey(en)] = es
	}
	return out, nil
}

// messageKey returns what a message has in common as a sentence and as a part of one.
func messageKey(format string) string {
	first, size := utf8.DecodeRuneInString(format)
	return string(unicode.ToLower(first)) + strings.TrimSuffix(format[size:], ".")
}

// Message returns a message of an error in the language of the edition. The parts are those
// of the message, if they are known.
func (e Edition) Message(message string, parts fault.Text) Message {
	if e.Language == English || message == "" {
		return Message{Text: message}
	}
	if parts.Format == "" || messageKey(mask.Credentials(parts.String())) != messageKey(message) {
		parts = fault.Text{Format: message} // the message was changed since
	}
	worded, known := e.wordParts(parts)
	if !known {
		return Message{Text: message, Foreign: true}
	}
	if strings.HasSuffix(message, ".") {
		worded = text.Sentence(worded)
	}
	return Message{Text: mask.Credentials(worded)}
}

// wordParts returns a text in Spanish. Its arguments may be texts too.
func (e Edition) wordParts(t fault.Text) (worded string, known bool) {
	if (t.Format == "%s" || t.Format == "%v") && len(t.Args) == 1 {
		return e.wordArgument(t.Args[0])
	}
	format, known := e.messages[messageKey(t.Format)]
	if !known || len(t.Args) == 0 {
		return format, known
	}
	args := make([]any, len(t.Args))
	for i, arg := range t.Args {
		args[i] = arg
		if inner, known := e.wordArgument(arg); known {
			args[i] = inner
		}
	}
	return fault.Text{Format: format, Args: args}.String(), true
}

// wordArgument returns an argument of a text in Spanish, if it is a text.
func (e Edition) wordArgument(arg any) (worded string, known bool) {
	switch arg := arg.(type) {
	case string:
		worded, known = e.messages[messageKey(arg)]
		return worded, known
	case fault.Alternatives:
		return arg.Join("o"), true
	case fault.Text:
		return e.wordParts(arg)
	case *fault.Error:
		return e.wordParts(arg.Parts())
	case error:
		return e.wordArgument(arg.Error())
	}
	return "", false
}

// Said returns a message that was stored or is part of an answer, without its parts.
func (e Edition) Said(message string) Message { return e.Message(message, fault.Text{}) }
