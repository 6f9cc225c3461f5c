package pdf

import (
	"fmt"

	"pregon/internal/document/extract"
)

// maxDamaged is the number of damaged pages in a row after which no more are
// read: a file may claim two billion.
const maxDamaged = 50

// readPages reads the text of the pages and finds those that are images.
func (d *file) readPages(count int) {
	limit := min(count, d.limits.Pages)
	damaged := 0 // pages in a row
	for n := range limit {
		var s sheet
		err := d.task.Step()
		if err == nil {
			err = d.attempt(func() (err error) {
				s, err = d.readPage(n)
				return err
			})
		}
		if err == extract.ErrCorrupt {
			damaged++
		} else {
			damaged = 0
		}
		switch {
		case extract.IsStopped(err):
			d.notes = append(d.notes, fmt.Sprintf("Only the first %d of %d pages were read. The reason: %s.", n,
				count, extract.Reason(err)))
			if n == 0 {
				d.failures.add(1, &extract.Unreadable{Reason: extract.Reason(err)})
			}
			return
		case err != nil:
			s = sheet{method: extract.Not}
			d.failures.add(n+1, err)
		case s.method == extract.Not:
			d.pictures = append(d.pictures, n+1)
		}
		for _, l := range s.lines {
			d.size += len(l.text) + 1
		}
		if d.sheets = append(d.sheets, s); damaged == maxDamaged {
			d.sheets = d.sheets[:len(d.sheets)-damaged]
			d.failures.drop(len(d.sheets))
			d.notes = append(d.notes, fmt.Sprintf("The file claims %d pages, but has none after page %d.",
				count, len(d.sheets)))
			return
		}
		if d.size >= d.limits.TextBytes {
			d.notes = append(d.notes, fmt.Sprintf("The text is cut off in page %d of %d, after %d MB.", n+1,
				count, d.limits.TextBytes>>20))
			return
		}
	}
	if count > limit {
		d.notes = append(d.notes, fmt.Sprintf("Only the first %d of %d pages were read.", limit, count))
	}
}

// readPage reads page n, counted from 0.
func (d *file) readPage(n int) (sheet, error) {
	page := d.call("FPDF_LoadPage", d.handle, uint64(n))
	if page == 0 {
		return sheet{}, extract.ErrCorrupt
	}
	page = d.flatten(page, n)
	defer func() { d.call("FPDF_ClosePage", page) }()
	textPage := d.call("FPDFText_LoadPage", page)
	if textPage == 0 {
		return sheet{}, extract.ErrCorrupt
	}
	found := d.glyphs(page, textPage)
	d.call("FPDFText_ClosePage", textPage)
	if found.legible < fewLetters && d.isImage(page) {
		return sheet{method: extract.Not}, nil // until OCR
	}
	return sheet{method: extract.ByText, lines: lay(found.words)}, nil
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
