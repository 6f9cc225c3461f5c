package render

import (
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

// No text in a style sheet has what compact changes.
func TestTextsInStyle(t *testing.T) {
	changed := regexp.MustCompile(`[{};]|[:,] |/\*`)
	for _, folder := range []string{".", "..", "../chart"} {
		sheets, err := fs.Glob(os.DirFS(folder), "style/*.css")
		if err != nil || len(sheets) == 0 {
			t.Fatal(folder, sheets, err)
		}
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
