package render

import (
	"bytes"
	"io/fs"
	"os"
	"regexp"
	"testing"
)

func TestCompact(t *testing.T) {
	const sheet = `
/* One
   comment. */
.a > .b, .c :hover { margin: 0 calc(-1rem - 6px); content: "× "; }
@media (min-width: 40rem) and (max-width: 50rem) {
  .d::after { color: red; }
}
`
	const want = `.a > .b,.c :hover{margin:0 calc(-1rem - 6px);content:"× "}` +
		`@media (min-width:40rem) and (max-width:50rem){.d::after{color:red}}`
	if got := string(compact([]byte(sheet))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCompactScript(t *testing.T) {
	const script = `// One
// comment.
'use strict'

const a = 'https://x' // not kept
  // not kept

  if (a) {
    b()
  }
`
	const want = "'use strict'\nconst a = 'https://x'\nif (a) {\nb()\n}\n"
	if got := string(compactScript([]byte(script))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// No text in a script spans lines, which compactScript would change.
func TestTextsInScripts(t *testing.T) {
	for _, folder := range []string{".", "..", "../console"} {
		scripts, err := fs.Glob(os.DirFS(folder), "assets/*.js")
		if err != nil || len(scripts) == 0 {
			t.Fatal(folder, scripts, err)
		}
		for _, name := range scripts {
			script, err := os.ReadFile(folder + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.SplitSeq(script, []byte("\n")) {
				if bytes.Count(line, []byte("`"))%2 != 0 {
					t.Errorf("%s has a text of several lines: %s", name, line)
				}
				code, _, found := bytes.Cut(line, []byte(" // "))
				if found && bytes.Count(code, []byte("'"))%2+bytes.Count(code, []byte("`"))%2 != 0 {
					t.Errorf("%s has a text with two slashes: %s", name, line)
				}
			}
		}
	}
}

// No text in a style sheet has what compact changes.
func TestTextsInStyle(t *testing.T) {
	changed := regexp.MustCompile(`[{};]|[:,] |/\*`)
	for _, folder := range []string{".", "..", "../chart"} {
		sheets, err := fs.Glob(os.DirFS(folder), "style/*.css")
		if err != nil || len(sheets) == 0 {
			t.Fatal(folder, sheets, err)
		}
		ofPages, err := fs.Glob(os.DirFS(folder), "assets/*.css")
		if err != nil {
			t.Fatal(err)
		}
		sheets = append(sheets, ofPages...)
		for _, name := range sheets {
			sheet, err := os.ReadFile(folder + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range regexp.MustCompile(`"[^"]*"`).FindAll(cssComment.ReplaceAll(sheet, nil), -1) {
				if changed.Match(text) {
					t.Errorf("%s has the text %s, which would be changed", name, text)
				}
			}
		}
	}
}
