package pdf

import (
	"unicode/utf16"

	"pregon/internal/document/extract"
)

// readBookmarks returns the file's own table of contents.
func (d *file) readBookmarks() []extract.Heading {
	var list []extract.Heading
	err := d.task.Step()
	if err == nil {
		err = d.attempt(func() error {
			list = d.bookmarks(len(d.sheets))
			return nil
		})
	}
	if err != nil && !extract.IsStopped(err) {
		d.notes = append(d.notes, "The table of contents of the file could not be read. The reason: "+
			extract.Reason(err)+".")
		return nil
	}
	return list
}

// bookmarks returns the bookmarks that lead to the pages.
func (d *file) bookmarks(pages int) []extract.Heading {
	var list []extract.Heading
	seen := map[uint64]bool{} // the bookmarks of a hostile file may form a cycle
	const maxDepth = 16
	var walk func(parent uint64, level int)
	walk = func(parent uint64, level int) {
		for b := d.call("FPDFBookmark_GetFirstChild", d.handle,
			parent); b != 0; b = d.call("FPDFBookmark_GetNextSibling", d.handle, b) {
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
