package main

import (
	"io"

	"pregon/internal/cli"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish. Try: source <(pregon completion bash)"`
}

// Run prints the completion script.
func (c *completionCmd) Run(p *process) error {
	_, err := io.WriteString(p.stdout, cli.CompletionScripts[c.Shell])
	return err
}
