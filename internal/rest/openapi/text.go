package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// defaultLimit is the default limit as the document words it.
const defaultLimit = "60 requests in any 60 seconds"

// limits matches the part of the introduction that describes the limit.
var limits = regexp.MustCompile(`(?s), in ` + defaultLimit + ` per.*?With a credential there is no such limit\. There are two kinds, `)

// LimitPhrase describes a limit of requests without a credential; 0 is unlimited.
func LimitPhrase(limit int) string {
	if limit == 0 {
		return "any number of requests"
	}
	return fmt.Sprintf("%d requests in any 60 seconds", limit)
}

// Introduction returns the introduction of the document with the limit of this
// service.
func (d *Document) Introduction(limit int) (string, error) {
	text := d.Info.Description
	if limit > 0 {
		return strings.ReplaceAll(text, defaultLimit, LimitPhrase(limit)), nil
	}
	without := limits.ReplaceAllLiteralString(text, ", as often as you like.\n\nThere are two kinds of credential, ")
	if without == text {
		return "", fmt.Errorf("the OpenAPI document does not describe the limit in the expected place")
	}
	return without, nil
}

// texts returns values as text.
func texts(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprint(v)
	}
	return out
}

// oneLine joins the lines of a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// indent returns an example as text: a string as it is, other values as JSON.
func indent(raw json.RawMessage) string {
	var text string
	if raw == nil || json.Unmarshal(raw, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return ""
	}
	return b.String()
}
