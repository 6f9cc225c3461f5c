package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"pregon/internal/cli"

	"github.com/alecthomas/kong"
	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

const referenceFile = "../../docs/cli.md"

// TestReference compares docs/cli.md with the flags of the program.
func TestReference(t *testing.T) {
	parser, err := newParser(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	want := reference(parser.Model)
	if *update {
		if err := os.WriteFile(referenceFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/cli.md is out of date; run `make generate` (-want +got):\n%s", diff)
	}
}

const (
	securityFile = "../../docs/security.md"
	boundsBegin  = "<!-- bounds -->\n"
	boundsEnd    = "<!-- end of bounds -->\n"
)

// bounding matches the names of settings that limit callers or the service. New
// limits must have such names.
var bounding = regexp.MustCompile(`(^|-)(limit|max|budget|pace)(-|$)`)

// TestReferenceOfBounds compares the table in docs/security.md with the flags.
func TestReferenceOfBounds(t *testing.T) {
	parser, err := newParser(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(securityFile)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), boundsBegin)
	_, tail, okay := strings.Cut(rest, boundsEnd)
	if !ok || !okay {
		t.Fatal("docs/security.md has no marks around its table of limits")
	}
	want := head + boundsBegin + bounds(parser.Model) + boundsEnd + tail
	if *update {
		if err := os.WriteFile(securityFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(want, string(text)); diff != "" {
		t.Errorf("docs/security.md is out of date; run `make generate` (-want +got):\n%s", diff)
	}
}

const (
	defaultsBegin = "<!-- defaults -->\n"
	defaultsEnd   = "<!-- end of defaults -->\n"
)

// TestReferenceOfDefaults compares the table in docs/security.md of what is on by
// default with the flags of serve. Every flag that can be off must be in it.
func TestReferenceOfDefaults(t *testing.T) {
	parser, err := newParser(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(securityFile)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), defaultsBegin)
	table, _, ok := strings.Cut(rest, defaultsEnd)
	if !ok {
		t.Fatal("docs/security.md has no marks around its table of defaults")
	}
	listed := map[string]string{} // the default of each setting
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, " | "); len(cells) == 4 {
			listed[strings.Trim(cells[1], "`")] = cells[2]
		}
	}
	flags := map[string]bool{}
	for _, c := range parser.Model.Leaves(true) {
		if c.Name != "serve" {
			continue
		}
		for _, f := range c.Flags {
			flags["--"+f.Name] = true
			want := cli.DefaultOf(f.Value)
			if f.HasDefault {
				want = "`" + want + "`"
			}
			got, found := listed["--"+f.Name]
			switchable := strings.Contains(f.Enum, "off")
			if !found && switchable {
				t.Errorf("the table of docs/security.md does not have --%s, which can be off", f.Name)
			}
			if found && got != cmp.Or(want, "none") {
				t.Errorf("docs/security.md says that --%s is %s by default, which is %s", f.Name, got, cmp.Or(want, "none"))
			}
		}
	}
	for name := range listed {
		if strings.HasPrefix(name, "--") && !flags[name] {
			t.Errorf("the table of docs/security.md has %s, which is not a flag of serve", name)
		}
	}
}

func bounds(app *kong.Application) string {
	rows := "| setting | default | meaning |\n|---|---|---|\n"
	for _, c := range app.Leaves(true) {
		for _, f := range c.Flags {
			if c.Name == "serve" && bounding.MatchString(f.Name) {
				rows += fmt.Sprintf("| `--%s` | `%s` | %s |\n", f.Name, cli.DefaultOf(f.Value), strings.ReplaceAll(f.Help, "|", `\|`))
			}
		}
	}
	return rows
}

func reference(app *kong.Application) []byte {
	var b bytes.Buffer
	b.WriteString("# Commands and settings\n\nGenerated from the program by `make generate`. " +
		"Every flag can be set by its environment variable; a flag wins over it. Every command warns of an unknown `PREGON_` variable; `serve` and `check-config --strict` refuse it, unless Kubernetes " +
		"sets it by itself (`PREGON_PORT`, `PREGON_PORT_*`, `PREGON_SERVICE_*`).\n")
	b.WriteString("\n`PREGON_SECRET_KEY` has no flag, since arguments can be read by others on the machine: 32 characters or more that seal the secrets in the store. `PREGON_LLM_KEY`, the key of `--llm-url`, `PREGON_SMTP_USER` and `PREGON_SMTP_PASSWORD`, the account at the mail server of `--smtp`, and `PREGON_S3_ACCESS_KEY` and `PREGON_S3_SECRET_KEY`, the keys of `--documents-s3`, have none for the same reason. Each of them can be in a file instead, whose path is in the variable with `_FILE` at the end of its name (`PREGON_SECRET_KEY_FILE`).\n")
	b.WriteString("\nErrors are one line on standard error. The exit code says of which kind the error is:\n\n| code | meaning |\n|---|---|\n")
	for _, exit := range cli.Exits {
		fmt.Fprintf(&b, "| %d | %s |\n", exit.Code, exit.Meaning)
	}
	for _, c := range app.Leaves(true) {
		fmt.Fprintf(&b, "\n## %s", c.FullPath())
		for _, a := range c.Positional {
			if a.Required {
				fmt.Fprintf(&b, " %s", strings.ToUpper(a.Name))
			} else {
				fmt.Fprintf(&b, " [%s]", strings.ToUpper(a.Name))
			}
		}
		fmt.Fprintf(&b, "\n\n%s\n", c.Help)
		for _, a := range c.Positional {
			fmt.Fprintf(&b, "\n- `%s`: %s", strings.ToUpper(a.Name), a.Help)
		}
		if len(c.Positional) > 0 {
			b.WriteString("\n")
		}
		if len(c.Flags) > 0 {
			b.WriteString("\n| flag | environment | default | meaning |\n|---|---|---|---|\n")
		}
		for _, f := range c.Flags {
			def := cli.DefaultOf(f.Value)
			if f.HasDefault {
				def = "`" + def + "`"
			}
			if f.Required {
				def = "required"
			}
			name := f.Name
			if f.Enum != "" {
				name += "=" + strings.ReplaceAll(f.PlaceHolder, "|", `\|`)
			}
			fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s |\n", name, strings.Join(f.Envs, " "), def, strings.ReplaceAll(f.Help, "|", `\|`))
		}
	}
	return b.Bytes()
}
