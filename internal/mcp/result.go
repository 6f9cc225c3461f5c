package mcp

import (
	"bytes"
	"context"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/query"
)

// ready is the result of a tool, encoded as it will be sent.
//
// The SDK would read and write it three times over on its way out, which costs
// more than finding it. So the SDK is given a ticket in its place, and the reply
// puts it in where the ticket stands.
type encodedResult struct{ fields []byte }

type resultKey struct{}

// newReady makes room for a result in a request's context.
func newEncodedResult(ctx context.Context) (context.Context, *encodedResult) {
	r := &encodedResult{}
	return context.WithValue(ctx, resultKey{}, r), r
}

// The ticket as it is given, and as the SDK writes it. A text in the message
// cannot be taken for it: the quotation marks in a text are escaped.
var (
	placeholder     = &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: placeholderMark}
	placeholderText = []byte(`"content":[],"structuredContent":"` + placeholderMark + `"`)
)

const placeholderMark = "ready"

var errNoPlaceholder = errors.New("the SDK did not write the ticket of a result")

// put encodes a result, and returns the ticket for it.
func (r *encodedResult) set(out result) *sdk.CallToolResult {
	text, _ := query.Encode(out.text) // which a text always does
	b := make([]byte, 0, len(out.json)+len(text)+80)
	b = append(append(b, `"content":[{"type":"text","text":`...), text...)
	r.fields = append(append(b, `}],"structuredContent":`...), out.json...)
	copied := *placeholder // the SDK may note something on it
	return &copied
}

// around returns what stands before and after the ticket.
func (r *encodedResult) split(body []byte) (before, after []byte, err error) {
	before, after, ok := bytes.Cut(body, placeholderText)
	if !ok {
		return nil, nil, errNoPlaceholder
	}
	return before, after, nil
}
