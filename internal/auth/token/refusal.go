package token

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"pregon/internal/server/ratelimit"
	"pregon/internal/text"
)

// The error codes of RFC 6749, RFC 8693 and RFC 8707.
const (
	CodeInvalidRequest = "invalid_request"
	CodeInvalidGrant   = "invalid_grant"
	CodeInvalidClient  = "invalid_client"
	CodeInvalidScope   = "invalid_scope"
	CodeInvalidTarget  = "invalid_target"
	CodeUnsupported    = "unsupported_grant_type"
	CodeUnavailable    = "temporarily_unavailable"
	CodeInternal       = "server_error"
)

// Refusal is an error response.
type Refusal struct {
	status int
	code   string
	text   string // for the client
	cause  error  // for the log
	wait   string // value of Retry-After
	limit  string // name of the limit that was exceeded
}

func (r *Refusal) Error() string { return r.code + ": " + r.text }

func (r *Refusal) Unwrap() error { return r.cause }

// Refuse returns the refusal of a request with an error code.
func Refuse(code, format string, args ...any) *Refusal {
	return &Refusal{status: http.StatusBadRequest, code: code, text: fmt.Sprintf(format, args...)}
}

// InvalidClient returns the refusal of a client that is not authenticated.
func InvalidClient(text string) *Refusal {
	return &Refusal{status: http.StatusUnauthorized, code: CodeInvalidClient, text: text}
}

// Unavailable returns the refusal of a request that cannot be checked now.
func Unavailable(cause error) *Refusal {
	return &Refusal{
		status: http.StatusServiceUnavailable,
		code:   CodeUnavailable,
		text:   "the request cannot be checked at this moment: try again soon",
		cause:  cause,
		wait:   "2",
	}
}

// TooMany returns the refusal of a request over a limit, which has a name for the audit.
func TooMany(v ratelimit.Decision, limit, text string) *Refusal {
	return &Refusal{
		status: http.StatusTooManyRequests,
		code:   CodeUnavailable,
		text:   text,
		wait:   v.RetryAfter(),
		limit:  limit,
	}
}

// asRefusal converts any error.
func asRefusal(err error) *Refusal {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	return &Refusal{
		status: http.StatusInternalServerError,
		code:   CodeInternal,
		text:   "something went wrong on our side",
		cause:  err,
	}
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
