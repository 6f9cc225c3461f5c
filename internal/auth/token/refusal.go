package token

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"pregon/internal/text"
)

// The error codes of RFC 6749, RFC 8693 and RFC 8707.
const (
	codeInvalidRequest = "invalid_request"
	codeInvalidGrant   = "invalid_grant"
	codeInvalidClient  = "invalid_client"
	codeInvalidScope   = "invalid_scope"
	codeInvalidTarget  = "invalid_target"
	codeUnsupported    = "unsupported_grant_type"
	codeUnavailable    = "temporarily_unavailable"
	codeInternal       = "server_error"
)

// refusal is an error response.
type refusal struct {
	status int
	code   string
	text   string // for the client
	cause  error  // for the log
}

func (r *refusal) Error() string { return r.code + ": " + r.text }

func (r *refusal) Unwrap() error { return r.cause }

func refuse(code, format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, code: code, text: fmt.Sprintf(format, args...)}
}

func invalidClient(text string) *refusal {
	return &refusal{status: http.StatusUnauthorized, code: codeInvalidClient, text: text}
}

func unavailable(cause error) *refusal {
	return &refusal{status: http.StatusServiceUnavailable, code: codeUnavailable, text: "the request cannot be checked at this moment: try again soon", cause: cause}
}

// asRefusal converts any error.
func asRefusal(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	return &refusal{status: http.StatusInternalServerError, code: codeInternal, text: "something went wrong on our side", cause: err}
}

// description replaces characters that RFC 6749 does not allow.
func description(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, s)
}

// clip returns a text from outside as it is logged: without characters that are
// not printable, and at most 200 of the others.
func clip(s string) string {
	return text.Clip(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s), 200)
}
