package mcp

import (
	"bytes"
	"context"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/query"
)

// encodedResult is the result of a tool, encoded as it is sent. The SDK would
// decode and encode a result three times, which costs more than finding it. So
// the SDK gets a placeholder, which the response writer replaces.
type encodedResult struct{ fields []byte }

type resultKey struct{}

// newEncodedResult adds an encodedResult to a context.
func newEncodedResult(ctx context.Context) (context.Context, *encodedResult) {
	r := &encodedResult{}
	return context.WithValue(ctx, resultKey{}, r), r
}

// The placeholder as it is passed to the SDK, and as the SDK writes it. No string
// in a message equals it, since quotation marks in strings are escaped.
var (
	placeholder     = &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: placeholderMark}
	placeholderText = []byte(`"content":[],"structuredContent":"` + placeholderMark + `"`)
)

const placeholderMark = "ready"

var errNoPlaceholder = errors.New("the SDK did not write the placeholder of a result")

// set encodes a result and returns its placeholder.
func (r *encodedResult) set(out result) *sdk.CallToolResult {
	text, _ := query.Encode(out.text) // a string always encodes
	b := make([]byte, 0, len(out.json)+len(text)+80)
	b = append(append(b, `"content":[{"type":"text","text":`...), text...)
	r.fields = append(append(b, `}],"structuredContent":`...), out.json...)
	copied := *placeholder // the SDK may change it
	return &copied
}

// split returns the parts before and after the placeholder.
func (r *encodedResult) split(body []byte) (before, after []byte, err error) {
	before, after, ok := bytes.Cut(body, placeholderText)
	if !ok {
		return nil, nil, errNoPlaceholder
	}
	return before, after, nil
}
