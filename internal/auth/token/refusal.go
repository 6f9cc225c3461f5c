package token

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
)

// The codes of RFC 6749, RFC 8693 and RFC 8707 that the endpoint uses.
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

// refusal is why no token was given.
type refusal struct {
	status int
	code   string
	text   string // for whoever asked
	cause  error  // for the operator only
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

// asRefusal makes an answer of any error.
func asRefusal(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	return &refusal{status: http.StatusInternalServerError, code: codeInternal, text: "something went wrong on our side", cause: err}
}

// description keeps a text within what RFC 6749 allows in an answer.
func description(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, s)
}

// clip makes a text from outside fit for the log.
func clip(s string) string {
	const most = 200
	var b strings.Builder
	n := 0
	for _, r := range s {
		if !unicode.IsPrint(r) {
			continue
		}
		if n++; n > most {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
