package discovery

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"pregon/internal/rest/openapi"
)

// The registry of MCP servers, registry.modelcontextprotocol.io. Its tool reads
// server.json from a file, so that no address is prescribed. Ours is beside the
// card, and not below /.well-known/, whose names are registered.
const (
	serverJSONPath = mcpPath + "/server.json"
	proofPath      = "/.well-known/mcp-registry-auth"
)

// ServerJSON returns the entry of the MCP server for the registry: the document
// that a service with these options serves.
func ServerJSON(o Options) ([]byte, error) {
	api, err := openapi.Parse(o.OpenAPI)
	if err != nil {
		return nil, err
	}
	e := edition{}
	if err := writeServerJSON(newFacts(o, api, o.Source()), e); err != nil {
		return nil, err
	}
	return e[serverJSONPath][0].body, nil
}

func writeServerJSON(f *facts, e edition) error {
	return f.addJSON(e, "application/json", "server.json", nil, serverJSONPath)
}

// writeProof adds the proof that the operator owns the domain, if there is one.
func writeProof(f *facts, e edition) error {
	if f.RegistryProof != "" {
		e[proofPath] = variants{{contentType: textType, body: []byte(f.RegistryProof + "\n")}}
	}
	return nil
}

// maxServerName is the longest name of a server that the registry accepts.
const maxServerName = 200

// CheckPublic returns an error if the public registry would not accept a server
// at this address: it must be reachable for everyone, and its name contains a
// domain whose owner can prove it. Other registries may accept it. The error
// completes a sentence that begins with the address.
func CheckPublic(base string) error {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Scheme != "https":
		return errors.New("must begin with https://")
	case publisher(base) != u.Hostname() || strings.HasSuffix(u.Hostname(), ".localhost"):
		return errors.New("must have a domain name, such as https://pregon.example")
	case len(u.Hostname())+len("/pregon") > maxServerName:
		return fmt.Errorf("must have a domain name of at most %d characters", maxServerName-len("/pregon"))
	}
	return nil
}

// proof matches the proof of a domain; the groups are the algorithm and the
// public key.
var proof = regexp.MustCompile(`^v=MCPv1; ?k=([a-z0-9]+); ?p=([A-Za-z0-9+/]+={0,2})$`)

// CheckProof returns an error if s is not a proof that the registry accepts. The
// error does not contain it, since it may be the private key by mistake.
func CheckProof(s string) error {
	m := proof.FindStringSubmatch(s)
	if m == nil {
		return errors.New("must be v=MCPv1; k=ALGORITHM; p=KEY, which `mcp-publisher login http` prints as " +
			"the expected proof record")
	}
	key, err := base64.StdEncoding.DecodeString(m[2])
	switch {
	case err != nil:
		return errors.New("must have the public key in base64 after p=")
	case m[1] == "ed25519" && len(key) == 32, m[1] == "ecdsap384" && len(key) == 49 && (key[0] == 2 || key[0] == 3):
		return nil
	}
	return fmt.Errorf("has k=%s and a key of %d bytes: use ed25519 and 32 bytes, or ecdsap384 and 49 bytes, a "+
		"compressed point", m[1], len(key))
}
