package extract_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pregon/internal/extract"
	"pregon/internal/extract/extracttest"
)

func TestAnnualReport(t *testing.T) {
	text := read(t, extracttest.AnnualReport(first, second))
	if text.Type != extract.HTML || text.Language != "es" {
		t.Errorf("read %s in %q", text.Type, text.Language)
	}
	equal(t, text.Pages[0].Text, "Informe financiero anual\n\n"+first+"\n\n"+second+"\n\nConcepto  2025\nIngresos  1.234")
	if want := []extract.Heading{{Title: "Informe financiero anual", Page: 1, Level: 1}}; !slices.Equal(text.Outline, want) {
		t.Errorf("the outline is %v", text.Outline)
	}
}

func TestHTML(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"entities", "<html><body>a&ntilde;o &amp; d&iacute;a&nbsp;5 &euro;</body></html>", "año & día 5 €"},
		{"Latin-1", "<html><head><meta charset=iso-8859-1></head><body>a\xf1o</body></html>", "año"},
		{"Windows-1252 that says nothing", "<html><body>a\xf1o \x80</body></html>", "año €"},
		{"Latin-1 in XHTML", "<?xml version='1.0' encoding='ISO-8859-15'?><html><body>\xa4 a\xf1o</body></html>", "€ año"},
		{"UTF-16", "\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00a\x00\xf1\x00o\x00", "año"},
		{"UTF-8 that says Latin-1", "<html><head><meta charset=iso-8859-1></head><body>año</body></html>", "año"},
		{"a mark of bytes", "\xef\xbb\xbf<!DOCTYPE html><p>año", "año"},
		{"hidden", `<html><p>uno</p><div style="color:red; display : none"><div>x</div>x</div><p hidden>x</p><p style="visibility:hidden">x</p><p>dos</p>`, "uno\n\ndos"},
		{"hidden without an end", `<html><p>uno<br style="display:none"><input type="hidden" hidden>dos</p>`, "unodos"},
		{"scripts", "<html><script>x</script><style>x</style><noscript>x</noscript><p>uno</p><script/><p>dos</p><title/><p>tres", "uno\n\ndos\n\ntres"},
		{"spaces", "<html><p> uno \n\t dos<span> tres</span> </p> <p></p>", "uno dos tres"},
		{"inline", "<html><p>comuni<b>ca</b>ción<br>nueva", "comunicación\n\nnueva"},
		{"soft hyphens", "<html><p>comuni\u00adcación\u200b \x01", "comunicación"},
		{"a list", "<html><ul><li>uno<li>dos</ul>", "uno\n\ndos"},
		{"a table", "<html><table><thead><tr><th>a</th><th>b</th></tr></thead><tr><td><p>1</p><p>2</p></td><td>3</td></tr></table>fin", "a  b\n1 2  3\n\nfin"},
		{"letters in pieces", "<html><p>an\u0303o", "año"},
		{"CDATA", "<?xml version='1.0'?><html><p><![CDATA[a < b]]></p></html>", "a < b"},
	} {
		t.Run(test.name, func(t *testing.T) { equal(t, readPage(t, []byte(test.body)), test.want) })
	}
}

func TestLongHTML(t *testing.T) {
	paragraphs := make([]string, 500)
	for i := range paragraphs {
		paragraphs[i] = first
	}
	text := read(t, extracttest.AnnualReport(paragraphs...))
	if len(text.Pages) < 20 {
		t.Fatalf("%d pages", len(text.Pages))
	}
	for n, p := range text.Pages[:len(text.Pages)-1] {
		if c := utf8.RuneCountInString(p.Text); c < 2500 || c > 3500 {
			t.Errorf("page %d has %d characters", n+1, c)
		}
		if !strings.HasSuffix(p.Text, "social.") {
			t.Errorf("page %d ends within a paragraph", n+1)
		}
	}
}

func TestTooLongHTML(t *testing.T) {
	r := own(t, func(o *extract.Options) { o.Limits.Pages, o.Limits.TextBytes = 10, 100_000 })
	for _, test := range []struct {
		name, body string
		pages      int
	}{
		{"pages", "<html><p>" + strings.Repeat("palabra ", 20_000), 10},
		{"a word", "<html><table><tr><td>" + strings.Repeat("x", 500_000), 3},
	} {
		text, err := r.Read(t.Context(), []byte(test.body))
		if err != nil {
			t.Fatal(err)
		}
		if len(text.Pages) != test.pages || len(text.Notes) != 1 {
			t.Errorf("%s: %d pages, notes %q", test.name, len(text.Pages), text.Notes)
		}
	}
	unreadable(t, r, []byte("<html><p title='"+strings.Repeat("x", 2<<20)), "it has a tag, or a text without tags, of more than 1 MB")
}

func TestSitePage(t *testing.T) {
	if _, err := shared(t).Read(t.Context(), extracttest.SitePage()); !errors.Is(err, extract.ErrSitePage) || extract.IsUnreadable(err) {
		t.Errorf("a page of the regulator's site: %v", err)
	}
}

func TestHTMLWithoutText(t *testing.T) {
	unreadable(t, shared(t), []byte("<html><body><img src=a></body></html>"), "it has no text")
	unreadable(t, shared(t), []byte("<?xml version='1.0'?><rss><title>x</title></rss>"), "it begins like an XML file")
}
