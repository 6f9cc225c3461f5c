package main_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"pregon/internal/auth/access"
)

// TestMCPDocs checks the settings of clients in docs/mcp.md: each parses, names the
// address of the MCP server, and sends the key in a header that is accepted.
func TestMCPDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Set up a client\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, client := range []string{"Claude (web and desktop)", "Claude Code", "ChatGPT", "VS Code", "Cursor", "Gemini CLI", "Goose"} {
		if !strings.Contains(section, "**"+client+".**") {
			t.Errorf("docs/mcp.md does not say how to set up %s", client)
		}
	}
	blocks := regexp.MustCompile("(?s)```(json|yaml|sh)\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(blocks) < 6 {
		t.Fatalf("docs/mcp.md has %d settings of clients", len(blocks))
	}
	address := regexp.MustCompile(`https?://[^\s"]*`)
	for _, b := range blocks {
		for _, found := range address.FindAllString(b[2], -1) {
			if found != "https://pregon.example"+access.MCPPath {
				t.Errorf("%s is not the address of the MCP server in\n%s", found, b[2])
			}
		}
		if !address.MatchString(b[2]) {
			t.Errorf("no address in\n%s", b[2])
		}
		if b[1] == "sh" {
			continue
		}
		var settings any
		decode := json.Unmarshal
		if b[1] == "yaml" {
			decode = func(b []byte, v any) error { return yaml.Unmarshal(b, v) }
		}
		if err := decode([]byte(b[2]), &settings); err != nil {
			t.Errorf("%v in\n%s", err, b[2])
		}
		names := headerNames(settings)
		if len(names) != 1 || !slices.Contains([]string{"X-API-Key", "Authorization"}, names[0]) {
			t.Errorf("the headers are %q in\n%s", names, b[2])
		}
	}
}

// headerNames returns the names below every member "headers".
func headerNames(settings any) (names []string) {
	object, _ := settings.(map[string]any)
	for name, value := range object {
		if headers, ok := value.(map[string]any); ok && name == "headers" {
			names = slices.AppendSeq(names, maps.Keys(headers))
		}
		names = append(names, headerNames(value)...)
	}
	return names
}
