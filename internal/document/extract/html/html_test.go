package html_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/html"
)

const (
	first  = "La sociedad comunica que su consejo de administración ha acordado hoy convocar la junta general ordinaria de accionistas en su domicilio social."
	second = "El orden del día comprende la aprobación de las cuentas anuales y del informe de gestión, así como la aplicación del resultado del ejercicio."
)

// read reads a document that must be readable.
func read(t *testing.T, body []byte) *extract.Text {
	t.Helper()
	text, err := html.Read(body, extract.Limits{}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// testPage reads a document of one page and compares its text.
func testPage(t *testing.T, body, want string) {
	t.Helper()
	text := read(t, []byte(body))
	if len(text.Pages) != 1 || text.Pages[0].Text != want {
		t.Errorf("got %v, want one page %q", text.Pages, want)
	}
}

// testUnreadable reads a document that must be unreadable for a reason.
func testUnreadable(t *testing.T, body string, l extract.Limits, reason string) {
	t.Helper()
	if _, err := html.Read([]byte(body), l); !extract.IsUnreadable(err) || !strings.Contains(err.Error(), reason) {
		t.Errorf("got error %v, want an Unreadable because %s", err, reason)
	}
}

func TestAnnualReport(t *testing.T) {
	text := read(t, extracttest.AnnualReport(first, second))
	if text.Type != extract.HTML {
		t.Errorf("got type %s, want %s", text.Type, extract.HTML)
	}
	want := "Informe financiero anual\n\n" + first + "\n\n" + second + "\n\nConcepto\t2025\nIngresos\t1.234"
	if got := text.Pages[0].Text; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if want := []extract.Heading{{Title: "Informe financiero anual", Page: 1, Level: 1}}; !slices.Equal(text.Outline, want) {
		t.Errorf("got outline %v, want %v", text.Outline, want)
	}
}

func TestHTML(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"entities", "<html><body>a&ntilde;o &amp; d&iacute;a&nbsp;5 &euro;</body></html>", "año & día 5 €"},
		{"Latin-1", "<html><head><meta charset=iso-8859-1></head><body>a\xf1o</body></html>", "año"},
		{"Windows-1252 that is not declared", "<html><body>a\xf1o \x80</body></html>", "año €"},
		{"Latin-1 in XHTML", "<?xml version='1.0' encoding='ISO-8859-15'?><html><body>\xa4 a\xf1o</body></html>", "€ año"},
		{"UTF-16", "\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00a\x00\xf1\x00o\x00", "año"},
		{"UTF-8 declared as Latin-1", "<html><head><meta charset=iso-8859-1></head><body>año</body></html>", "año"},
		{"a byte order mark", "\xef\xbb\xbf<!DOCTYPE html><p>año", "año"},
		{"hidden", `<html><p>uno</p><div style="color:red; display : none"><div>x</div>x</div><p hidden>x</p><p style="visibility:hidden">x</p><p>dos</p>`, "uno\n\ndos"},
		{"hidden void elements", `<html><p>uno<br style="display:none"><input type="hidden" hidden>dos</p>`, "unodos"},
		{"scripts", "<html><script>x</script><style>x</style><noscript>x</noscript><p>uno</p><script/><p>dos</p><title/><p>tres", "uno\n\ndos\n\ntres"},
		{"spaces", "<html><p> uno \n\t dos<span> tres</span> </p> <p></p>", "uno dos tres"},
		{"inline", "<html><p>comuni<b>ca</b>ción<br>nueva", "comunicación\n\nnueva"},
		{"soft hyphens", "<html><p>comuni\u00adcación\u200b \x01", "comunicación"},
		{"a list", "<html><ul><li>uno<li>dos</ul>", "uno\n\ndos"},
		{"a table", "<html><table><thead><tr><th>a</th><th>b</th></tr></thead><tr><td><p>1</p><p>2</p></td><td>3</td></tr></table>fin", "a\tb\n1 2\t3\n\nfin"},
		{"combining accents", "<html><p>an\u0303o", "año"},
		{"CDATA", "<?xml version='1.0'?><html><p><![CDATA[a < b]]></p></html>", "a < b"},
	} {
		t.Run(test.name, func(t *testing.T) { testPage(t, test.body, test.want) })
	}
}

// TestHidden has elements that are not shown, most of them without an end tag.
func TestHidden(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"a head without an end tag", "<html><head><title>x</title><style>x</style><meta charset=utf-8><body><p>uno", "uno"},
		{"a head and no body", "<html><head><title>x</title><p>uno", "uno"},
		{"a head and text", "<html><head><title>x</title> <script>x</script> uno <b>dos</b>", "uno dos"},
		{"a title and no head", "<html><title>x</title><p>uno", "uno"},
		{"a paragraph", "<html><p hidden>x<p>uno<p style='display:none'>x<div>dos</div>", "uno\n\ndos"},
		{"a paragraph with elements in it", "<html><p hidden>x<span><b>x<p>uno", "uno"},
		{"a paragraph at its parent's end", "<html><div>uno<p hidden>x</div>dos", "uno\n\ndos"},
		{"a word", "<html><p>uno<span hidden>x</p><p>dos", "uno\n\ndos"},
		{"items", "<html><ul><li style='display:none'>x<li>uno<li hidden>x<ul><li>x</ul>x</ul>dos", "uno\n\ndos"},
		{"terms", "<html><dl><dt hidden>x<dd>uno<dt>dos<dd hidden>x</dl>tres", "uno\n\ndos\n\ntres"},
		{"cells", "<html><table><tr><td hidden>x<td>uno<th hidden>x<td>dos<tr hidden><td>x<td>x<tr><td>tres<td hidden>x</table>fin", "uno\tdos\ntres\n\nfin"},
		{"cells with tables in them", "<html><table><tr><td hidden>x<table><tr><td>x</table>x<td>uno</table>", "uno"},
		{"parts of tables", "<html><table><thead hidden><tr><th>x<tbody><tr><td>uno</table>", "uno"},
		{"options", "<html><div><select><option hidden>x<option>x</div>uno", "uno"},
		{"a division at its parent's end", "<html><section>uno<div hidden>x<p>x</section><p>dos", "uno\n\ndos"},
		{"a division in a cell", "<html><table><tr><td>uno<div hidden>x</td><td>dos</table>", "uno\tdos"},
		{"a drawing", "<html><p>uno<svg><g><path></p><p>dos<svg><foreignObject><p>x</svg> tres<object><p>x</object> fin", "uno\n\ndos tres fin"},
		{"end tags of other elements", "<html><div><b><div hidden>x</b>x</p>x</li>x</td>x</div>uno", "uno"},
		{"ends within a table", "<html><div><table><tr><td hidden>x</div>x</td><td>uno", "uno"},
		{"void", "<html>uno <img hidden><hr hidden><input style='opacity:0'><wbr hidden>dos", "uno dos"},
		{"XML", "<?xml version='1.0'?><html><head><x:y>x</x:y></head><body><p hidden='hidden'>x<table><tr><td>x</td></tr></table>x</p>uno</body></html>", "uno"},
		{"invalid XML", "<?xml version='1.0'?><html><body><div><p hidden='hidden'>x</div><p>uno</body></html>", "uno"},
		{"styles", `<html>uno <b style="font-size:0">x</b><b style="FONT-SIZE: 0px ;color:red">x</b><b style="opacity:0">x</b><b style="opacity: 0.0 !important">x</b>` +
			`<b style="visibility:hidden">x</b><b style="visibility:collapse">x</b><b style="font:0/0 a">x</b><b style="display:block;display:none">x</b>dos`, "uno dos"},
		{"styles that hide nothing", `<html><b style="font-size:0.9em">a</b><b style="opacity:0.5">b</b><b style="fill-opacity:0">c</b><b style="backface-visibility:hidden">d</b>` +
			`<b style="font-size:10px">e</b><b style="display:none;display:inline">f</b><b style=";:;font-size">g</b>`, "abcdefg"},
		{"shown within hidden elements", `<html><div style="font-size:0">x<b style="font-size:2em">x</b><b style="font-size:9pt">uno</b>x<b class=a> dos</b>x</div>` +
			`<div style="visibility:hidden">x<b style="visibility:visible">tres</b>x</div><div style="display:none"><b style="display:inline;visibility:visible">x</b></div>`, "uno dos\n\ntres"},
		{"very deep", "<html><div hidden>" + strings.Repeat("<b>", 5000) + "x" + strings.Repeat("</b>", 5000) + "</div>" + strings.Repeat("<i>", 5000) + "uno", "uno"},
	} {
		t.Run(test.name, func(t *testing.T) { testPage(t, test.body, test.want) })
	}
}

func TestLongHTML(t *testing.T) {
	paragraphs := make([]string, 500)
	for i := range paragraphs {
		paragraphs[i] = first
	}
	text := read(t, extracttest.AnnualReport(paragraphs...))
	if len(text.Pages) < 20 {
		t.Fatalf("got %d pages, want at least 20", len(text.Pages))
	}
	for n, p := range text.Pages[:len(text.Pages)-1] {
		if c := utf8.RuneCountInString(p.Text); c < 2500 || c > 3500 {
			t.Errorf("got %d characters on page %d, want 2500 to 3500", c, n+1)
		}
		if !strings.HasSuffix(p.Text, "social.") {
			t.Errorf("got page %d that ends within a paragraph, want complete paragraphs", n+1)
		}
	}
}

func TestTooLongHTML(t *testing.T) {
	l := extract.Limits{Pages: 10, TextBytes: 100_000}.WithDefaults()
	for _, test := range []struct {
		name, body string
		pages      int
	}{
		{"pages", "<html><p>" + strings.Repeat("palabra ", 20_000), 10},
		{"a word", "<html><table><tr><td>" + strings.Repeat("x", 500_000), 3},
	} {
		text, err := html.Read([]byte(test.body), l)
		if err != nil {
			t.Fatal(err)
		}
		if len(text.Pages) != test.pages || len(text.Notes) != 1 {
			t.Errorf("%s: got %d pages and notes %q, want %d pages and one note", test.name, len(text.Pages), text.Notes, test.pages)
		}
	}
	testUnreadable(t, "<html><p title='"+strings.Repeat("x", 2<<20), l, "it has a tag, or a text without tags, of more than 1 MB")
}

func TestSitePage(t *testing.T) {
	if _, err := html.Read(extracttest.SitePage(), extract.Limits{}.WithDefaults()); !errors.Is(err, extract.ErrSitePage) {
		t.Errorf("got error %v, want %v", err, extract.ErrSitePage)
	}
}

func TestHTMLWithoutText(t *testing.T) {
	testUnreadable(t, "<html><body><img src=a></body></html>", extract.Limits{}.WithDefaults(), "it does not have text")
}
