package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/alecthomas/kong"

	"pregon/internal/server/notices"
)

type versionCmd struct {
	Licenses bool `help:"Print the licences of the software in the program."`
}

// Run prints the version, or the licences.
func (c *versionCmd) Run(p *process) error {
	if c.Licenses {
		_, err := io.WriteString(p.stdout, notices.Text)
		return err
	}
	return printVersion(p.stdout)
}

func printVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "pregon %s (%s)\n", version, runtime.Version())
	return err
}

// versionFlag is --version.
type versionFlag bool

// BeforeReset prints the version instead of running a command.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	err := printVersion(app.Stdout)
	app.Exit(0)
	return err
}

// helpCmd is only listed among the commands; run turns it into --help.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command. Default: a short list of all commands."`
}
