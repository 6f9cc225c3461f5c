package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"pregon/internal/cli"

	"github.com/alecthomas/kong"
)

// try runs a command in this process.
func try(t *testing.T, environ []string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	p := process{args: args, environ: environ, stdin: strings.NewReader(""), stdout: &out, stderr: &errs}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value) // the flags read it
	}
	err = p.run(context.Background())
	return out.String(), errs.String(), err
}

func model(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := newParser(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

// A caller who gives no command, or asks for help or the version in any usual
// way, gets it.
func TestFirstSteps(t *testing.T) {
	for args, want := range map[string]string{
		"":                   "Usage: pregon <command>",
		"help":               "Usage: pregon <command>",
		"--help":             "Usage: pregon <command>",
		"help keys create":   "Usage: pregon keys create --plan",
		"keys create --help": "Usage: pregon keys create --plan",
		"help tail":          "Usage: pregon tail",
		"version":            "pregon dev (go1",
		"--version":          "pregon dev (go1",
	} {
		out, _, err := try(t, nil, strings.Fields(args)...)
		if err != nil || !strings.HasPrefix(out, want) {
			t.Errorf("pregon %s: %v, %q, want %q", args, err, out, want)
		}
	}
}

// The help of every flag names its default, and so does docs/cli.md.
func TestEveryDefaultIsShown(t *testing.T) {
	for _, c := range model(t).Leaves(true) {
		help, _, err := try(t, nil, strings.Fields(c.FullPath() + " --help")[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		help = strings.Join(strings.Fields(help), " ")
		for _, f := range c.Flags {
			text := cli.Describe(f.Value)
			if !strings.Contains(text, "Default: ") && !strings.Contains(text, "Required.") {
				t.Errorf("%s --%s has no default: %s", c.FullPath(), f.Name, text)
			}
			if !strings.Contains(help, text) {
				t.Errorf("%q is not in the help of %s:\n%s", text, c.FullPath(), help)
			}
		}
	}
}

// check-config prints every setting of serve, and no secret.
func TestCheckConfigPrintsAll(t *testing.T) {
	out, _, err := try(t, []string{"PREGON_SECRET_KEY=" + strings.Repeat("s", 40), "PREGON_LLM_KEY=hunter2"},
		"check-config", "--store", "postgres://u:hunter2@db.example/p", "--redis", "redis://:hunter2@cache.example/0", "--contact", "ops@example.org",
		"--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "192.0.2.7", "--cache-dir", "/var/cache/pregon", "--rate", "30/min", "--keep-documents")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	for _, c := range model(t).Leaves(true) {
		for _, f := range c.Flags {
			if c.Name == "serve" && !slices.Contains(names, f.Name) {
				t.Errorf("--%s is not among the settings:\n%s", f.Name, out)
			}
		}
	}
	flat := strings.Join(strings.Fields(out), " ") + " "
	for _, want := range []string{
		"store postgres://u@db.example/p ", "redis redis://cache.example/0 ", "contact ops@example.org ", "trusted-proxy 10.0.0.0/8, 192.0.2.7/32 ",
		"cache-dir /var/cache/pregon ", "rate 30 ", "keep-documents on ", "llm-budget 2000000 ", "pace 250ms ", "log-level info ", "mcp-origin off ",
		"secret-key set ", "llm-key set ", "base-url http://127.0.0.1:8080 ",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out, "hunter2") || strings.Contains(out, "ssss") {
		t.Errorf("a secret is shown:\n%s", out)
	}
}

func TestUnknownVariables(t *testing.T) {
	for variable, want := range map[string]string{
		"PREGON_LISTNE=x":               "did you mean PREGON_LISTEN?",
		"PREGON_BASEURL=x":              "did you mean PREGON_BASE_URL?",
		"PREGON_SECRET=x":               "did you mean PREGON_SECRET_KEY?",
		"PREGON_ANONYMUS_LIMIT=1":       "did you mean PREGON_ANONYMOUS_LIMIT?",
		"PREGON_COFFEE_STRENGTH=x":      "docs/cli.md lists them",
		"PREGON_LISTNE=":                "did you mean PREGON_LISTEN?",
		"PREGON_SERVICE_HOST=10.0.0.1":  "Kubernetes",
		"PREGON_SERVICE_PORT_HTTP=80":   "Kubernetes",
		"PREGON_PORT=tcp://10.0.0.1:80": "Kubernetes",
		"PREGON_PORT_80_TCP_ADDR=x":     "Kubernetes",
		"PREGON_LISTEN=127.0.0.1:9":     "",
		"PREGON_SIGNIN_CORP=x":          "", // as docs/access.md names it
		"PREGON_SIGNINS=x":              "did you mean PREGON_SIGNIN?",
		"PREGONES=x":                    "",
	} {
		found := cli.UnknownVariables(model(t), secretVariables, []string{"HOME=/root", variable})
		if want == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || !strings.Contains(found[0].Text, want) || found[0].Injected != (want == "Kubernetes") {
			t.Errorf("%s: %+v, want %q", variable, found, want)
		}
	}
}

// Only commands that would run for long with the wrong settings refuse them.
func TestUnknownVariablesRefused(t *testing.T) {
	for _, test := range []struct {
		variable, args string
		refused        bool
	}{
		{"PREGON_LISTNE=x", "version", false},
		{"PREGON_LISTNE=x", "check-config", false},
		{"PREGON_LISTNE=x", "check-config --strict", true},
		{"PREGON_LISTNE=x", "serve --store nonsense", true},
		{"PREGON_SERVICE_HOST=10.0.0.1", "check-config --strict", false},
	} {
		t.Run(test.variable+" "+test.args, func(t *testing.T) {
			_, stderr, err := try(t, []string{test.variable}, strings.Fields(test.args)...)
			text := stderr
			if test.refused && err != nil {
				text = err.Error()
			}
			if (err != nil) != test.refused || !strings.Contains(text, "is not a setting") {
				t.Errorf("%v, %q", err, stderr)
			}
		})
	}
}

func TestCompletions(t *testing.T) {
	for typed, want := range map[string]string{
		"":                            "serve backfill tail document webhooks alerts keys signing-key log-key mcp sim import export positions migrate copy backup restore verify health compact doctor check-config completion version help",
		"ke":                          "keys",
		"keys ":                       "create list revoke rotate",
		"keys create --pl":            "--plan",
		"keys create --plan ":         "pro enterprise operator",
		"keys create --plan = e":      "enterprise",
		"serve --source d":            "demo",
		"serve --store x --source d":  "demo",
		"serve --keep-documents --po": "--poll",
		"serve --store ":              "",
		"import ":                     "reports issuers positions",
		"import reports ":             "",
		"completion ":                 "bash zsh fish",
		"--v":                         "--version",
		"nonsense ":                   "serve backfill tail document webhooks alerts keys signing-key log-key mcp sim import export positions migrate copy backup restore verify health compact doctor check-config completion version help",
	} {
		var got []string
		for _, c := range cli.Completions(model(t), strings.Split(typed, " ")) {
			got = append(got, c.Word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q becomes %q, want %q", typed, got, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if out, _, err := try(t, nil, "completion", shell); err != nil || !strings.Contains(out, "pregon "+cli.CompleteCommand+" ") {
			t.Errorf("%s: %v, %q", shell, err, out)
		}
	}
	if out, _, err := try(t, nil, cli.CompleteCommand, "serve", "--lis"); err != nil || !strings.HasPrefix(out, "--listen\tAddress") {
		t.Errorf("%v, %q", err, out)
	}
}

// Settings of channels that cannot be meant are refused by name, before anything is done.
func TestRefusedPushHost(t *testing.T) {
	_, _, err := try(t, nil, "alerts", "test", "webpush", "x", "--webpush-host", "push.example.com,https://push.example.com")
	if err == nil || !strings.Contains(err.Error(), `--webpush-host: "https://push.example.com"`) {
		t.Errorf("an address in place of a host: %v", err)
	}
}
