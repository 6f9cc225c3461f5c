package summary

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
)

// Model is a language model. It is given what to do, the data to do it with and
// the schema of the JSON that it should answer.
type Model interface {
	Complete(ctx context.Context, system, user string, schema json.RawMessage) (string, error)
}

// ErrUnproved is the error when no sentence of a model could be proved.
var ErrUnproved = errors.New("no sentence of the model could be proved by the document")

// Write has a model summarise the document, and keeps what can be proved. With
// an error there is no summary by the model, and the one of Extract stands.
func Write(ctx context.Context, m Model, s Source) ([]Sentence, []Dropped, error) {
	secret := rand.Text()
	text := textFor(s, secret)
	if text == "" {
		return nil, nil, errors.New("the document has no text to summarise")
	}
	answer, err := m.Complete(ctx, systemFor(secret), userPrompt(s, secret, text), answerSchema)
	if err != nil {
		return nil, nil, err
	}
	proposed, err := readAnswer(answer)
	if err != nil {
		return nil, nil, err
	}
	kept, dropped := Judge(s, proposed)
	if len(kept) == 0 {
		return nil, dropped, ErrUnproved
	}
	return kept, dropped, nil
}
