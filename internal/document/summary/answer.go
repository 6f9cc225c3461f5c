package summary

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

const (
	longestAnswer = 64 << 10 // bytes
	mostObjects   = 64       // places where an answer may begin
	longestField  = 4 << 10  // bytes
	mostItems     = 12       // more than the three in each language that are used
)

var errNoAnswer = errors.New("the model's answer does not have items in the requested form")

// item is a sentence that a model proposes.
type item struct {
	Text     string           `json:"text"`
	Sources  []sentenceNumber `json:"sources"`
	Language string           `json:"language"`
}

// sentenceNumber is the number of a sentence. Some models write it as a string.
type sentenceNumber int32

func (n *sentenceNumber) UnmarshalJSON(data []byte) error {
	value, err := strconv.ParseInt(string(bytes.Trim(data, `"[] `)), 10, 32)
	if err != nil {
		value = 0 // no sentence has it
	}
	*n = sentenceNumber(value)
	return nil
}

// readAnswer returns the items of a model's answer.
func readAnswer(text string) ([]item, error) {
	var answer struct {
		Items []item `json:"items"`
	}
	err := lastObject(text, func(object json.RawMessage) bool {
		answer.Items = nil
		return json.Unmarshal(object, &answer) == nil && answer.Items != nil
	})
	if err != nil {
		return nil, err
	}
	items := answer.Items[:min(len(answer.Items), mostItems)]
	return slices.DeleteFunc(items, func(i item) bool { return len(i.Text) > longestField }), nil
}

// lastObject passes the JSON objects in an answer to read, which reports whether it
// was the object that was asked for, and stops after the last. Models put code
// fences, remarks and reasoning around it.
func lastObject(text string, read func(json.RawMessage) bool) error {
	if len(text) > longestAnswer {
		return errors.New("the model's answer is too long")
	}
	var last json.RawMessage
	for range mostObjects {
		n := strings.IndexByte(text, '{')
		if n < 0 {
			break
		}
		text = text[n:]
		decoder := json.NewDecoder(strings.NewReader(text))
		var object json.RawMessage
		if decoder.Decode(&object) != nil {
			text = text[1:]
			continue
		}
		text = text[decoder.InputOffset():]
		if read(object) {
			last = object
		}
	}
	if last == nil || !read(last) {
		return errNoAnswer
	}
	return nil
}
