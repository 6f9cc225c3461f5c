package sources_test

import (
	"testing"

	"pregon/internal/service/sources"
	"pregon/internal/source/regulator"
)

// TestUserAgent: the regulator gets the contact, else an address that it can reach.
func TestUserAgent(t *testing.T) {
	for _, test := range []struct {
		contact, base, want string
	}{
		{"ops@example.org", "https://pregon.example", "pregon/1.2 (+ops@example.org)"},
		{"", "https://pregon.example", "pregon/1.2 (+https://pregon.example)"},
		{"", "http://127.0.0.1:8080", "pregon/1.2 (contact not given)"},
		{"", "", "pregon/1.2 (contact not given)"},
	} {
		site := sources.Site{Contact: test.contact, BaseURL: test.base, Version: "1.2"}
		if got := site.UserAgent(); got != test.want {
			t.Errorf("contact %q and base URL %q: got %q, want %q", test.contact, test.base, got, test.want)
		}
	}
}

// TestOwner: another address than the regulator's may be a simulation.
func TestOwner(t *testing.T) {
	const other = "http://127.0.0.1:8090"
	for _, test := range []struct {
		kind      sources.Kind
		regulator string
		want      string
	}{
		{sources.Regulator, regulator.PublicOrigin, "cnmv"},
		{sources.Regulator, other, ""},
		{sources.Simulated, regulator.PublicOrigin, "demo"},
		{sources.Simulated, other, "demo"},
		{sources.None, regulator.PublicOrigin, ""},
	} {
		s := sources.Settings{Kind: test.kind, Site: sources.Site{Regulator: test.regulator}}
		if got := s.Owner(); got != test.want {
			t.Errorf("source %s at %s: got %q, want %q", test.kind, test.regulator, got, test.want)
		}
	}
}
