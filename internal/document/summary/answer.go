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

// readAnswer finds the sentences in the answer of a model. Models put code fences,
// remarks and reasoning around the requested object; the last object counts.
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

// readObject reads the object at the start of a text. The length is 0 if there is
// no object. An object of another schema has no sentences.
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

// page is a page number. Some models write it as a string or omit it.
type page int

func (p *page) UnmarshalJSON(data []byte) error {
	n, err := strconv.Atoi(string(bytes.Trim(data, `"`)))
	if err != nil {
		n = 0 // all pages are searched for the quote
	}
	*p = page(n)
	return nil
}
