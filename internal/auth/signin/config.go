package signin

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/server/outbound"
)

// Config is the section signin of the configuration file.
type Config struct {
	// Providers are the OpenID providers with which people sign in. Without any,
	// they show a key.
	Providers []Provider `yaml:"providers"`
}

// Provider is an OpenID provider.
type Provider struct {
	// ID is its name in addresses; the redirect URI to register with the provider
	// is {base URL}/signin/callback/{ID}.
	ID string `yaml:"id"`
	// Name is what people read on the button.
	Name string `yaml:"name"`
	// Issuer is its address, exactly as in iss.
	Issuer string `yaml:"issuer"`
	// ClientID is the id that it gave to this service, and SecretEnv the variable
	// of the environment that holds the secret; empty for a client without one.
	ClientID  string `yaml:"client_id"`
	SecretEnv string `yaml:"secret_env"`
	// Allow says who may sign in, and Operators who of them is an operator.
	Allow     Rules `yaml:"allow"`
	Operators Rules `yaml:"operators"`
	// Plan and Scopes are what its people get: default pro, and all scopes.
	Plan   string   `yaml:"plan"`
	Scopes []string `yaml:"scopes"`
	// AllowPrivate means that it is on our own network: it may have a private address
	// and be without https.
	AllowPrivate bool `yaml:"allow_private"`
}

// Rules select people. One that matches is enough.
type Rules struct {
	Domains []string            `yaml:"domains"` // of the verified e-mail address; ASCII
	Emails  []string            `yaml:"emails"`  // verified; ASCII
	Claims  map[string][]string `yaml:"claims"`  // a claim, or one of its elements, is exactly one of these values
	Anyone  bool                `yaml:"anyone"`
}

func (r Rules) empty() bool {
	return len(r.Domains) == 0 && len(r.Emails) == 0 && len(r.Claims) == 0 && !r.Anyone
}

// Has reports whether the provider of an account is in the configuration. Its id alone
// does not tell: the operator may have given it to another issuer.
func (c Config) Has(id, account string) bool {
	return slices.ContainsFunc(c.Providers,
		func(p Provider) bool { return p.ID == id && strings.HasPrefix(account, p.Issuer+"#") })
}

var providerID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Validate sets defaults, and returns all errors with their places.
func (c *Config) Validate(baseURL string) error {
	var wrong []error
	seen := map[string]bool{}
	for i := range c.Providers {
		p := &c.Providers[i]
		complain := func(field, format string, args ...any) {
			wrong = append(wrong, fmt.Errorf("signin.providers[%d].%s: %s", i, field, fmt.Sprintf(format, args...)))
		}
		p.validate(baseURL, complain)
		if seen[p.ID] || seen[p.Issuer] {
			complain("id", "%q or its issuer is listed twice: name each provider once", p.ID)
		}
		seen[p.ID], seen[p.Issuer] = true, true
	}
	if len(wrong) > 0 {
		return fault.New(fault.Invalid, "%s", errors.Join(wrong...))
	}
	return nil
}

// printableASCII reports whether a rule has only ASCII characters that can be seen.
// Others are easily mistaken for these, and the rule would select other people than it
// appears to.
func printableASCII(rule string) bool {
	return !strings.ContainsFunc(rule, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (p *Provider) validate(baseURL string, complain func(field, format string, args ...any)) {
	if !providerID.MatchString(p.ID) {
		complain("id", "%q is not allowed: use up to 32 lower-case letters, digits and hyphens", p.ID)
	}
	if p.Name == "" {
		p.Name = p.ID
	}
	if len(p.Name) > 60 || strings.ContainsFunc(p.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		complain("name", "%q is not allowed: use up to 60 bytes on one line", p.Name)
	}
	switch err := outbound.Check(p.Issuer, p.AllowPrivate); {
	case err != nil:
		complain("issuer", "%q is not allowed: %v; set allow_private when it is on your own network", p.Issuer, err)
	case p.Issuer == baseURL || strings.ContainsAny(p.Issuer, "# "):
		complain("issuer", "%q is not allowed: use the address of the provider, without # or spaces", p.Issuer)
	}
	if p.ClientID == "" {
		complain("client_id", "is missing: use the id that the provider gave to this service")
	}
	if p.Allow.empty() {
		complain("allow", "is missing: say who may sign in, by domains, emails or claims, or anyone: true")
	}
	for field, rules := range map[string]Rules{"allow": p.Allow, "operators": p.Operators} {
		for _, d := range rules.Domains {
			if strings.Contains(d, "@") || !strings.Contains(d, ".") || !printableASCII(d) {
				complain(field+".domains", "%q is not a domain in ASCII: use one such as example.com, and write an "+
					"internationalized name in its xn-- form", d)
			}
		}
		for _, e := range rules.Emails {
			if !strings.Contains(e, "@") || !printableASCII(e) {
				complain(field+".emails", "%q is not an e-mail address in ASCII: use one such as ana@example.com", e)
			}
		}
		for claim, values := range rules.Claims {
			if len(values) == 0 {
				complain(field+".claims."+claim, "has no values: name those that match")
			}
		}
	}
	if p.Operators.Anyone {
		complain("operators.anyone", "is not allowed: name the operators")
	}
	if p.Plan == "" {
		p.Plan = access.Plans[0]
	}
	if !slices.Contains(access.Plans, p.Plan) || p.Plan == access.OperatorPlan {
		complain("plan", "%q is not allowed: use pro or enterprise", p.Plan)
	}
	if len(p.Scopes) == 0 {
		p.Scopes = access.AllScopes.Names()
	}
	if _, err := access.ParseScopes(p.Scopes); err != nil {
		complain("scopes", "%v", err)
	}
}
