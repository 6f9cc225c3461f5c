package render

import (
	"strings"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/server/problem"
)

// spanish returns an edition that words errors.
func spanish(t *testing.T) Edition {
	t.Helper()
	messages, err := spanishMessages()
	if err != nil {
		t.Fatal(err)
	}
	return Edition{Language: Spanish, vocabulary: &vocabulary{messages: messages}}
}

// An error is worded with its parts, which may be errors too, as a sentence or as a part of
// one.
func TestMessage(t *testing.T) {
	t.Parallel()
	es := spanish(t)
	inner := fault.New(fault.Invalid, "the host %s is %s", "10.0.0.1", "a private address")
	field := fault.InvalidField("url", "", "%v", inner).Fields[0]
	key := fault.Text{Format: "this key is not valid: %s", Args: []any{"an operator has blocked its owner"}}
	changed := fault.New(fault.NotFound, "There is no report %s.", "oir-1")
	tests := []struct {
		name, message string
		parts         fault.Text
		want          Message
	}{
		{"parameters", "There is no report oir-1.", changed.Text, Message{Text: "No existe la comunicación oir-1."}},
		{"an error in an error", field.Reason, field.Text, Message{Text: "el servidor 10.0.0.1 es una dirección privada"}},
		{"as a sentence", "This key is not valid: an operator has blocked its owner.", key, Message{Text: "Esta clave no es válida: un operador ha bloqueado su cuenta."}},
		{"without parts", "This key has expired.", fault.Text{}, Message{Text: "Esta clave ha caducado."}},
		{"of another message", "Something else.", changed.Text, Message{Text: "Something else.", Foreign: true}},
		{"unknown", "never said", fault.Text{Format: "never %s", Args: []any{"said"}}, Message{Text: "never said", Foreign: true}},
		{"none", "", fault.Text{}, Message{}},
	}
	for _, test := range tests {
		if got := es.Message(test.message, test.parts); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
	english := Edition{Language: English}
	if got := english.Message(field.Reason, field.Text); got != (Message{Text: field.Reason}) {
		t.Errorf("in English: %+v", got)
	}
}

// What looks like a credential is not shown, also if it is a part of a message.
func TestMessageIsMasked(t *testing.T) {
	t.Parallel()
	secret := "pregon_live_" + strings.Repeat("a1", 20)
	doc := problem.Of(fault.New(fault.NotFound, "There is no report %s.", secret))
	got := spanish(t).Message(doc.Detail, doc.Parts)
	if !strings.HasPrefix(got.Text, "No existe la comunicación pregon_live_") || strings.Contains(got.Text, secret) {
		t.Errorf("got %+v", got)
	}
}
