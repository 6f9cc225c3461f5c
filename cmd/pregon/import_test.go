package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/cli"
	"pregon/internal/transfer"
)

const reportLine = `{"type":"OIR","cnmv_registration_number":"NUMBER","company_name":"X","title":"TITLE","published_at":"2026-04-22T10:00:33+02:00"}`

func importLine(number, title string) string {
	return strings.NewReplacer("NUMBER", number, "TITLE", title).Replace(reportLine)
}

// runImport imports standard input into a new store.
func runImport(t *testing.T, ctx context.Context, stdin io.Reader) (stdout, stderr string, err error) {
	t.Helper()
	var out, bad bytes.Buffer
	p := &process{
		args:  []string{"import", "reports", "-", "--store", "sqlite:" + filepath.Join(t.TempDir(), "p.db")},
		stdin: stdin, stdout: &out, stderr: &bad,
	}
	err = p.run(ctx)
	return out.String(), bad.String(), err
}

// TestImportLongLines checks that a line that is too long is reported with its
// number, at any position, and that the other lines are imported.
func TestImportLongLines(t *testing.T) {
	overhead := len(importLine("2", ""))
	exact := importLine("2", strings.Repeat("a", transfer.MaxLine-overhead))
	tooLong := importLine("2", strings.Repeat("a", transfer.MaxLine-overhead+1))
	tests := map[string]struct{ in, out, bad string }{
		"in the middle": {importLine("1", "a") + "\n" + tooLong + "\n" + importLine("3", "c") + "\nnonsense\n", "2 new, 0 updated, 0 unchanged, 2 bad\n", "line 2: the line is longer than 1 MiB\nline 4: "},
		"at the end":    {importLine("1", "a") + "\n" + tooLong, "1 new, 0 updated, 0 unchanged, 1 bad\n", "line 2: the line is longer"},
		"just not":      {exact + "\n" + importLine("3", "c"), "2 new, 0 updated, 0 unchanged, 0 bad\n", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out, bad, err := runImport(t, t.Context(), strings.NewReader(test.in))
			if out != test.out || !strings.HasPrefix(bad, test.bad) || (err != nil) != (test.bad != "") {
				t.Errorf("prints %q and %q, %v", out, bad, err)
			}
		})
	}
}

func TestImportOddFiles(t *testing.T) {
	for name, test := range map[string]struct{ in, out string }{
		"empty":           {"", "0 new, 0 updated, 0 unchanged, 0 bad\n"},
		"blank lines":     {"\n\n  \n", "0 new, 0 updated, 0 unchanged, 0 bad\n"},
		"carriage return": {importLine("1", "a") + "\r\n" + importLine("2", "b") + "\r\n", "2 new, 0 updated, 0 unchanged, 0 bad\n"},
		"byte order mark": {"\ufeff" + importLine("1", "a"), "1 new, 0 updated, 0 unchanged, 0 bad\n"},
		"twice the same":  {importLine("1", "a") + "\n" + importLine("1", "b") + "\n", "1 new, 1 updated, 0 unchanged, 0 bad\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, bad, err := runImport(t, t.Context(), strings.NewReader(test.in)); out != test.out || bad != "" || err != nil {
				t.Errorf("prints %q and %q, %v", out, bad, err)
			}
		})
	}
}

// TestImportIsInterrupted checks that an import waiting for input can be interrupted.
func TestImportIsInterrupted(t *testing.T) {
	pipe, silent := io.Pipe()
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	in := &cancelingReader{pipe, cancel}
	if _, _, err := runImport(t, ctx, in); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("import ends with %v, want an interruption", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	forever := &cancelingReader{&repeat{line: []byte("nonsense\n")}, cancel}
	if _, _, err := runImport(t, ctx, forever); !errors.Is(err, context.Canceled) {
		t.Errorf("import ends with %v, want an interruption", err)
	}
}

// cancelingReader calls then on each Read, when the store is open.
type cancelingReader struct {
	io.Reader
	then func()
}

func (r *cancelingReader) Read(b []byte) (int, error) {
	r.then()
	return r.Reader.Read(b)
}

type repeat struct{ line []byte }

func (r *repeat) Read(b []byte) (int, error) { return copy(b, r.line), nil }

func TestErrorsAreOneLine(t *testing.T) {
	err := errors.New("opening the store: refused\n\thost a: tls error\n\thost a: password wrong")
	if got := cli.OneLine(err); got != "opening the store: host a: password wrong" {
		t.Errorf("%q", got)
	}
}
