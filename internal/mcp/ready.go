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
type ready struct{ fields []byte }

type readyKey struct{}

// newReady makes room for a result in a request's context.
func newReady(ctx context.Context) (context.Context, *ready) {
	r := &ready{}
	return context.WithValue(ctx, readyKey{}, r), r
}

// The ticket as it is given, and as the SDK writes it. A text in the message
// cannot be taken for it: the quotation marks in a text are escaped.
var (
	ticket     = &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: ticketMark}
	ticketText = []byte(`"content":[],"structuredContent":"` + ticketMark + `"`)
)

const ticketMark = "ready"

var errNoTicket = errors.New("the SDK did not write the ticket of a result")

// put encodes a result, and returns the ticket for it.
func (r *ready) put(out result) *sdk.CallToolResult {
	text, _ := query.Encode(out.text) // which a text always does
	b := make([]byte, 0, len(out.json)+len(text)+80)
	b = append(append(b, `"content":[{"type":"text","text":`...), text...)
	r.fields = append(append(b, `}],"structuredContent":`...), out.json...)
	copied := *ticket // the SDK may note something on it
	return &copied
}

// around returns what stands before and after the ticket.
func (r *ready) around(body []byte) (before, after []byte, err error) {
	before, after, ok := bytes.Cut(body, ticketText)
	if !ok {
		return nil, nil, errNoTicket
	}
	return before, after, nil
}
