// Package pdf writes PDF files object by object, for the documents of the
// simulated market and for tests.
//
// It leaves the content of every object to the caller, so that damaged and
// malicious files can be written as well as good ones. The same calls give the
// same bytes.
package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
)

// Size of an A4 page, in points.
const PageWidth, PageHeight = 595, 842

// File holds the objects of a PDF file. The zero File is empty.
type File struct {
	Compress bool                                   // AddStream compresses streams
	Encrypt  func(number int, stream []byte) []byte // encrypts the streams added, unless nil
	objects  []object
}

// object is a value, usually a dictionary, and the stream that follows it.
type object struct {
	value  string
	stream []byte // nil for an object without a stream
}

// Ref is the number of an object. It is printed as a reference to the object.
type Ref int

func (r Ref) String() string { return strconv.Itoa(int(r)) + " 0 R" }

// Next returns the reference of the object added after skipping n others.
func (f *File) Next(n int) Ref { return Ref(len(f.objects) + 1 + n) }

// Add adds an object. Objects are numbered from 1 in the order of their addition.
func (f *File) Add(value string) Ref {
	f.objects = append(f.objects, object{value: value})
	return Ref(len(f.objects))
}

// Addf formats an object and adds it.
func (f *File) Addf(format string, args ...any) Ref { return f.Add(fmt.Sprintf(format, args...)) }

// Value returns the value of an object.
func (f *File) Value(r Ref) string { return f.objects[r-1].value }

// Set replaces the value of an object, such as one that refers to later objects.
func (f *File) Set(r Ref, value string) { f.objects[r-1].value = value }

// AddStream adds a stream. Its dictionary has the given entries, the length and,
// if the file is compressed, the filter.
func (f *File) AddStream(entries string, content []byte) Ref {
	if f.Compress {
		entries, content = strings.TrimSpace(entries+" /Filter /FlateDecode"), Deflate(content)
	}
	return f.AddRawStream(entries, content)
}

// AddRawStream adds a stream that is not compressed, or that was compressed by
// the caller.
func (f *File) AddRawStream(entries string, content []byte) Ref {
	if f.Encrypt != nil {
		content = f.Encrypt(len(f.objects)+1, content)
	}
	f.objects = append(f.objects, object{fmt.Sprintf("<< %s /Length %d >>", entries, len(content)), content})
	return Ref(len(f.objects))
}

// compressors are reused: each is much larger than the content of a page.
var compressors = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // the level is valid
	return z
}}

// Deflate compresses content for the filter FlateDecode.
func Deflate(content []byte) []byte {
	var out bytes.Buffer
	z := compressors.Get().(*zlib.Writer)
	defer compressors.Put(z)
	z.Reset(&out)
	_, _ = z.Write(content) // a buffer never fails
	_ = z.Close()
	return out.Bytes()
}

// Bytes returns the file with a cross-reference table, as in PDF 1.4. The
// trailer has the given entries besides the size.
func (f *File) Bytes(trailer string) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n") // these bytes mark it as binary for transfer programs
	offsets := make([]int, len(f.objects))
	for n, o := range f.objects {
		offsets[n] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\n", n+1, o.value)
		if o.stream != nil {
			out.WriteString("stream\n")
			out.Write(o.stream)
			out.WriteString("\nendstream\n")
		}
		out.WriteString("endobj\n")
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, trailer, start)
	return out.Bytes()
}

// AppendLiteral appends encoded text as a literal string.
func AppendLiteral(b, text []byte) []byte {
	b = append(b, '(')
	for _, c := range text {
		if c == '(' || c == ')' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return append(b, ')')
}

// TextString returns text as a UTF-16 string, for the titles of files and
// bookmarks.
func TextString(text string) string { return "<FEFF" + Hex(text) + ">" }

// Hex returns text as the hexadecimal digits of its UTF-16 units.
func Hex(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, "%04X", unit)
	}
	return b.String()
}
