package token

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"pregon/internal/auth/access"
)

// Extension is what another package adds to the server.
type Extension struct {
	Grants    map[string]Grant // by grant type
	Resources []string         // further audiences of tokens
	Metadata  map[string]any   // further members of the server's metadata
}

// Grant handles requests of one grant type. It is called when a token can be signed,
// so that it may use up what the client sent.
type Grant func(context.Context, Request) (Granted, error)

// Request is a request of a client, which is not authenticated yet.
type Request struct {
	*http.Request
	Form        Form
	ClientID    string // empty when the request does not name a client
	credentials credentials
	proof       *jws
}

// Granted is the token to issue, without id and expiry.
type Granted struct {
	Token   access.Token
	Refresh string // refresh token; empty for none
}

// Extend adds to the server. It must be called before Register.
func (s *Server) Extend(e Extension) { s.extended = e }

// grantTypes returns all grant types.
func (s *Server) grantTypes() []string {
	return append([]string{grantExchange, grantJWTBearer}, slices.Sorted(maps.Keys(s.extended.Grants))...)
}

// resources returns all audiences of tokens.
func (s *Server) resources() []string {
	return append([]string{s.o.BaseURL, s.o.BaseURL + mcpPath}, s.extended.Resources...)
}

// ReadRequest reads the form and the credentials of a client.
func ReadRequest(w http.ResponseWriter, r *http.Request) (Request, error) {
	f, err := readForm(w, r)
	if err != nil {
		return Request{}, err
	}
	return newRequest(r, f)
}

func newRequest(r *http.Request, f Form) (q Request, err error) {
	q = Request{Request: r, Form: f}
	if q.credentials, err = readCredentials(r.Header, f); err != nil {
		return q, err
	}
	q.proof, err = q.credentials.identify()
	q.ClientID = q.credentials.id
	return q, err
}

// Proof is the authentication of a request, which can be used once.
type Proof struct {
	server *Server
	nonces []nonce
}

// Authenticate checks that a request comes from a client that is known, and counts it
// for the client. The caller claims the proof when all else is right and the request
// will have an effect, and does nothing for the client before. So nothing is stored for
// requests without effect.
func (s *Server) Authenticate(ctx context.Context, q Request, known Authentication) (Proof, error) {
	if known.Method != q.credentials.method {
		return Proof{}, InvalidClient("this client authenticates with " + known.Method)
	}
	nonces, err := s.prove(ctx, q.credentials, q.proof, known, &issuer{algs: defaultAlgorithms}, s.o.Client(q.Request))
	if err != nil {
		return Proof{}, err
	}
	return Proof{server: s, nonces: nonces}, nil
}

// Claim uses the proof up. It returns the refusal of one that was used before.
func (p Proof) Claim(ctx context.Context) error {
	if len(p.nonces) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	return p.server.claimProofs(ctx, p.nonces)
}

// grantExtra issues a token for a grant of the extension.
func (s *Server) grantExtra(r *http.Request, f Form, g Grant, known *Known) (issued, error) {
	q, err := newRequest(r, f)
	if err != nil {
		return issued{}, err
	}
	known.Client = q.ClientID
	key, err := s.o.Ring.now.Load().signer(time.Now())
	if err != nil {
		return issued{}, Unavailable(err)
	}
	granted, err := g(r.Context(), q)
	if err != nil {
		return issued{}, err
	}
	out, err := s.issue(granted.Token, key, time.Now())
	out.next = granted.Refresh
	return out, err
}

// ResourceMetadata returns the handler of the metadata of a resource.
func (s *Server) ResourceMetadata(resource string) http.HandlerFunc {
	return document(s.resourceMetadata(resource))
}
