package regulator_test

import (
	"math"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"pregon/internal/disclosure"
	"pregon/internal/source/regulator"
	"pregon/internal/test/longtest"
)

// hostile is an expensive input: a repeated piece between a head and a foot. Every %d in
// a piece is replaced by its number.
type hostile struct {
	name, head, piece, foot string
}

// largest returns the size of an input for a limit: less under the race detector, which
// makes parsers ten times as slow.
func largest(limit int) int {
	if longtest.Race {
		return limit / 8
	}
	return limit
}

// sizes are about a quarter of a size, and all of it.
func (h hostile) sizes(size int) (small, large []byte) { return h.body(size / 4), h.body(size) }

// body returns the input with at most a size.
func (h hostile) body(size int) []byte {
	parts := strings.Split(h.piece, "%d")
	b := append(make([]byte, 0, size), h.head...)
	for n, end := 0, len(b); ; n++ {
		for k, part := range parts {
			if k > 0 {
				b = strconv.AppendInt(b, int64(n), 10)
			}
			b = append(b, part...)
		}
		if len(b)+len(h.foot) > size {
			return append(b[:end], h.foot...)
		}
		end = len(b)
	}
}

// wantLinear fails when four times the input takes more than twelve times the work. It
// uses the minimum CPU time of this thread, so that the load of the machine does not
// matter.
func wantLinear(t *testing.T, small, large []byte, parse func([]byte)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	took := func(body []byte, runs int) time.Duration {
		least := time.Duration(math.MaxInt64)
		for range runs {
			begun := worked(t)
			parse(body)
			least = min(least, worked(t)-begun)
		}
		return max(least, 1)
	}
	var ratio float64
	least := took(small, 3)
	for range 5 {
		if ratio = float64(took(large, 1)) / float64(least); ratio <= 12 {
			return
		}
	}
	t.Errorf("%d bytes take %.0f times the work of %d", len(large), ratio, len(small))
}

// worked returns the CPU time of this thread.
func worked(t *testing.T) time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID, which the package syscall does not name
	var at syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&at)), 0); errno != 0 {
		t.Fatal(errno)
	}
	return time.Duration(at.Nano())
}

func TestHostileFeeds(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	const top, end = `<?xml version="1.0" encoding="utf-8"?><rss><Channel>`, `</Channel></rss>`
	const item = top + `<item><guid>https://www.cnmv.es/x/Resultado-OIR.aspx?nreg=7</guid><description>`
	const itemEnd = `</description></item>` + end
	const cdata, cdataEnd = item + `<![CDATA[`, `]]>` + itemEnd
	for _, h := range []hostile{
		{"a text in pieces", item, "x<a/>", itemEnd},
		{"a text between comments", item, "x<!---->", itemEnd},
		{"a text in sections", item, "<![CDATA[x]]>", itemEnd},
		{"a text between instructions", item, "x<?a?>", itemEnd},
		{"children", top + "<item>", "<a%d>x</a%d>", "</item>" + end},
		{"items", top, "<item/>", end},
		{"reports", top, strings.ReplaceAll(feedItem("Mon, 21 Sep 2026 10:33:40 GMT", "12:33 21/09/2026"), "-IP.aspx?nreg=7", "-OIR.aspx?nreg=1%d"), end},
		{"open elements", top, "<a>", end},
		{"ends of nothing", top + "<a><b>", "</c>", end},
		{"attributes", top + "<item ", "a%d='' ", "></item>" + end},
		{"namespaces", top, "<a xmlns:a%d=''></a>", end},
		{"entities", item, "&amp;&nada", itemEnd},
		{"words between tags", cdata, "x<i>", cdataEnd},
		{"words after the half of a tag", cdata, "x<", cdataEnd},
		{"lines", cdata, "x<br>", cdataEnd},
		{"bold", cdata, "<b>x</b>", cdataEnd},
		{"comments in words", cdata, "x<!-- -->", cdataEnd},
		{"times", cdata, "1:23 1/2/2026 ", cdataEnd},
		{"numbers", top + "<item><guid>", "?nreg=", "</guid></item>" + end},
	} {
		t.Run(h.name, func(t *testing.T) {
			small, large := h.sizes(largest(regulator.MostFeed))
			wantLinear(t, small, large, func(body []byte) {
				_, _ = regulator.ParseFeed(disclosure.OIR, body, regulator.PublicOrigin)
			})
		})
	}
}

func TestHostilePages(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	const list, end = `<html><body><ul id="listaElementosPrimernivel">`, `</body></html>`
	const row = list + `<li id="elementoPrimerNivel"><ul>`
	const subject = row + `<li id="liSubtituloRegistro">`
	const table = `<html><table id="grdDescargas">`
	deep := func(s string) string { return strings.Repeat(s, 50) }
	const report = `<li id="elementoPrimerNivel"><ul><li id="liFechaRegistro">22/04/2026</li><li id="liHora">10:00</li>` +
		`<li><a id="hlTituloCabecera" href="?nif=A69001238">ALMAZARA</a></li><li id="liSubtituloRegistro">Informa</li>` +
		`<li>Número de registro: 50374</li><li>Número y fecha de registro oficial: 1%d</li></ul></li>`
	for _, h := range []hostile{
		{"rows", list, `<li id="elementoPrimerNivel">`, end},
		{"reports", list, report, end},
		{"entries of another form", list, `<li><a>`, end},
		{"lists in lists", `<html>` + deep(`<ul id="listaElementosPrimernivel"><li>`), `<a>x</a>`, end},
		{"owners in owners", `<html>` + deep(`<div id="tituloDatos">`), `<a></a>`, end},
		{"pagers in pagers", `<html>` + deep(`<div id="lblInfoPaginacion">`), `<a>x</a>`, end},
		{"pages", list + `</ul>` + deep("<div>"), `<a href="?page=1">1</a>`, end},
		{"items in items", row + deep("<li><ul>"), "x</z>", end},
		{"items in items, again and again", row, deep("<li><ul>") + deep("</ul></li>"), end},
		{"items", row, "<li>x", end},
		{"labels", row, "<li>Número de registro: ", end},
		{"elements without an end", row, "<i>", end},
		{"fonts in paragraphs", row + deep("<font %d>"), "<p>x", end},
		{"links without an end", row, "<a href=%d>x", end},
		{"links in tables", row, "<a><table><td><a>x</table>", end},
		{"links around items", row, "<a><li>x", end},
		{"misnested", row, "<b><i></b></i>", end},
		{"ends of nothing", row, "x</z>", end},
		{"paragraphs", row, "<p>x</p></p>", end},
		{"roots", row, "<html a%d><body b%d>", end},
		{"attributes", row + "<b ", "a%d ", ">" + end},
		{"tags with attributes", row, "<b a%d b%d c%d>x</b>", end},
		{"ids", row, `<b id="a%d">x</b>`, end},
		{"relations", row, `<a>Anula la comunicación núm. 1%d del 31/08/2026</a>`, end},
		{"relations of the subject", subject, `<a>Anula la comunicación núm. 1%d del 31/08/2026</a>`, end},
		{"relations in relations", subject, `<a>núm. 1 del 31/08/2026<table><td>`, end},
		{"nearly relations", row + "<a>", "núm. 1 del ", end},
		{"entities", subject, "&amp;&nada", end},
		{"half tags", subject, "<", end},
		{"tables", `<html>`, `<table id="grdDescargas"><td><a title="enero" href="ver">x</a></table>`, end},
		{"tables in tables", table + deep(`<tr><td>`), `<a title="enero" href="verdoc.axd">x</a>`, end},
		{"cells", table, "<tr><td><p>x", end},
		{"words in tables", table, "x<tr>", end},
	} {
		t.Run(h.name, func(t *testing.T) {
			small, large := h.sizes(largest(regulator.MostContent))
			wantLinear(t, small, large, func(body []byte) {
				_, _ = regulator.ParseList(disclosure.OIR, body, regulator.PublicOrigin)
			})
			small, large = h.body(largest(regulator.MostContent/16)), small // the others read a page the same way
			wantLinear(t, small, large, func(body []byte) {
				_, _ = regulator.ParsePermalink(disclosure.OIR, 50374, body, regulator.PublicOrigin)
			})
			wantLinear(t, small, large, func(body []byte) {
				_, _ = regulator.ParseEntities(regulator.FundRegisters[0], body)
			})
			wantLinear(t, small, large, func(body []byte) {
				_, _ = regulator.ParseOpenData(2026, body, regulator.PublicOrigin)
			})
		})
	}
}

// The part before the list may be as large as the page.
func TestHostileMenus(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	const end = `<ul id="listaElementosPrimernivel"></ul></html>`
	large := string(hostile{head: "<html><b ", piece: "a%d ", foot: ">"}.body(largest(500 << 10)))
	for _, h := range []hostile{
		{"tags", "<html>", "<b id=a%d>", end},
		{"text", "<html>", "x ", end},
		{"half tags", "<html>", "<", end},
		{"comments", "<html>", "<!-->", end},
		{"a comment without end", "<html><!--", "-- <!--", end},
		{"a script without end", "<html><script>", "<!-- </scrip <script>", end},
		{"ends", "<html>", "</a", end},
		{"attributes", "<html><b ", "a%d ", ">" + end},
		{"tags after a large one", large, "<b a>", end},
		{"heads", "<html>", `<meta name="article:published_time" content="%d">`, end},
		{"no list", "<html>", "<li><a>x</a>", "</html>"},
	} {
		t.Run(h.name, func(t *testing.T) {
			small, large := h.sizes(largest(regulator.MostPage))
			wantLinear(t, small, large, func(body []byte) {
				_, _ = regulator.ParseList(disclosure.OIR, body, regulator.PublicOrigin)
			})
		})
	}
}

// Inputs above the limits of size or depth are not read to their end.
func TestBounds(t *testing.T) {
	const list, end = `<html><ul id="listaElementosPrimernivel">`, `</ul></html>`
	for _, test := range []struct{ name, body, want string }{
		{"large", list + strings.Repeat(" ", regulator.MostContent) + end, "more than 1 MB"},
		{"deep", list + strings.Repeat("<div>", 200) + end, "nested too deep"},
	} {
		l, err := regulator.ParseList(disclosure.OIR, []byte(test.body), regulator.PublicOrigin)
		wantMarkup(t, err, test.want)
		wantWhole(t, err, true)
		_, err = regulator.ParseEntities(regulator.FundRegisters[0], []byte(test.body))
		wantMarkup(t, err, test.want)
		if l.Pages != 1 || len(l.Rows) > 0 {
			t.Errorf("%s: %d rows of %d pages", test.name, len(l.Rows), l.Pages)
		}
	}
	feed := hostile{head: "<rss><channel>", piece: "<item/>", foot: "</channel></rss>"}.body(100 << 10)
	_, err := regulator.ParseFeed(disclosure.OIR, feed, regulator.PublicOrigin)
	wantMarkup(t, err, "more items")
	wantWhole(t, err, true)
	menu := "<html>" + strings.Repeat("<br>", regulator.MostContent) + `<ul id="listaElementosPrimernivel">` + end
	if _, err := regulator.ParseList(disclosure.OIR, []byte(menu), regulator.PublicOrigin); err != nil {
		t.Errorf("a long menu: %v", err)
	}
}
