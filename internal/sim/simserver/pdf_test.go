package simserver_test

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

// pdfFile is a file taken to pieces: dictionaries, and streams unpacked.
type pdfFile struct {
	*testing.T
	file    string
	dicts   map[int]string
	streams map[int]string
	trailer string
}

// openPDF reads a file by its table of objects, of either kind, and checks
// that every object is where the table says.
func openPDF(t *testing.T, file string) *pdfFile {
	t.Helper()
	p := &pdfFile{t, file, map[int]string{}, map[int]string{}, ""}
	if !strings.HasPrefix(file, "%PDF-1.") || !strings.HasSuffix(file, "%%EOF\n") {
		t.Fatalf("no PDF: %.40q", file)
	}
	at := strings.LastIndex(file, "startxref\n") + len("startxref\n")
	start, err := strconv.Atoi(strings.Split(file[at:], "\n")[0])
	if err != nil || start <= 0 || start >= len(file) {
		t.Fatalf("startxref leads astray: %.40q", file[at:])
	}
	if strings.HasPrefix(file[start:], "xref\n0 ") {
		p.classic(start)
	} else {
		p.modern(start)
	}
	return p
}

func (p *pdfFile) classic(start int) {
	lines := strings.SplitAfter(p.file[start:], "\n")
	count, _ := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(lines[1], "0 ")))
	for n := 1; n < count; n++ {
		line := lines[2+n]
		at, err := strconv.Atoi(line[:10])
		if len(line) != 20 || err != nil {
			p.Fatalf("object %d has %q", n, line)
		}
		p.object(n, at)
	}
	if p.trailer = lines[count+3]; !strings.Contains(p.trailer, fmt.Sprintf("/Size %d ", count)) {
		p.Errorf("the trailer does not fit: %s", p.trailer)
	}
}

func (p *pdfFile) modern(start int) {
	number, _ := strconv.Atoi(strings.Split(p.file[start:], " ")[0])
	p.object(number, start)
	p.trailer = p.dicts[number]
	table := p.streams[number]
	if !strings.Contains(p.trailer, fmt.Sprintf("/Type /XRef /Size %d /W [1 3 2]", len(table)/6)) {
		p.Fatalf("no table: %s", p.trailer)
	}
	held := map[int][]int{}
	for n := 1; n < len(table)/6; n++ {
		e := table[6*n:]
		a := int(e[1])<<16 | int(e[2])<<8 | int(e[3])
		if e[0] == 1 {
			p.object(n, a)
		} else {
			held[a] = append(held[a], n)
		}
	}
	for holder, numbers := range held {
		var first int
		_, after, _ := strings.Cut(p.dicts[holder], "/First ")
		_, _ = fmt.Sscan(after, &first)
		index := strings.Fields(p.streams[holder][:first])
		bodies := p.streams[holder][first:]
		for n, number := range numbers {
			offset, _ := strconv.Atoi(index[2*n+1])
			if index[2*n] != strconv.Itoa(number) {
				p.Fatalf("object %d is not the one of number %d", number, n)
			}
			p.dicts[number], _, _ = strings.Cut(bodies[offset:], "\n")
		}
	}
}

// object reads the object at a place, and its stream.
func (p *pdfFile) object(number, at int) {
	p.Helper()
	m := objectForm.FindStringSubmatch(p.file[at:min(len(p.file), at+20)])
	if m == nil || m[1] != strconv.Itoa(number) {
		p.Fatalf("object %d is not at %d", number, at)
	}
	dict, rest, _ := strings.Cut(p.file[at+len(m[0]):], "\n")
	p.dicts[number] = dict
	content, streamed := strings.CutPrefix(rest, "stream\n")
	if !streamed {
		return
	}
	length, _ := strconv.Atoi(lengthForm.FindStringSubmatch(dict)[1])
	if !strings.HasPrefix(content[length:], "\nendstream\nendobj\n") {
		p.Errorf("the stream %d has another length", number)
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
	p.streams[number] = content
}

// ref returns the object that a dictionary names by a key.
func (p *pdfFile) ref(dict, key string) int {
	_, after, _ := strings.Cut(dict, "/"+key+" ")
	var n int
	_, _ = fmt.Sscan(after, &n)
	return n
}

// pages are the dictionaries of the pages, in order.
func (p *pdfFile) pages() (out []int) {
	tree := p.dicts[p.ref(p.dicts[p.ref(p.trailer, "Root")], "Pages")]
	_, kids, _ := strings.Cut(tree, "/Kids [")
	kids, _, _ = strings.Cut(kids, "]")
	for _, m := range kidForm.FindAllStringSubmatch(kids, -1) {
		n, _ := strconv.Atoi(m[1])
		if !strings.HasPrefix(p.dicts[n], "<< /Type /Page ") {
			p.Errorf("%d is no page: %s", n, p.dicts[n])
		}
		out = append(out, n)
	}
	if !strings.Contains(tree, fmt.Sprintf("/Count %d ", len(out))) {
		p.Errorf("%d pages: %s", len(out), tree)
	}
	return out
}

// readPDF checks a file and returns the text of its pages, a line for a line.
func readPDF(t *testing.T, file string) (pages []string) {
	t.Helper()
	p := openPDF(t, file)
	for _, n := range p.pages() {
		content := p.streams[p.ref(p.dicts[n], "Contents")]
		var text bytes.Buffer
		for line := range strings.Lines(content) { // each shows a line, or draws one
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

// show reads the strings of an operator, with a space between them. Their
// encoding agrees with Latin 1 but for a few signs.
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
