package regulator_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/source/regulator"
)

// heavy is a page of ten rows with the size of a real one: 216 KB, mostly menus and
// hidden state.
func heavy(t testing.TB) []byte {
	t.Helper()
	page := string(read(t, "permalink-oir.html"))
	from, to := strings.Index(page, ` <li id="ctl00`), strings.Index(page, "</ul>\n</body>")
	head, row, foot := page[:from], page[from:to], page[to:]
	var b bytes.Buffer
	for n := range 700 {
		fmt.Fprintf(&b, `<li class="nav-item dropdown"><a class="nav-link" href="/portal/consultas/pagina%d.aspx?id=%d&amp;lang=es" title="Informaci&#243;n">Información %d</a></li>`+"\n", n, n, n)
	}
	menu := `<input type="hidden" id="__VIEWSTATE" value="` + strings.Repeat("/wEPDwUKLTk4", 8000) + `" /><ul>` + b.String() + "</ul>"
	return []byte(strings.Replace(head, "<body>", "<body>"+menu, 1) + strings.Repeat(row, 10) + foot)
}

func BenchmarkParseList(b *testing.B) {
	body := heavy(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		list, err := regulator.ParseList(disclosure.OIR, body, regulator.PublicOrigin)
		if err != nil || len(list.Rows) != 10 {
			b.Fatal(len(list.Rows), err)
		}
	}
}

func BenchmarkParseFeed(b *testing.B) {
	body := read(b, "feed-oir.xml")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := regulator.ParseFeed(disclosure.OIR, body, regulator.PublicOrigin); err != nil {
			b.Fatal(err)
		}
	}
}
