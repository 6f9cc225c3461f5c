package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"

	"github.com/alecthomas/kong"

	"pregon/internal/auth/secret"
	"pregon/internal/cli"
)

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
