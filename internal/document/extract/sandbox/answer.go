package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"pregon/internal/document/extract"
)

// encodeAnswer returns the frame for the result of reading a document.
func encodeAnswer(t *extract.Text, err error, l extract.Limits) frame {
	if err == nil {
		var body bytes.Buffer
		enc := json.NewEncoder(&body)
		enc.SetEscapeHTML(false) // escapes would make the text longer
		if enc.Encode(t) == nil && body.Len() <= answerSize(l) {
			return frame{kind: text, body: body.Bytes()}
		}
		err = &extract.Unreadable{Reason: "its text is too long"}
	}
	if u, ok := errors.AsType[*extract.Unreadable](err); ok {
		return frame{kind: unreadable, body: short(u.Reason)}
	}
	if errors.Is(err, extract.ErrSitePage) {
		return frame{kind: sitePage}
	}
	return frame{kind: trouble, body: short(err.Error())}
}

// short cuts a message to the size that its frame allows.
func short(s string) []byte { return []byte(s[:min(len(s), maxMessage)]) }

var errInvalidAnswer = errors.New("the child's answer is invalid")

// decodeAnswer returns the result in the child's answer. Nothing in it is
// trusted: a document may have taken over the child. The error is
// errInvalidAnswer if the answer breaks the protocol.
func decodeAnswer(f frame, l extract.Limits) (*extract.Text, error) {
	switch f.kind {
	case text:
		var t extract.Text
		if !utf8.Valid(f.body) { // which json would replace
			return nil, fmt.Errorf("%w: it is not UTF-8", errInvalidAnswer)
		}
		if err := json.Unmarshal(f.body, &t); err != nil {
			return nil, fmt.Errorf("%w: %w", errInvalidAnswer, err)
		}
		if err := t.Validate(l); err != nil {
			return nil, fmt.Errorf("%w: %w", errInvalidAnswer, err)
		}
		return &t, nil
	case unreadable:
		return nil, &extract.Unreadable{Reason: extract.Tidy(string(f.body))}
	case sitePage:
		return nil, extract.ErrSitePage
	case trouble:
		return nil, errors.New(extract.Tidy(string(f.body)))
	}
	return nil, errInvalidAnswer
}
