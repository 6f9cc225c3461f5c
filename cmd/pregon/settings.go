package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/alecthomas/kong"

	"pregon/internal/auth/secret"
	"pregon/internal/cli"
	"pregon/internal/fault"
)

// secretVariables have no flag, since other users of the machine can read the
// arguments of a process.
var secretVariables = []string{secretKeyEnv, llmKeyEnv, keyEnv, s3AccessKeyEnv, s3SecretKeyEnv}

// strict is implemented by commands that can refuse unknown variables.
type strict interface{ strict() bool }

func (c *serveCmd) strict() bool { return true }

// checkVariables warns of PREGON_ variables that are not settings. A command
// that would run for long with the wrong settings refuses them.
func (p *process) checkVariables(command *kong.Context) error {
	selected := command.Selected()
	if selected == nil || selected.Hidden {
		return nil
	}
	c, ok := selected.Target.Addr().Interface().(strict)
	refuse := ok && c.strict()
	for _, unknown := range cli.UnknownVariables(command.Model, secretVariables, p.environ) {
		if refuse && !unknown.Injected {
			return fault.New(fault.Invalid, "%s", unknown.Text)
		}
		fmt.Fprintln(p.stderr, "pregon: warning:", unknown.Text)
	}
	return nil
}

type checkConfigCmd struct {
	serveConfig
	Strict bool `help:"Refuse unknown PREGON_ variables, as serve does."`
}

func (c *checkConfigCmd) strict() bool { return c.Strict }

// Run validates the settings and prints them, without secrets.
func (c *checkConfigCmd) Run(p *process, command *kong.Context) error {
	if err := c.validate(); err != nil {
		return err
	}
	if _, err := secret.NewBox(p.getenv(secretKeyEnv)); err != nil {
		return err
	}
	// Settings that contain a secret, or whose default depends on others.
	special := map[string]string{
		"store": c.show(), "redis": c.showRedis(), "base-url": c.baseURL(c.Listen), "cache-dir": c.cacheDir(slog.New(slog.DiscardHandler)),
	}
	if c.StoreRead != "" {
		special["store-read"] = showAddress(c.StoreRead)
	}
	var lines [][2]string
	for _, f := range command.Selected().Flags {
		value, ok := special[f.Name]
		if !ok {
			value = cli.FormatValue(f.Target)
		}
		if f.Name != "strict" {
			lines = append(lines, [2]string{f.Name, cmp.Or(value, "off")})
		}
	}
	for _, name := range []string{secretKeyEnv, llmKeyEnv, s3AccessKeyEnv, s3SecretKeyEnv} {
		flag := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, cli.EnvPrefix+"_")), "_", "-")
		lines = append(lines, [2]string{flag, hide(p.getenv(name))})
	}
	for _, line := range lines {
		fmt.Fprintf(p.stdout, "%-24s %s\n", line[0], line[1])
	}
	return nil
}

// hide reports only whether a secret is set.
func hide(s string) string {
	if s == "" {
		return "off"
	}
	return "set"
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish. Try: source <(pregon completion bash)"`
}

// Run prints the completion script.
func (c *completionCmd) Run(p *process) error {
	_, err := io.WriteString(p.stdout, cli.CompletionScripts[c.Shell])
	return err
}
