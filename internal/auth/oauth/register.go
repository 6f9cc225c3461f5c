package oauth

import (
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"time"

	strictjson "github.com/go-jose/go-jose/v4/json"

	"pregon/internal/auth/token"
	"pregon/internal/server/ratelimit"
)

const maxRegistration = 16 << 10 // bytes of a request

// The error codes of RFC 7591.
const (
	codeInvalidMetadata = "invalid_client_metadata"
	codeInvalidRedirect = "invalid_redirect_uri"
)

// registrationResponse describes a registered client.
type registrationResponse struct {
	ClientID      string   `json:"client_id"`
	IssuedAt      int64    `json:"client_id_issued_at"`
	Name          string   `json:"client_name,omitempty"`
	RedirectURIs  []string `json:"redirect_uris"`
	Auth          string   `json:"token_endpoint_auth_method"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
}

// serveRegister handles POST /oauth/register. Clients get no secret: a program that
// registers without being known cannot be recognized by one either.
func (s *Server) serveRegister(w http.ResponseWriter, r *http.Request, _ *token.Known) (int, any, error) {
	addr := s.o.Client(r)
	if v := s.registrations.Take(r.Context(), ratelimit.Address(addr)); !v.OK {
		return 0, nil, token.TooMany(v, "registrations",
			"an address may register 60 clients an hour: use the one that you have")
	}
	m, err := readRegistration(w, r)
	if err != nil {
		return 0, nil, err
	}
	now := time.Now()
	content := registration{Name: cleanName(m.Name), RedirectURIs: m.RedirectURIs, IssuedAt: now.Unix()}
	id := registeredPrefix + s.seal(registeredName, content)
	if len(id) > maxRegistered {
		return 0, nil, token.Refuse(codeInvalidMetadata,
			"the name and the redirect URIs are too long together: register fewer or shorter ones")
	}
	s.o.Audit(r.Context(), "client.registered", slog.String("name", content.Name),
		slog.String("host", hostOf(content.RedirectURIs[0])), slog.String("client_ip", addr.String()))
	return http.StatusCreated, registrationResponse{
		ClientID:      id,
		IssuedAt:      now.Unix(),
		Name:          content.Name,
		RedirectURIs:  content.RedirectURIs,
		Auth:          token.AuthNone,
		GrantTypes:    []string{"authorization_code", "refresh_token"},
		ResponseTypes: []string{"code"},
	}, nil
}

func readRegistration(w http.ResponseWriter, r *http.Request) (m metadata, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return m, token.Refuse(codeInvalidMetadata, "the content type must be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRegistration))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return m, token.Refuse(codeInvalidMetadata, "the body may have 16 KiB at most")
	}
	if err != nil {
		return m, token.Refuse(codeInvalidMetadata, "the body could not be read")
	}
	if err := strictjson.Unmarshal(body, &m); err != nil {
		return m, token.Refuse(codeInvalidMetadata,
			"the body must be a JSON object with the client metadata of RFC 7591")
	}
	if reason := checkRedirects(m.RedirectURIs, maxRegisteredURIs); reason != "" {
		return m, token.Refuse(codeInvalidRedirect, "%s", reason)
	}
	if m.GrantTypes != nil && !slices.Contains(m.GrantTypes, "authorization_code") {
		return m, token.Refuse(codeInvalidMetadata, "grant_types must have authorization_code")
	}
	if m.ResponseTypes != nil && !slices.Contains(m.ResponseTypes, "code") {
		return m, token.Refuse(codeInvalidMetadata, "response_types must have code")
	}
	return m, nil
}
