package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"pregon/internal/text"
	"pregon/internal/text/strictjson"
)

// message is a message of JSON-RPC. It is read once: access is decided and the
// request is answered by the same reading, so that the two cannot differ.
type message struct {
	id     json.RawMessage // as it was sent; nil without one
	method string          // "" for the response to a request, though we send none
	params object

	name, uri string // of a tool, prompt or resource: members of params
}

// object is a JSON object. Numbers are of type json.Number.
type object = map[string]any

// Limits of the parts that are repeated in responses, in bytes.
const (
	maxID     = 1000
	maxMethod = 200
	maxName   = 4000
)

// parse reads a message. With an error about its parts it returns those that it
// could read, above all the id.
func parse(body []byte) (message, error) {
	if start := bytes.TrimLeft(body, " \t\r\n"); len(start) > 0 && start[0] == '[' {
		return message{}, &protocolError{
			code:    codeInvalidRequest,
			message: "Batches are not supported: send one message in a request.",
		}
	}
	value, id, err := strictjson.DecodeKeeping(body, "id")
	switch {
	case errors.Is(err, strictjson.ErrSyntax):
		return message{}, &protocolError{code: codeParse, message: "The body is not valid JSON in UTF-8."}
	case err != nil:
		return message{}, &protocolError{code: codeInvalidRequest, message: "The message cannot be read: " +
			text.Clip(err.Error(), 200) + "."}
	}
	parts, ok := value.(object)
	if !ok {
		return message{}, &protocolError{code: codeInvalidRequest, message: "A message is a JSON object."}
	}
	var m message
	return m, m.set(parts, id)
}

// set sets the parts of the message from its members.
func (m *message) set(parts object, rawID json.RawMessage) error {
	id, hasID := parts["id"]
	if hasID && !isID(id, rawID) {
		return &protocolError{
			code:    codeInvalidRequest,
			message: "The id must be a string or a whole number, of 1000 bytes at most.",
		}
	}
	m.id = rawID
	if parts["jsonrpc"] != "2.0" {
		return &protocolError{code: codeInvalidRequest, message: `A message has "jsonrpc": "2.0".`}
	}
	method, isRequest := parts["method"]
	if !isRequest && hasID && (parts["result"] != nil || parts["error"] != nil) {
		return nil // a response
	}
	if m.method, _ = method.(string); m.method == "" {
		return &protocolError{code: codeInvalidRequest, message: "The method must be a string, such as tools/list."}
	}
	if len(m.method) > maxMethod {
		return errNoMethod
	}
	if params, given := parts["params"]; given {
		var ok bool
		if m.params, ok = params.(object); !ok {
			return &protocolError{code: codeInvalidParams, message: "params must be an object."}
		}
	}
	if err := m.text("name", &m.name); err != nil {
		return err
	}
	return m.text("uri", &m.uri)
}

// text reads a member of params that is a text.
func (m *message) text(name string, to *string) error {
	v, given := m.params[name]
	if !given {
		return nil
	}
	s, ok := v.(string)
	if !ok {
		return wrongType(name, "a string")
	}
	if len(s) > maxName {
		return &protocolError{
			code:    codeInvalidParams,
			message: fmt.Sprintf("%s may have %d bytes at most.", name, maxName),
		}
	}
	*to = s
	return nil
}

// wrongType returns the error for a member of params of another type.
func wrongType(name, want string) error {
	return &protocolError{
		code:    codeInvalidParams,
		message: "The params are not of the types that this method takes: " + name + " must be " + want + ".",
	}
}

// isID reports whether a value can be the id of a request.
func isID(id any, raw json.RawMessage) bool {
	switch id := id.(type) {
	case string:
		return len(raw) <= maxID
	case json.Number:
		return len(raw) <= maxID && !strings.ContainsAny(id.String(), ".eE")
	}
	return false
}
