// Command pregon publishes the official disclosures of the Spanish securities
// regulator and a directory of supervised issuers. See README.md.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"pregon/internal/cli"

	"github.com/alecthomas/kong"
)

// version is set when the program is built.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	p := process{
		args:    os.Args[1:],
		environ: os.Environ(),
		stdin:   os.Stdin,
		stdout:  os.Stdout,
		stderr:  os.Stderr,
	}
	if err := p.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "pregon:", cli.OneLine(err))
		os.Exit(cli.ExitCode(err))
	}
}

// process is the environment of a command.
type process struct {
	args    []string
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
}

// getenv returns an environment variable.
func (p *process) getenv(name string) string {
	for _, pair := range p.environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

func (p *process) run(ctx context.Context) error {
	parser, err := newParser(&commands{})
	if err != nil {
		return err
	}
	answered := false // --help or --version was given, and printed
	parser.Stdout = p.stdout
	parser.Stderr = p.stderr
	parser.Exit = func(int) { answered = true }
	args := p.args
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	case args[0] == cli.CompleteCommand:
		return cli.PrintCompletions(p.stdout, parser.Model, args[1:])
	}
	if p.environ, err = cli.ReadSecretFiles(secretVariables, p.environ); err != nil {
		return err
	}
	if err := cli.CheckEmpty(parser.Model, secretVariables, p.environ); err != nil {
		return err
	}
	command, err := parser.Parse(args)
	if answered {
		return nil
	}
	if err != nil {
		return cli.UsageError(err)
	}
	if err := p.checkVariables(command); err != nil {
		return err
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run(p)
}

func newParser(c *commands) (*kong.Kong, error) {
	return kong.New(c,
		kong.Name("pregon"),
		kong.Description("The official disclosures of the Spanish securities regulator, and a directory of "+
			"supervised issuers."),
		kong.DefaultEnvars(cli.EnvPrefix),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.ValueFormatter(cli.Describe),
		kong.PostBuild(cli.ShowChoices),
	)
}

// colors reports whether to write colours to w: a terminal that supports them,
// unless the user disabled them (https://no-color.org).
func (p *process) colors(w io.Writer) bool {
	return p.isTerminal(w) && p.getenv("NO_COLOR") == ""
}

// isTerminal reports whether w is a terminal that interprets control sequences.
func (p *process) isTerminal(w io.Writer) bool {
	return cli.IsTerminal(w) && p.getenv("TERM") != "dumb" &&
		(runtime.GOOS != "windows" || p.getenv("WT_SESSION") != "")
}
