package extracttest

import (
	"bytes"
	"compress/flate"
	"fmt"
	"slices"
	"strings"

	"pregon/internal/sim/paper/pdf"
)

// Bomb returns a file of a few kilobytes whose page expands to gigabytes.
func Bomb() []byte { return Pages(BombPage) }

// BombPage adds a page of a few kilobytes that expands to gigabytes.
func BombPage(f *pdf.File) (content pdf.Ref, resources string) {
	const megabytes = 2 << 10
	var once bytes.Buffer
	z, _ := flate.NewWriter(&once, flate.BestCompression)
	z.Write(bytes.Repeat([]byte("q "), 1<<19))
	z.Flush()
	inner := slices.Concat([]byte("\x78\xda"), bytes.Repeat(once.Bytes(), megabytes))
	return f.AddRawStream("/Filter [/FlateDecode /FlateDecode]", pdf.Deflate(inner)), ""
}

// Swarm returns a small file whose page never ends: each part of it draws the next
// one twenty times.
func Swarm() []byte {
	const depth = 12
	f := &pdf.File{}
	for n := range depth {
		content := "BT /F1 1 Tf (a) Tj ET"
		resources := "/Font << /F1 " + pdf.Courier.Dict() + " >>"
		if n+1 < depth {
			content = strings.Repeat("/X Do ", 20)
			resources = fmt.Sprintf("/XObject << /X %v >>", f.Next(1))
		}
		f.AddStream("/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << "+resources+" >>", []byte(content))
	}
	return onePage(f, f.AddStream("", []byte("/X Do")), "/XObject << /X 1 0 R >>")
}

// Endless returns a file of one EndlessPage.
func Endless() []byte { return Pages(EndlessPage) }

// EndlessPage adds a page that takes hours to draw and little memory: an image
// under a colour that is computed for each dot.
func EndlessPage(f *pdf.File) (content pdf.Ref, resources string) {
	picture := f.AddStream(imageDict(1, 1), []byte("x"))
	program := "{ add " + strings.Repeat("dup mul sqrt ", 20_000) + "}"
	function := f.AddStream("/FunctionType 4 /Domain [0 1 0 1] /Range [0 1]", []byte(program))
	shading := fmt.Sprintf("<< /ShadingType 1 /ColorSpace /DeviceGray /Matrix [595 0 0 842 0 0] /Function %v >>", function)
	content = f.AddStream("", []byte("q 595 0 0 842 0 0 cm /P Do Q /S sh"))
	return content, fmt.Sprintf("/XObject << /P %v >> /Shading << /S %s >>", picture, shading)
}

// Cyclic returns a file whose trees of pages contain each other.
func Cyclic() []byte {
	f := &pdf.File{}
	f.Add("<< /Type /Pages /Kids [2 0 R 1 0 R] /Count 2 /Parent 2 0 R >>")
	f.Add("<< /Type /Pages /Kids [1 0 R] /Count 2 /Parent 1 0 R >>")
	return finish(f, f.Add("<< /Type /Catalog /Pages 1 0 R >>"))
}

// ManyPages returns a file that claims two billion pages and has one.
func ManyPages(line string) []byte {
	good := PDF([]Line{{Margin, 700, Size, line}})
	return bytes.Replace(good, []byte("/Count 1 "), []byte("/Count 2000000000 "), 1)
}

// Nested returns a file with arrays nested a hundred thousand deep.
func Nested() []byte {
	const depth = 100_000
	arrays := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	f := &pdf.File{}
	content := f.AddStream("", []byte(arrays+" TJ"))
	return onePage(f, content, "/Deep "+f.Add(arrays).String())
}

// Circular returns a file whose outline is a cycle.
func Circular(line string) []byte {
	f := &pdf.File{}
	root, pages := addPages(f, contentsOf([][]Line{{{Margin, 700, Size, line}}}), pdf.Courier.Dict(), "")
	outline := addOutline(f, root, []pdf.Bookmark{
		{Title: "Uno", Page: pages[0], Level: 1},
		{Title: "Dos", Page: pages[0], Level: 1},
	})
	first, second := outline+1, outline+2
	f.Set(second, strings.Replace(f.Value(second), " >>", fmt.Sprintf(" /Next %v /First %v >>", first, first), 1))
	return finish(f, root)
}

// Scripted returns a file that would run scripts and start programs, and that has
// another file attached.
func Scripted(line string) []byte {
	actions := `/OpenAction << /S /JavaScript /JS (while \(true\) { app.alert\("x"\) }) /Next << /S /Launch /F (/bin/sh) >> >>
/AA << /WC << /S /JavaScript /JS (this.exportDataObject\({cName: "a"}\)) >> >>
/Names << /EmbeddedFiles << /Names [(a.exe) << /Type /Filespec /F (a.exe) >>] >> /JavaScript << /Names [(a) << /S /JavaScript /JS (for \(;;\);) >>] >> >>`
	return fromContents(contentsOf([][]Line{{{Margin, 700, Size, line}}}), actions)
}

// BadPicture returns a file whose image claims 60,000 pixels a side.
func BadPicture() []byte {
	f := &pdf.File{}
	picture := f.AddStream(imageDict(60_000, 60_000), []byte("x"))
	return onePage(f, f.AddStream("", []byte("q 595 0 0 842 0 0 cm /P Do Q")),
		fmt.Sprintf("/XObject << /P %v >>", picture))
}
