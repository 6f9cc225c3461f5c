package summary

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
)

// Model is a language model. Complete receives the instructions, the data and the
// JSON schema of the answer.
type Model interface {
	Complete(ctx context.Context, system, user string, schema json.RawMessage) (string, error)
}

// ErrUnproved is the error if no sentence of a model could be proved.
var ErrUnproved = errors.New("no sentence of the model could be proved by the document")

// Write summarizes the document with a model and keeps the sentences that can be
// proved. After an error there is no summary by the model; the caller uses Extract.
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
