package extracttest

import (
	"bytes"
	"compress/flate"
	"fmt"
	"slices"
	"strings"
)

// Bomb is a file of a few kilobytes whose page unpacks to gigabytes.
func Bomb() []byte {
	const megabytes = 2 << 10
	var once bytes.Buffer
	z, _ := flate.NewWriter(&once, flate.BestCompression)
	z.Write(bytes.Repeat([]byte("q "), 1<<19))
	z.Flush()
	inner := slices.Concat([]byte("\x78\xda"), bytes.Repeat(once.Bytes(), megabytes))
	w := &writer{}
	return w.onePage(w.stream("/Filter [/FlateDecode /FlateDecode]", string(deflate(inner))), "")
}

// onePage is a file with one page of the given content and resources.
func (w *writer) onePage(content, resources string) []byte {
	w.add("<< /Type /Page /Parent %s /MediaBox [0 0 595 842] /Contents %s /Resources << %s >> >>", w.next(1), content, resources)
	pages := w.add("<< /Type /Pages /Kids [%s] /Count 1 >>", w.last())
	return w.finish(w.add("<< /Type /Catalog /Pages %s >>", pages))
}

// Swarm is a small file whose page never ends: each part of it draws the next
// one twenty times.
func Swarm() []byte {
	const deep = 12
	w := &writer{}
	for n := range deep {
		content := "BT /F1 1 Tf (a) Tj ET"
		resources := "/Font << /F1 " + courier + " >>"
		if n+1 < deep {
			content = strings.Repeat("/X Do ", 20)
			resources = "/XObject << /X " + w.next(1) + " >>"
		}
		w.stream("/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << "+resources+" >>", content)
	}
	return w.onePage(w.stream("", "/X Do"), "/XObject << /X 1 0 R >>")
}

// Endless is a small file whose page takes hours to draw, and little memory: it
// is a picture, under a colour that is computed for each dot.
func Endless() []byte {
	w := &writer{}
	picture := w.stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8", "x")
	function := w.stream("/FunctionType 4 /Domain [0 1 0 1] /Range [0 1]", "{ add "+strings.Repeat("dup mul sqrt ", 20_000)+"}")
	shading := "<< /ShadingType 1 /ColorSpace /DeviceGray /Matrix [595 0 0 842 0 0] /Function " + function + " >>"
	return w.onePage(w.stream("", "q 595 0 0 842 0 0 cm /P Do Q /S sh"), "/XObject << /P "+picture+" >> /Shading << /S "+shading+" >>")
}

// Cyclic is a file whose pages contain each other.
func Cyclic() []byte {
	w := &writer{}
	pages := w.next(0)
	w.add("<< /Type /Pages /Kids [%s %s] /Count 2 /Parent %s >>", w.next(1), pages, w.next(1))
	w.add("<< /Type /Pages /Kids [%s] /Count 2 /Parent %s >>", pages, pages)
	return w.finish(w.add("<< /Type /Catalog /Pages %s >>", pages))
}

// ManyPages is a file that claims two billion pages and has one.
func ManyPages(line string) []byte {
	good := PDF([]Line{{Margin, 700, Size, line}})
	return bytes.Replace(good, []byte("/Count 1 "), []byte("/Count 2000000000 "), 1)
}

// Nested is a file with arrays within arrays, a hundred thousand deep.
func Nested() []byte {
	const deep = 100_000
	w := &writer{}
	content := w.stream("", strings.Repeat("[", deep)+strings.Repeat("]", deep)+" TJ")
	w.add("%s%s", strings.Repeat("[", deep), strings.Repeat("]", deep))
	return w.onePage(content, "/Deep "+w.last())
}

// Circular is a file whose table of contents goes round in circles.
func Circular(line string) []byte {
	good := Bookmarked([]Bookmark{{"Uno", 1}, {"Dos", 1}}, []Line{{Margin, 700, Size, line}})
	// The second mark, object 8, is followed by the first, object 7.
	return bytes.Replace(good, []byte("/Dest [3 0 R /Fit]  >>"), []byte("/Dest [3 0 R /Fit] /Next 7 0 R /First 7 0 R >>"), 1)
}

// Scripted is a file that would run scripts and start programs, and carries
// another file.
func Scripted(line string) []byte {
	actions := `/OpenAction << /S /JavaScript /JS (while \(true\) { app.alert\("x"\) }) /Next << /S /Launch /F (/bin/sh) >> >>
/AA << /WC << /S /JavaScript /JS (this.exportDataObject\({cName: "a"}\)) >> >>
/Names << /EmbeddedFiles << /Names [(a.exe) << /Type /Filespec /F (a.exe) >>] >> /JavaScript << /Names [(a) << /S /JavaScript /JS (for \(;;\);) >>] >> >>`
	return fromContents([]string{draw([]Line{{Margin, 700, Size, line}})}, actions)
}

// BadPicture is a file whose picture claims four billion pixels a side.
func BadPicture() []byte {
	w := &writer{}
	picture := w.stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8", 60_000, 60_000), "x")
	return w.onePage(w.stream("", "q 595 0 0 842 0 0 cm /P Do Q"), "/XObject << /P "+picture+" >>")
}
