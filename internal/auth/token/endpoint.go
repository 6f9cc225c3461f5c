package token

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pregon/internal/auth/access"
	"pregon/internal/server/ratelimit"
)

const (
	tokenPath = "/api/auth/token"
	mcpPath   = access.MCPPath

	maxBody   = 64 << 10
	maxFields = 32
)

// Known holds unverified values of a request for the audit.
type Known struct{ Issuer, Client string }

// issued is an issued token.
type issued struct {
	raw   string
	token access.Token
	kind  string // issued_token_type; empty when the grant has none
	next  string // refresh_token; empty when the grant has none
}

// success is the response of RFC 8693; other grants omit the type.
type success struct {
	AccessToken string `json:"access_token"`
	IssuedType  string `json:"issued_token_type,omitempty"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
	Scope       string `json:"scope"`
	Refresh     string `json:"refresh_token,omitempty"`
}

// failure is the error response of RFC 6749.
type failure struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// serveToken handles POST /api/auth/token.
func (s *Server) serveToken(w http.ResponseWriter, r *http.Request, known *Known) (int, any, error) {
	out, err := s.exchange(w, r, known)
	if err != nil {
		return 0, nil, err
	}
	t := out.token
	attrs := []slog.Attr{
		slog.String("issuer", clip(t.Issuer)), slog.String("sub", clip(t.Subject)), slog.String("client_id",
			clip(t.ClientID)),
		slog.String("scope", t.Scope.String()), slog.String("audience", t.Audience), slog.String("jti",
			t.ID), slog.String("client_ip", s.o.Client(r).String()),
	}
	if t.Grant != "" {
		attrs = append(attrs, slog.String("grant", t.Grant))
	}
	s.o.Audit(context.WithoutCancel(r.Context()), "token.issued", attrs...)
	return http.StatusOK, success{
		AccessToken: out.raw,
		IssuedType:  out.kind,
		TokenType:   "Bearer",
		ExpiresIn:   int(s.lifetime.Seconds()),
		Scope:       t.Scope.String(),
		Refresh:     out.next,
	}, nil
}

// Endpoint returns the handler of an endpoint that clients call: requests and failures
// are limited, failures are audited as an event, and all answers are JSON.
func (s *Server) Endpoint(
	event string,
	serve func(http.ResponseWriter, *http.Request, *Known) (status int, body any, err error),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// A client that disconnects early is counted and audited too.
		ctx := context.WithoutCancel(r.Context())
		addr := s.o.Client(r)
		if v := s.o.Failures.Peek(ctx, ratelimit.Address(addr)); !v.OK {
			write(w, tooManyFailures(v))
			return
		}
		var known Known
		if why := s.countAddress(ctx, addr); why != nil {
			s.auditLimit(ctx, addr, known, why)
			write(w, why)
			return
		}
		status, body, err := serve(w, r, &known)
		if err == nil {
			answer(w, status, body)
			return
		}
		why := asRefusal(err)
		if why.status == http.StatusTooManyRequests {
			// It is no failure: one client over its limit must not keep others at its
			// address out.
			s.auditLimit(ctx, addr, known, why)
			write(w, why)
			return
		}
		if why.status < 500 {
			// of concurrent requests each was allowed to try
			if v := s.o.Failures.Take(ctx, ratelimit.Address(addr)); !v.OK {
				write(w, tooManyFailures(v))
				return
			}
		}
		s.auditRefusal(ctx, event, addr, known, why)
		if why.status == http.StatusUnauthorized && r.Header.Get("Authorization") != "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="pregon"`)
		}
		write(w, why)
	}
}

func (s *Server) auditRefusal(ctx context.Context, event string, addr netip.Addr, known Known, why *Refusal) {
	attrs := []slog.Attr{slog.String("error_code", why.code), slog.String("reason", clip(why.text))}
	if known.Issuer != "" {
		attrs = append(attrs, slog.String("issuer", clip(known.Issuer)))
	}
	if known.Client != "" {
		attrs = append(attrs, slog.String("client_id", clip(known.Client)))
	}
	if why.cause != nil {
		attrs = append(attrs, slog.String("cause", clip(why.cause.Error())))
	}
	subject := ratelimit.Address(addr)
	// While a provider is down, one entry per minute is enough.
	if why.status < 500 || s.audited.Take(ctx, ratelimit.Name(known.Issuer+" "+string(subject[:]))).OK {
		s.o.Audit(ctx, event, append(attrs, slog.String("client_ip", addr.String()))...)
	}
}

func tooManyFailures(v ratelimit.Decision) *Refusal {
	return TooMany(v, "token", "too many requests were refused: wait before the next")
}

// write answers with a refusal.
func write(w http.ResponseWriter, why *Refusal) {
	if why.wait != "" {
		w.Header().Set("Retry-After", why.wait)
	}
	answer(w, why.status, failure{why.code, description(why.text)})
}

func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Form holds the fields of a request. An empty field counts as absent.
type Form map[string]string

// secrets are refused in the query, which proxies and browsers log.
var secrets = []string{
	"client_secret", "client_assertion", "subject_token", "actor_token", "assertion",
	"access_token", "api_key", "token", "code", "code_verifier", "refresh_token",
}

func readForm(w http.ResponseWriter, r *http.Request) (Form, error) {
	if name := secretInQuery(r.URL.RawQuery); name != "" {
		return nil, Refuse(CodeInvalidRequest, "%s must be in the body, never in the query", name)
	}
	if kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/x-www-form-urlencoded" ||
		params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return nil, Refuse(CodeInvalidRequest, "the content type must be application/x-www-form-urlencoded")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, Refuse(CodeInvalidRequest, "the body may have 64 KiB at most")
	}
	if err != nil {
		return nil, Refuse(CodeInvalidRequest, "the body could not be read")
	}
	if strings.Count(string(body), "&") >= maxFields {
		return nil, Refuse(CodeInvalidRequest, "the body may have %d fields at most", maxFields)
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, Refuse(CodeInvalidRequest, "the body is not form-encoded: use & between fields, and %%XX "+
			"for characters other than letters and digits")
	}
	return singleValues(values)
}

// singleValues returns the fields, each of which may occur once. A target may be
// repeated (RFC 8707), but only with the same value.
func singleValues(values url.Values) (Form, error) {
	f := make(Form, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all := values[name]
		target := name == "resource" || name == "audience"
		if target && slices.ContainsFunc(all, func(v string) bool { return v != all[0] }) {
			return nil, Refuse(CodeInvalidTarget, "a token is for one %s: send one value", name)
		}
		if !target && len(all) > 1 {
			return nil, Refuse(CodeInvalidRequest, "a field is repeated: send each field once")
		}
		if !utf8.ValidString(name) || !utf8.ValidString(all[0]) {
			return nil, Refuse(CodeInvalidRequest, "the body is not UTF-8")
		}
		f[name] = all[0]
	}
	return f, nil
}

func secretInQuery(query string) string {
	for pair := range strings.FieldsFuncSeq(query, func(c rune) bool { return c == '&' || c == ';' }) {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if name = strings.ToLower(name); slices.Contains(secrets, name) {
			return name
		}
	}
	return ""
}
