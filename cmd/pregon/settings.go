package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"pregon/internal/cli"
	"pregon/internal/fault"
)

// secretVariables have no flag, since other users of the machine can read the
// arguments of a process.
var secretVariables = []string{
	secretKeyEnv, llmKeyEnv, keyEnv, s3AccessKeyEnv, s3SecretKeyEnv, smtpUserEnv, smtpPasswordEnv,
}

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
