package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"

	"pregon/internal/auth/access"
	"pregon/internal/auth/token"
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
)

const maxState = 1000 // bytes

// challengeForm is the form of the SHA-256 of a verifier.
var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// Request is an authorization request that may be shown to a person.
type Request struct {
	Client      Client
	RedirectURI string
	Resource    string // the address that tokens will be for
	State       string
	Challenge   string
	Scope       access.Scope // asked for; a person can grant only what they have

	omitted bool // the request has no redirect_uri
}

// RedirectHost returns where the browser will be sent: a host, or the whole address of
// an application with a scheme of its own.
func (q *Request) RedirectHost() string { return hostOf(q.RedirectURI) }

// Loopback reports whether the browser will be sent to a program on the person's own
// machine. Any program there may pretend to be the client.
func (q *Request) Loopback() bool { return isLoopback(q.RedirectURI) }

// Refusal is an authorization request, or a decision on one, that is refused.
type Refusal struct {
	Code string // of OAuth
	Text string // for people
	// Parts are those of Text. Their format is empty if it has none.
	Parts fault.Text
	// Redirect is the address to which the browser is sent. If it is empty, the
	// refusal is shown as a page.
	Redirect string
	// Return is the address of the application for a link on that page. The browser is
	// not sent there without a click, because anyone can register an application: the
	// service must not lead people to any address that a link of others names.
	Return string
	// Again is a path of this service at which the person can decide again.
	Again string

	cause error
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Text }

func (r *Refusal) Unwrap() error { return r.cause }

// Read checks the query of an authorization request. The error is a *Refusal, unless
// the context ends.
func (s *Server) Read(r *http.Request, query url.Values) (*Request, error) {
	for _, name := range []string{"client_id", "redirect_uri"} {
		if len(query[name]) > 1 {
			return nil, refusalOf(token.CodeInvalidRequest, fault.New(fault.Invalid,
				"The address of this page has the parameter %s more than once.", name))
		}
	}
	id := query.Get("client_id")
	if id == "" {
		return nil, &Refusal{
			Code: token.CodeInvalidRequest,
			Text: "The address of this page has no client_id: it does not say which application asks.",
		}
	}
	client, err := s.client(r.Context(), id, ratelimit.Address(s.o.Client(r)))
	if err != nil {
		return nil, clientRefusal(err)
	}
	uri, ok := client.redirect(query.Get("redirect_uri"))
	if !ok {
		return nil, &Refusal{
			Code: token.CodeInvalidRequest,
			Text: "The application asks to send you to an address that it has not registered (redirect_uri).",
		}
	}
	q := &Request{Client: client.leadingTo(uri), RedirectURI: uri, omitted: query.Get("redirect_uri") == ""}
	if why := s.readRest(q, query); why != nil {
		return nil, s.answer(q, why)
	}
	return q, nil
}

// clientRefusal returns the refusal for an error of client.
func clientRefusal(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	code := token.CodeInvalidClient
	if e.Kind != fault.Invalid {
		code = token.CodeUnavailable
	}
	out := refusalOf(code, e)
	out.cause = err
	return out
}

// refusalOf returns the refusal with the message of an error.
func refusalOf(code string, e *fault.Error) *Refusal {
	return &Refusal{
		Code:  code,
		Text:  e.Message,
		Parts: e.Text,
	}
}

// readRest reads what can be answered to the application.
func (s *Server) readRest(q *Request, query url.Values) *Refusal {
	for name, values := range query {
		if len(values) > 1 && name != "resource" {
			return &Refusal{Code: token.CodeInvalidRequest, Text: "a parameter is repeated: send each parameter once"}
		}
	}
	if q.State = query.Get("state"); len(q.State) > maxState {
		q.State = ""
		return &Refusal{Code: token.CodeInvalidRequest, Text: "state may have at most 1000 bytes"}
	}
	if kind := query.Get("response_type"); kind != "code" {
		return &Refusal{Code: "unsupported_response_type", Text: "response_type must be code"}
	}
	if mode := query.Get("response_mode"); mode != "" && mode != "query" {
		return &Refusal{Code: token.CodeInvalidRequest, Text: "response_mode must be query"}
	}
	q.Challenge = query.Get("code_challenge")
	if query.Get("code_challenge_method") != "S256" || !challengeForm.MatchString(q.Challenge) {
		return &Refusal{Code: token.CodeInvalidRequest, Text: "code_challenge_method must be S256, and " +
			"code_challenge the SHA-256 of the verifier in base64url"}
	}
	q.Resource = s.o.BaseURL
	for i, resource := range query["resource"] {
		target := s.o.Tokens.Audience(resource)
		if target == "" || i > 0 && target != q.Resource {
			return refusalOf(token.CodeInvalidTarget, fault.New(fault.Invalid,
				"resource must be %s, or the address of its MCP server", s.o.BaseURL))
		}
		q.Resource = target
	}
	q.Scope = q.Client.scopes
	if asked := query.Get("scope"); asked != "" {
		known, err := token.ParseScope(asked)
		if q.Scope &= known; err != nil || q.Scope == 0 {
			return refusalOf(token.CodeInvalidScope, fault.New(fault.Invalid, "scope must be some of %s", q.Client.scopes))
		}
	}
	return nil
}

// answer completes the refusal of a request whose redirect URI is right.
func (s *Server) answer(q *Request, why *Refusal) *Refusal {
	address := s.response(q, url.Values{"error": {why.Code}, "error_description": {why.Text}})
	if q.Client.Kind == Configured || q.Loopback() {
		why.Redirect = address
	} else {
		why.Return = address
	}
	return why
}

// response returns the address of the application with a response to a request.
func (s *Server) response(q *Request, values url.Values) string {
	values.Set("iss", s.o.BaseURL) // a client that uses several servers must not mix them up (RFC 9207)
	if q.State != "" {
		values.Set("state", q.State)
	}
	return withParameters(q.RedirectURI, values)
}

// Address returns the path and query at which the request can be made again.
func (q *Request) Address() string { return AuthorizePath + "?" + q.query().Encode() }

// query returns the parameters of a request, to make it again.
func (q *Request) query() url.Values {
	values := url.Values{
		"client_id": {q.Client.ID}, "response_type": {"code"}, "code_challenge_method": {"S256"}, "code_challenge": {q.Challenge},
		"resource": {q.Resource}, "scope": {q.Scope.String()},
	}
	if !q.omitted {
		values.Set("redirect_uri", q.RedirectURI)
	}
	if q.State != "" {
		values.Set("state", q.State)
	}
	return values
}
