package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/alecthomas/kong"

	"pregon/internal/fault"
)

func TestExitCode(t *testing.T) {
	for want, err := range map[int]error{
		0: nil,
		1: errors.New("a driver failed"),
		2: fault.New(fault.Invalid, "--plan is wrong"),
		3: fmt.Errorf("opening: %w", fault.New(fault.NotFound, "there is no such key")),
		4: fault.Wrap(fault.Unavailable, context.DeadlineExceeded, "the store does not answer"),
	} {
		if got := ExitCode(err); got != want {
			t.Errorf("%v: got %d, want %d", err, got, want)
		}
	}
	if got := ExitCode(fault.New(fault.Conflict, "3 findings")); got != 1 {
		t.Errorf("findings: got %d, want 1", got)
	}
	if _, err := os.Open(filepath.Join(t.TempDir(), "missing.jsonl")); ExitCode(fmt.Errorf("importing: %w", err)) != 3 {
		t.Errorf("a missing file: got %d, want 3", ExitCode(err))
	}
	for n, exit := range Exits { // the documented codes are those that ExitCode returns
		if exit.Code != n {
			t.Errorf("got code %d in row %d", exit.Code, n)
		}
	}
}

// An error of the parser names the help of the command as far as it was understood, and
// the choices of a flag.
func TestUsageError(t *testing.T) {
	type grammar struct {
		Keys struct {
			Create struct {
				Plan string `required:"" enum:"pro,operator"`
				Name string `default:"x"`
			} `cmd:""`
		} `cmd:""`
	}
	for args, want := range map[[3]string]string{
		{"keys", "create"}:                   "missing flags: --plan=pro|operator (run 'pregon keys create --help')",
		{"keys", "create", "--plan=gold"}:    `--plan must be one of "pro","operator" but got "gold" (run 'pregon keys create --help')`,
		{"keys", "create", "--colour=green"}: "unknown flag --colour (run 'pregon keys create --help')",
		{"keys", "burn"}:                     "unexpected argument burn (run 'pregon keys --help')",
		{"burn"}:                             "unexpected argument burn (run 'pregon --help')",
	} {
		var words []string
		for _, word := range args {
			if word != "" {
				words = append(words, word)
			}
		}
		parser, err := kong.New(&grammar{}, kong.Name("pregon"), kong.PostBuild(ShowChoices)) // it keeps what it parsed
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(words)
		if err == nil {
			t.Errorf("%q: no error", words)
			continue
		}
		got := UsageError(err)
		if got.Error() != want || ExitCode(got) != 2 {
			t.Errorf("%q: got %q and exit code %d, want %q and 2", words, got, ExitCode(got), want)
		}
	}
}
