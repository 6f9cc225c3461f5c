package oauth

import (
	"errors"
	"fmt"
	"strings"

	"pregon/internal/auth/token"
	"pregon/internal/fault"
)

// Config is the part of the section signin of the configuration file that concerns
// applications.
type Config struct {
	// Clients are applications that the operator knows.
	Clients []ClientConfig `yaml:"clients"`
	// Registration allows any application to register itself (RFC 7591); default true.
	Registration *bool `yaml:"registration"`
	// ClientDocuments allows any application whose client_id is the address of a
	// document that describes it; default true.
	ClientDocuments *bool `yaml:"client_documents"`
	// AllowPrivateDocuments allows such documents on private addresses and without
	// https: for tests, and for applications on the operator's own network.
	AllowPrivateDocuments bool `yaml:"allow_private_documents"`
}

// ClientConfig is an application that the operator knows.
type ClientConfig struct {
	token.Client `yaml:",inline"`
	// Name is shown to people; default the id.
	Name string `yaml:"name"`
	// RedirectURIs are where people are sent after they have decided.
	RedirectURIs []string `yaml:"redirect_uris"`
}

func (c *Config) registers() bool { return c.Registration == nil || *c.Registration }

func (c *Config) fetches() bool { return c.ClientDocuments == nil || *c.ClientDocuments }

// Validate returns all errors with their places.
func (c *Config) Validate() error {
	var wrong []error
	seen := map[string]bool{}
	for i, client := range c.Clients {
		at := fmt.Sprintf("signin.clients[%d]", i)
		if err := client.Validate(at); err != nil {
			wrong = append(wrong, err)
		}
		complain := func(field, format string, args ...any) {
			wrong = append(wrong, fmt.Errorf("%s.%s: %s", at, field, fmt.Sprintf(format, args...)))
		}
		if strings.HasPrefix(client.ID, registeredPrefix) || strings.Contains(client.ID, "://") {
			complain("id", "%q is not allowed: %s and addresses are for other kinds of clients", client.ID,
				registeredPrefix)
		}
		if seen[client.ID] {
			complain("id", "%q is listed twice: name each client once", client.ID)
		}
		seen[client.ID] = true
		if clean := cleanName(client.Name); clean != client.Name {
			complain("name", "%q is not allowed: use up to %d characters on one line", client.Name, maxName)
		}
		if len(client.RedirectURIs) == 0 {
			complain("redirect_uris", "is missing: name the addresses to which people return")
		}
		for j, uri := range client.RedirectURIs {
			if reason := checkRedirect(uri); reason != "" {
				complain(fmt.Sprintf("redirect_uris[%d]", j), "%q %s", uri, reason)
			}
		}
	}
	if len(wrong) > 0 {
		return fault.New(fault.Invalid, "%s", errors.Join(wrong...))
	}
	return nil
}
