package simserver

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
)

// objects are those of a PDF file; the first one has the number 1.
type objects struct {
	all    []object
	packed bool
}

// object is a dictionary, and its stream if it has one.
type object struct {
	dict   string
	stream []byte // nil is none
}

func (o *objects) add(dict string) int {
	o.all = append(o.all, object{dict: dict})
	return len(o.all)
}

// addStream adds a stream; dict is what its dictionary has besides.
func (o *objects) addStream(dict string, content []byte) int {
	o.all = append(o.all, stream(dict, content, o.packed))
	return len(o.all)
}

func stream(dict string, content []byte, packed bool) object {
	if packed {
		content = deflate(content)
		dict = strings.TrimSpace(dict + " /Filter /FlateDecode")
	}
	return object{fmt.Sprintf("<< %s /Length %d >>", dict, len(content)), content}
}

// packers are used again: each is much larger than what it packs.
var packers = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // the level is a good one
	return z
}}

func deflate(content []byte) []byte {
	var out bytes.Buffer
	z := packers.Get().(*zlib.Writer)
	defer packers.Put(z)
	z.Reset(&out)
	_, _ = z.Write(content) // a buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

// file makes the file of the pages.
func (d *pdf) file(title string) []byte {
	o := &objects{packed: d.packed}
	root := o.add("") // its text names what comes later
	tree := o.add("")
	info := o.add("<< /Title " + textString(title) + " /Producer (Mercado simulado) >>")
	fonts := "<<"
	for n, f := range []*font{d.body, d.bold, d.figures} {
		fonts += fmt.Sprintf(" /F%d %d 0 R", n+1, o.add("<< /Type /Font /Subtype /Type1 /BaseFont /"+f.name+" /Encoding /WinAnsiEncoding >>"))
	}
	resources := o.add("<< /Font " + fonts + " >> >>")
	var kids strings.Builder
	first := len(o.all)
	for n, content := range d.pages {
		o.add(fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %d %d] /Resources %d 0 R /Contents %d 0 R >>",
			tree, paperWidth, paperHeight, resources, first+2*n+2))
		o.addStream("", content.Bytes())
		fmt.Fprintf(&kids, "%d 0 R ", first+2*n+1)
	}
	o.all[tree-1].dict = fmt.Sprintf("<< /Type /Pages /Kids [ %s] /Count %d >>", kids.String(), len(d.pages))
	catalog := fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R /Lang (es-ES)", tree)
	if len(d.outline) > 0 {
		catalog += fmt.Sprintf(" /Outlines %d 0 R /PageMode /UseOutlines", addOutline(o, d.outline, first))
	}
	o.all[root-1].dict = catalog + " >>"
	if d.modern {
		return o.modern(root, info)
	}
	return o.classic(fmt.Sprintf("/Root %d 0 R /Info %d 0 R", root, info))
}

// addOutline adds bookmarks of two levels; page n is the object first+2n+1.
func addOutline(o *objects, marks []bookmark, first int) int {
	base := len(o.all) // mark n is the object base+2+n
	same := func(n, step int) int {
		for k := n + step; k >= 0 && k < len(marks) && marks[k].level >= marks[n].level; k += step {
			if marks[k].level == marks[n].level {
				return k
			}
		}
		return -1
	}
	tops := 0
	for _, m := range marks {
		if m.level == 1 {
			tops++
		}
	}
	last := len(marks) - 1
	for marks[last].level > 1 {
		last--
	}
	o.add(fmt.Sprintf("<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>", base+2, base+2+last, tops))
	above := -1
	for n, m := range marks {
		parent := base + 1
		if m.level == 1 {
			above = n
		} else {
			parent = base + 2 + above
		}
		dict := fmt.Sprintf("<< /Title %s /Parent %d 0 R /Dest [%d 0 R /XYZ null null null]", textString(m.title), parent, first+2*m.page+1)
		for _, to := range []struct {
			name string
			step int
		}{{"Prev", -1}, {"Next", 1}} {
			if k := same(n, to.step); k >= 0 {
				dict += fmt.Sprintf(" /%s %d 0 R", to.name, base+2+k)
			}
		}
		if below := n + 1; m.level == 1 && below < len(marks) && marks[below].level > 1 {
			end := below
			for end+1 < len(marks) && marks[end+1].level > 1 {
				end++
			}
			dict += fmt.Sprintf(" /First %d 0 R /Last %d 0 R /Count -%d", base+2+below, base+2+end, end-below+1)
		}
		o.add(dict + " >>")
	}
	return base + 1
}

func (o object) write(out *bytes.Buffer, number int) {
	fmt.Fprintf(out, "%d 0 obj\n%s\n", number, o.dict)
	if o.stream != nil {
		out.WriteString("stream\n")
		out.Write(o.stream)
		out.WriteString("\nendstream\n")
	}
	out.WriteString("endobj\n")
}

// classic writes a file with a table of its objects, as readers of all ages
// know it.
func (o *objects) classic(trailer string) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(o.all))
	for n, object := range o.all {
		offsets[n] = out.Len()
		object.write(&out, n+1)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, trailer, start)
	return out.Bytes()
}

// modern writes a file whose dictionaries stand together in one stream, and
// whose table is a stream as well.
func (o *objects) modern(root, info int) []byte {
	var out, index, bodies bytes.Buffer
	out.WriteString("%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
	holder, table := len(o.all)+1, len(o.all)+2
	entries := make([]byte, 0, 6*(table+1))
	entry := func(kind byte, a, b int) {
		entries = append(entries, kind, byte(a>>16), byte(a>>8), byte(a), byte(b>>8), byte(b))
	}
	entry(0, 0, 65535)
	held := 0
	for n, object := range o.all {
		if object.stream != nil {
			entry(1, out.Len(), 0)
			object.write(&out, n+1)
			continue
		}
		entry(2, holder, held)
		held++
		index.WriteString(strconv.Itoa(n+1) + " " + strconv.Itoa(bodies.Len()) + " ")
		bodies.WriteString(object.dict + "\n")
	}
	entry(1, out.Len(), 0)
	stream(fmt.Sprintf("/Type /ObjStm /N %d /First %d", held, index.Len()), append(index.Bytes(), bodies.Bytes()...), o.packed).write(&out, holder)
	start := out.Len()
	entry(1, start, 0)
	stream(fmt.Sprintf("/Type /XRef /Size %d /W [1 3 2] /Root %d 0 R /Info %d 0 R", table+1, root, info), entries, o.packed).write(&out, table)
	fmt.Fprintf(&out, "startxref\n%d\n%%%%EOF\n", start)
	return out.Bytes()
}

// textString writes a text that is not on a page, where any letter may stand.
func textString(text string) string {
	var b strings.Builder
	b.WriteString("<FEFF")
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, "%04X", unit)
	}
	return b.String() + ">"
}
