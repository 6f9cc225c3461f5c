// Package extracttest makes documents for tests: PDF files of many producers'
// habits, web pages and packages, and such as are made to do harm.
package extracttest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// writer writes the objects of a PDF file. They are numbered from 1, in the
// order of add.
type writer struct {
	objects []string
	trailer string                                 // further entries of the trailer
	encrypt func(number int, stream []byte) []byte // nil: not encrypted
}

// add adds an object and returns a reference to it.
func (w *writer) add(format string, args ...any) string {
	w.objects = append(w.objects, fmt.Sprintf(format, args...))
	return w.last()
}

func (w *writer) last() string { return fmt.Sprintf("%d 0 R", len(w.objects)) }

// next is the reference that the next object will have, plus more.
func (w *writer) next(more int) string { return fmt.Sprintf("%d 0 R", len(w.objects)+1+more) }

// stream adds a stream as it is, with entries of its dictionary.
func (w *writer) stream(entries, data string) string {
	if w.encrypt != nil {
		data = string(w.encrypt(len(w.objects)+1, []byte(data)))
	}
	return w.add("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(data), data)
}

// finish writes the file.
func (w *writer) finish(root string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(w.objects))
	for i, o := range w.objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(w.objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root %s %s >>\nstartxref\n%d\n%%%%EOF\n", len(w.objects)+1, root, w.trailer, start)
	return b.Bytes()
}

// literal is a text as a string of a PDF file, in the letters of Windows.
func literal(text string) string {
	encoded, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		panic(fmt.Sprintf("extracttest: %q cannot be written in Windows-1252", text))
	}
	var b strings.Builder
	b.WriteByte('(')
	for i := range len(encoded) {
		if c := encoded[i]; c < ' ' || c > '~' || strings.IndexByte(`()\`, c) >= 0 {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte(')')
	return b.String()
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	z, _ := zlib.NewWriterLevel(&b, zlib.BestCompression)
	z.Write(data)
	z.Close()
	return b.Bytes()
}
