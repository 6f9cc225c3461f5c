package oauth

import (
	"os"
	"strings"
	"testing"
)

// TestDefaults compares the table of docs/security.md of what is on by default with an
// empty configuration.
func TestDefaults(t *testing.T) {
	text, err := os.ReadFile("../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	var c Config
	for setting, on := range map[string]bool{"registration": c.registers(), "client_documents": c.fetches()} {
		row := "| `signin." + setting + "` | on | `" + setting + ": false`"
		if got := strings.Contains(string(text), row); got != on {
			t.Errorf("docs/security.md has %q: %v, and by default it is on: %v", row, got, on)
		}
	}
}
