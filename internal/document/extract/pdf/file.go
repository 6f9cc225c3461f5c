package pdf

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"pregon/internal/document/extract"
)

// file reads one PDF file.
type file struct {
	*instance
	limits    extract.Limits
	ocr       *ocr
	beforeOCR func(pages int)

	handle uint64 // of the document
	size   int    // bytes of text so far
	sheets []sheet
	notes  []string
}

// sheet is a page before its lines are composed to text.
type sheet struct {
	lines      []line
	method     extract.Method
	confidence float64
	read       string // by OCR
}

// Errors of files that PDFium does not open.
var (
	errSecurity = &extract.Unreadable{Reason: "it is encrypted in a way that is not supported"}
	errNoPages  = &extract.Unreadable{Reason: "it has no pages"}
)

// maxDamaged is the number of damaged pages in a row after which no more are
// read: a file may claim two billion.
const maxDamaged = 50

func (d *file) read(body []byte) (*extract.Text, error) {
	complete := bytes.Contains(body[max(0, len(body)-2048):], []byte("%%EOF"))
	if err := d.load(body); err != nil {
		return nil, err
	}
	count := d.callInt("FPDF_GetPageCount", d.handle)
	if count <= 0 {
		if d.err != nil || !complete {
			return nil, extract.ErrCorrupt
		}
		return nil, errNoPages
	}
	if err := d.readPages(count); err != nil {
		return nil, err
	}
	outline := d.bookmarks(len(d.sheets))
	if d.err != nil {
		return nil, d.err
	}
	d.readImages()
	if !complete {
		d.notes = append(d.notes, "The file is cut off or damaged at its end; this is the part that can be read.")
	}
	t := &extract.Text{Type: extract.PDF, Notes: d.notes}
	var headings []extract.Heading
	t.Pages, headings = compose(d.sheets, d.limits.TextBytes)
	if t.Outline = outline; len(outline) == 0 {
		t.Outline = headings
	}
	return t, nil
}

// load loads the file into PDFium.
func (d *file) load(body []byte) error {
	const unused = 4
	access := d.call("FPDF_FILEACCESS_Create", uint64(len(body)), d.call("malloc", unused))
	d.handle = d.call("FPDF_LoadCustomDocument", access, 0)
	if d.handle != 0 {
		return nil
	}
	if d.err != nil {
		return d.err
	}
	const password, security = 4, 5
	switch d.callInt("FPDF_GetLastError") {
	case password:
		return extract.ErrEncrypted
	case security:
		return errSecurity
	}
	return extract.ErrCorrupt
}

// readPages reads the text of the pages and marks those that are images.
func (d *file) readPages(count int) error {
	var damaged []int
	limit := min(count, d.limits.Pages)
	for n := range limit {
		s, ok := d.readPage(n)
		if d.err != nil {
			return d.err
		}
		if !ok {
			damaged = append(damaged, n+1)
		}
		d.sheets = append(d.sheets, s)
		if trailingRun(damaged, n+1) >= maxDamaged {
			d.sheets = d.sheets[:len(d.sheets)-maxDamaged]
			damaged = damaged[:len(damaged)-maxDamaged]
			d.notes = append(d.notes, fmt.Sprintf("The file claims %d pages, but has none after page %d.", count, len(d.sheets)))
			count = 0
			break
		}
		if d.size >= d.limits.TextBytes {
			d.notes = append(d.notes, fmt.Sprintf("The text is cut off in page %d of %d, after %d MB.", n+1, count, d.limits.TextBytes>>20))
			count = 0
			break
		}
	}
	if len(damaged) == len(d.sheets) {
		return extract.ErrCorrupt
	}
	if len(damaged) > 0 {
		d.notes = append(d.notes, "These pages are damaged and could not be read: "+pageRanges(damaged)+".")
	}
	if count > limit {
		d.notes = append(d.notes, fmt.Sprintf("Only the first %d of %d pages were read.", limit, count))
	}
	return nil
}

// trailingRun counts the consecutive numbers at the end of a list that end with
// last.
func trailingRun(list []int, last int) int {
	n := 0
	for n < len(list) && list[len(list)-1-n] == last-n {
		n++
	}
	return n
}

// readPage reads page n, counted from 0. It returns false if the page is damaged.
func (d *file) readPage(n int) (sheet, bool) {
	s := sheet{method: extract.ByText}
	page := d.call("FPDF_LoadPage", d.handle, uint64(n))
	if page == 0 {
		return s, false
	}
	page = d.flatten(page, n)
	defer func() { d.call("FPDF_ClosePage", page) }()
	textPage := d.call("FPDFText_LoadPage", page)
	if textPage == 0 {
		return s, false
	}
	found := d.glyphs(textPage)
	d.call("FPDFText_ClosePage", textPage)
	if found.legible < fewLetters && d.isImage(page) {
		s.method = extract.Not // until OCR
		return s, d.err == nil
	}
	s.lines = lay(found.words)
	for _, l := range s.lines {
		d.size += len(l.text) + 1
	}
	return s, d.err == nil
}

// flatten draws the content of forms and annotations onto the page, because
// PDFium extracts only the text of the page itself.
func (d *file) flatten(page uint64, n int) uint64 {
	const freeText, widget = 3, 20
	count := min(d.callInt("FPDFPage_GetAnnotCount", page), 1000)
	for i := range count {
		a := d.call("FPDFPage_GetAnnot", page, uint64(i))
		if a == 0 {
			continue
		}
		kind := d.callInt("FPDFAnnot_GetSubtype", a)
		d.call("FPDFPage_CloseAnnot", a)
		if kind == freeText || kind == widget {
			const normalDisplay = 0
			d.call("FPDFPage_Flatten", page, normalDisplay)
			d.call("FPDF_ClosePage", page)
			return d.call("FPDF_LoadPage", d.handle, uint64(n))
		}
	}
	return page
}

// bookmarks returns the file's own table of contents.
func (d *file) bookmarks(pages int) []extract.Heading {
	var list []extract.Heading
	seen := map[uint64]bool{} // the bookmarks of a hostile file may form a cycle
	const maxDepth = 16
	var walk func(parent uint64, level int)
	walk = func(parent uint64, level int) {
		for b := d.call("FPDFBookmark_GetFirstChild", d.handle, parent); b != 0; b = d.call("FPDFBookmark_GetNextSibling", d.handle, b) {
			if seen[b] || len(list) >= extract.MaxHeadings || len(seen) > 10*extract.MaxHeadings {
				return
			}
			seen[b] = true
			title, page := d.title(b), d.target(b)
			if title != "" && page >= 1 && page <= pages {
				list = append(list, extract.Heading{Title: title, Page: page, Level: level})
			}
			if level < maxDepth {
				walk(b, level+1)
			}
		}
	}
	walk(0, 1)
	return list
}

// title returns the text of a bookmark.
func (d *file) title(bookmark uint64) string {
	length := d.call("FPDFBookmark_GetTitle", bookmark, uint64(d.scratch), scratchSize)
	raw, ok := d.memory.Read(d.scratch, uint32(min(length, scratchSize)))
	if !ok || length > scratchSize {
		return "" // too long for a title
	}
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, uint16(raw[i])|uint16(raw[i+1])<<8)
	}
	return extract.Title(string(utf16.Decode(units)))
}

// target returns the page that a bookmark leads to, from 1, or 0 if there is none.
func (d *file) target(bookmark uint64) int {
	dest := d.call("FPDFBookmark_GetDest", d.handle, bookmark)
	if dest == 0 {
		if action := d.call("FPDFBookmark_GetAction", bookmark); action != 0 {
			dest = d.call("FPDFAction_GetDest", d.handle, action)
		}
	}
	if dest == 0 {
		return 0
	}
	return d.callInt("FPDFDest_GetDestPageIndex", d.handle, dest) + 1
}

// pageRanges formats sorted page numbers, such as 1-3, 7.
func pageRanges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.Itoa(list[i])
		if j > i {
			part += "-" + strconv.Itoa(list[j])
		}
		if parts = append(parts, part); len(parts) == 30 {
			parts = append(parts, "…")
			break
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
