// Package pdftest reads the files of package pdf, for tests.
package pdftest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	objectForm = regexp.MustCompile(`^(\d+) 0 obj\n`)
	lengthForm = regexp.MustCompile(`/Length (\d+) >>$`)
	kidForm    = regexp.MustCompile(`(\d+) 0 R`)
)

// File is a parsed PDF file.
type File struct {
	*testing.T
	raw     string
	Dicts   map[int]string // by the number of the object
	Streams map[int]string // uncompressed
	Trailer string
}

// Open parses a file by its cross-reference table and checks the position of every
// object.
func Open(t *testing.T, file string) *File {
	t.Helper()
	p := &File{
		T:       t,
		raw:     file,
		Dicts:   map[int]string{},
		Streams: map[int]string{},
	}
	if !strings.HasPrefix(file, "%PDF-1.") || !strings.HasSuffix(file, "%%EOF\n") {
		t.Fatalf("got %.40q, want a PDF file", file)
	}
	at := strings.LastIndex(file, "startxref\n") + len("startxref\n")
	start, err := strconv.Atoi(strings.Split(file[at:], "\n")[0])
	if err != nil || start <= 0 || start >= len(file) {
		t.Fatalf("startxref is %.40q, want a position in the file", file[at:])
	}
	if !strings.HasPrefix(file[start:], "xref\n0 ") {
		t.Fatalf("got %.40q at startxref, want a table", file[start:])
	}
	p.readTable(start)
	return p
}

// readTable reads the objects of a cross-reference table.
func (p *File) readTable(start int) {
	lines := strings.SplitAfter(p.raw[start:], "\n")
	count, _ := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(lines[1], "0 ")))
	for n := 1; n < count; n++ {
		line := lines[2+n]
		at, err := strconv.Atoi(line[:10])
		if len(line) != 20 || err != nil {
			p.Fatalf("entry of object %d is %q, want 20 characters with a position", n, line)
		}
		p.object(n, at)
	}
	if p.Trailer = lines[count+3]; !strings.Contains(p.Trailer, fmt.Sprintf("/Size %d ", count)) {
		p.Errorf("trailer is %s, want a size of %d", p.Trailer, count)
	}
}

// object reads the object at a position, and its stream.
func (p *File) object(number, at int) {
	p.Helper()
	m := objectForm.FindStringSubmatch(p.raw[at:min(len(p.raw), at+20)])
	if m == nil || m[1] != strconv.Itoa(number) {
		p.Fatalf("at %d is %.20q, want object %d", at, p.raw[at:], number)
	}
	dict, rest, _ := strings.Cut(p.raw[at+len(m[0]):], "\n")
	p.Dicts[number] = dict
	content, streamed := strings.CutPrefix(rest, "stream\n")
	if !streamed {
		return
	}
	length, _ := strconv.Atoi(lengthForm.FindStringSubmatch(dict)[1])
	if !strings.HasPrefix(content[length:], "\nendstream\nendobj\n") {
		p.Errorf("stream %d does not end after %d bytes", number, length)
	}
	content = content[:length]
	if strings.Contains(dict, "/Filter /FlateDecode") {
		z, err := zlib.NewReader(strings.NewReader(content))
		if err != nil {
			p.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			p.Fatal(err)
		}
		content = string(plain)
	}
	p.Streams[number] = content
}

// Ref returns the number of the object to which a key of a dictionary refers, or
// zero.
func (p *File) Ref(dict, key string) int {
	_, after, _ := strings.Cut(dict, "/"+key+" ")
	var n int
	_, _ = fmt.Sscan(after, &n)
	return n
}

// Pages returns the numbers of the pages, in order.
func (p *File) Pages() (out []int) {
	tree := p.Dicts[p.Ref(p.Dicts[p.Ref(p.Trailer, "Root")], "Pages")]
	_, kids, _ := strings.Cut(tree, "/Kids [")
	kids, _, _ = strings.Cut(kids, "]")
	for _, m := range kidForm.FindAllStringSubmatch(kids, -1) {
		n, _ := strconv.Atoi(m[1])
		if !strings.HasPrefix(p.Dicts[n], "<< /Type /Page ") {
			p.Errorf("object %d is %s, want a page", n, p.Dicts[n])
		}
		out = append(out, n)
	}
	if !strings.Contains(tree, fmt.Sprintf("/Count %d ", len(out))) {
		p.Errorf("tree of pages is %s, want a count of %d", tree, len(out))
	}
	return out
}

// Text returns the text of each page, line by line.
func Text(t *testing.T, file string) (pages []string) {
	t.Helper()
	p := Open(t, file)
	for _, n := range p.Pages() {
		content := p.Streams[p.Ref(p.Dicts[n], "Contents")]
		var text bytes.Buffer
		for line := range strings.Lines(content) { // each operator is on a line
			_, shown, ok := strings.Cut(line, " Tm ")
			if ok {
				show(&text, shown)
				text.WriteByte('\n')
			}
		}
		pages = append(pages, text.String())
	}
	return pages
}

// show writes the strings of an operator, separated by spaces. Their encoding is
// that of Latin 1 except for a few characters.
func show(text *bytes.Buffer, shown string) {
	within, strings := false, 0
	for n := 0; n < len(shown); n++ {
		switch c := shown[n]; {
		case !within && c == '(':
			if within = true; strings > 0 {
				text.WriteByte(' ')
			}
			strings++
		case !within:
		case c == ')':
			within = false
		case c == 0x97:
			text.WriteRune('—')
		default:
			if c == '\\' {
				n++
			}
			text.WriteRune(rune(shown[n]))
		}
	}
}
