package cli

import (
	"errors"
	"io/fs"

	"github.com/alecthomas/kong"

	"pregon/internal/fault"
)

// Exit is an exit code of the commands and what it means.
type Exit struct {
	Code    int
	Meaning string
}

// Exits are all exit codes.
var Exits = []Exit{
	{0, "success, or a stop that was requested"},
	{exitFailure, "any other failure, such as findings of `verify` or `doctor`"},
	{exitUsage, "usage: a command, a flag, a variable or an input is wrong, so that the same call fails again"},
	{exitNotFound, "not found: what the command names does not exist, such as a key, a report or a file"},
	{exitUnavailable, "unavailable: the store, the source, the service or an address cannot be used now; try again later"},
}

const (
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitUnavailable = 4
)

// ExitCode returns the exit code for the error of a command, which follows from its kind.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	switch fault.KindOf(err) {
	case fault.Invalid:
		return exitUsage
	case fault.NotFound:
		return exitNotFound
	case fault.Unavailable:
		return exitUnavailable
	}
	if errors.Is(err, fs.ErrNotExist) { // a file that the command names
		return exitNotFound
	}
	return exitFailure
}

// UsageError adds to an error of the parser how to get help on the command that was given.
func UsageError(err error) error {
	command := "pregon"
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context != nil {
		if selected := parse.Context.Selected(); selected != nil {
			command = selected.FullPath()
		}
	}
	return fault.New(fault.Invalid, "%s (run '%s --help')", err, command)
}
