package summary

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

const (
	longestAnswer = 64 << 10 // bytes
	mostObjects   = 64       // places where an answer may begin
	longestField  = 4 << 10  // bytes
)

var errNoAnswer = errors.New("the model's answer has no sentences in the form that was asked for")

// readAnswer finds the sentences in what a model said. Models put fences, talk
// and thoughts around the object they were asked for; the last one counts.
func readAnswer(text string) ([]Sentence, error) {
	if len(text) > longestAnswer {
		return nil, errors.New("the model's answer is too long")
	}
	var found []Sentence
	ok := false
	for tries := 0; tries < mostObjects; tries++ {
		n := strings.IndexByte(text, '{')
		if n < 0 {
			break
		}
		text = text[n:]
		sentences, length := readObject(text)
		if length == 0 {
			text = text[1:]
			continue
		}
		text = text[length:]
		if sentences != nil {
			found, ok = sentences, true
		}
	}
	if !ok {
		return nil, errNoAnswer
	}
	return found, nil
}

// readObject reads the object at the start of a text. Its length is 0 when
// there is none; there are no sentences when it is another one.
func readObject(text string) ([]Sentence, int) {
	var answer struct {
		Sentences []struct {
			Text  string `json:"text"`
			Page  page   `json:"page"`
			Quote string `json:"quote"`
		} `json:"sentences"`
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if decoder.Decode(&raw) != nil {
		return nil, 0
	}
	length := int(decoder.InputOffset())
	if json.Unmarshal(raw, &answer) != nil || answer.Sentences == nil {
		return nil, length
	}
	sentences := []Sentence{}
	for _, s := range answer.Sentences {
		if len(sentences) < mostProposed && len(s.Text) <= longestField && len(s.Quote) <= longestField {
			sentences = append(sentences, Sentence{s.Text, int(s.Page), s.Quote})
		}
	}
	return sentences, length
}

// page is a number that models also write as a string, or leave out.
type page int

func (p *page) UnmarshalJSON(data []byte) error {
	n, err := strconv.Atoi(string(bytes.Trim(data, `"`)))
	if err != nil {
		n = 0 // the quote is looked for anyway
	}
	*p = page(n)
	return nil
}
