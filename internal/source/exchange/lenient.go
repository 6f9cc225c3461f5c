package exchange

import (
	"encoding/json"
	"strings"
	"unicode"
)

// text is a field that is a string, a number or null. Runs of spaces become one space;
// any other type counts as null.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	*t = ""
	switch {
	case raw[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		*t = text(strings.Join(strings.FieldsFunc(s, isGap), " "))
	case raw[0] == '-' || (raw[0] >= '0' && raw[0] <= '9'):
		*t = text(raw)
	}
	return nil
}

func isGap(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }

// flag is a field that is a boolean, a string or null.
type flag bool

func (f *flag) UnmarshalJSON(raw []byte) error {
	*f = flag(strings.EqualFold(strings.Trim(string(raw), `" `), "true"))
	return nil
}
