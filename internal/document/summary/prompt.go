package summary

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	plain "pregon/internal/text"
)

const (
	mostText      = 24_000 // characters of the document that a model is sent
	mostBeginning = 10_000 // of them, taken from the beginning; the rest are the best sentences
	mostTitle     = 400
)

// answerSchema is the JSON schema of the requested answer.
var answerSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["items"],"properties":{` +
	`"items":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["text","sources","language"],"properties":` +
	`{"text":{"type":"string"},"sources":{"type":"array","items":{"type":"integer"}},"language":{"type":"string","enum":["es","en"]}}}}}}`)

// writePrompt contains the instructions for the model, with SECRET for the secret of
// the call.
//
//go:embed prompts/write.txt
var writePrompt string

// userPrompt wraps the numbered sentences. The author of the document does not know
// the secret and cannot forge the last line; a forged number only names the sentence
// that really has it.
func userPrompt(s Source, secret string, numbered []candidate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INICIO %s\n", secret)
	for _, line := range []struct{ name, value string }{
		{"Entidad", s.Company},
		{"Asunto", s.Title},
		{"Categoría", s.Category},
	} {
		if value := visible(line.value); value != "" && !speaksToMachine(value) {
			fmt.Fprintf(&b, "%s: %s\n", line.name, plain.Clip(value, mostTitle))
		}
	}
	for n, c := range numbered {
		fmt.Fprintf(&b, "[%d] %s\n", n+1, visible(c.Quote))
	}
	fmt.Fprintf(&b, "FIN %s\n\nResume el documento según las reglas.", secret)
	return b.String()
}

// numbered returns the sentences that are sent to a model: the beginning of the
// document, then those with the most news, in the order of the document.
func numbered(s Source) []candidate {
	all := candidates(s)
	rate(s, all)
	left := mostText
	take := func(c candidate) bool {
		size := utf8.RuneCountInString(c.Quote)
		if size > left {
			return false
		}
		left -= size
		return true
	}
	beginning := 0
	for beginning < len(all) && left > mostText-mostBeginning && take(all[beginning]) {
		beginning++
	}
	rest := slices.Clone(all[beginning:])
	slices.SortStableFunc(rest, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	rest = slices.DeleteFunc(rest, func(c candidate) bool { return !take(c) })
	slices.SortFunc(rest, func(a, b candidate) int { return cmp.Compare(a.order, b.order) })
	return append(all[:beginning:beginning], rest...)
}
