package worker

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"pregon/internal/document/extract"
)

const (
	maxFiles     = 5000      // in an archive
	maxDocuments = 20        // of these that are read
	maxUnpacked  = 100 << 20 // bytes of all documents that are read
	maxRatio     = 200       // of unpacked to packed size, after the first megabyte
)

// readZIP reads the documents of an archive, one after the other.
func (e *engine) readZIP(body []byte, task extract.Task) (*extract.Text, error) {
	// An entry of the directory takes more memory than bytes in the archive.
	if bytes.Count(body, []byte("PK\x01\x02")) > maxFiles {
		return nil, &extract.Unreadable{Reason: fmt.Sprintf("it is a package of more than %d files", maxFiles)}
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil && z == nil {
		return nil, extract.ErrCorrupt
	}
	if name := officeName(z); name != "" {
		return nil, &extract.Unreadable{Reason: "it is not a PDF, HTML or ZIP file: it begins like " + name}
	}
	list, err := documents(z)
	if err != nil {
		return nil, err
	}
	l := e.limits
	l.Memory -= int64(len(body))
	return e.readMembers(list, l, task)
}

// officeName returns the name of an office format that is also a ZIP file, or "".
func officeName(z *zip.Reader) string {
	for _, f := range z.File {
		switch f.Name {
		case "word/document.xml":
			return "a Word document"
		case "xl/workbook.xml":
			return "an Excel document"
		case "ppt/presentation.xml":
			return "a PowerPoint document"
		case "META-INF/manifest.xml":
			return "an OpenDocument file"
		}
	}
	return ""
}

// documents returns the files to read: those in a folder "reports", where annual
// reports have them, or all if there is no such folder.
func documents(z *zip.Reader) ([]*zip.File, error) {
	var all, reports []*zip.File
	archives := 0
	for _, f := range z.File {
		name := strings.ToLower(strings.ReplaceAll(f.Name, `\`, "/"))
		switch path.Ext(name) {
		case ".pdf", ".html", ".htm", ".xhtml":
		case ".zip", ".xbri":
			archives++
			continue
		default:
			continue
		}
		all = append(all, f)
		if slices.Contains(strings.Split(path.Dir(name), "/"), "reports") {
			reports = append(reports, f)
		}
	}
	switch {
	case len(reports) > 0:
		return reports, nil
	case len(all) > 0:
		return all, nil
	case archives > 0:
		return nil, &extract.Unreadable{Reason: "it is a package of packages, and these are not opened"}
	}
	return nil, &extract.Unreadable{Reason: "it is a package without a PDF or HTML file"}
}

// readMembers reads the documents of an archive within the limits of one
// document. A note says which could not be read. If none could, that is the
// error.
func (e *engine) readMembers(list []*zip.File, left extract.Limits, task extract.Task) (*extract.Text, error) {
	all := &extract.Text{Type: extract.ZIP}
	unpacked := 0
	var failed error
	for n, f := range list {
		if n == maxDocuments || left.Pages <= 0 || left.TextBytes <= 0 {
			all.Notes = append(all.Notes,
				fmt.Sprintf("The package has %d documents, of which the first %d were read.", len(list), n))
			break
		}
		name := extract.Title(path.Base(f.Name))
		body, err := unpack(f, maxUnpacked-unpacked)
		unpacked += len(body)
		var t *extract.Text
		if err == nil {
			t, err = e.readMember(body, left, task)
		}
		if err != nil {
			if !extract.IsUnreadable(err) {
				return nil, err
			}
			failed = err
			all.Notes = append(all.Notes,
				fmt.Sprintf("Of the package, %s could not be read. The reason: %s.", name, extract.Reason(err)))
			continue
		}
		if len(list) > 1 {
			for i, note := range t.Notes {
				t.Notes[i] = name + ": " + note
			}
		}
		appendText(all, t)
		left.Pages -= len(t.Pages)
		for _, p := range t.Pages {
			left.TextBytes -= len(p.Text)
			if p.Method == extract.ByOCR {
				left.OCRPages--
			}
		}
	}
	if len(all.Pages) == 0 {
		return nil, failed
	}
	return all, nil
}

func (e *engine) readMember(body []byte, l extract.Limits, task extract.Task) (*extract.Text, error) {
	t, err := typeOf(body)
	switch {
	case err != nil:
		return nil, err
	case t == extract.ZIP:
		return nil, &extract.Unreadable{Reason: "it is a package within a package"}
	}
	return e.readFile(t, body, l, task)
}

// appendText appends the pages, headings and notes of t to all.
func appendText(all, t *extract.Text) {
	for _, h := range t.Outline[:min(len(t.Outline), extract.MaxHeadings-len(all.Outline))] {
		h.Page += len(all.Pages)
		all.Outline = append(all.Outline, h)
	}
	all.Pages = append(all.Pages, t.Pages...)
	all.Notes = append(all.Notes, t.Notes...)
}

// unpack returns the content of a file, up to limit bytes. It does not trust the
// size that the archive states.
func unpack(f *zip.File, limit int) ([]byte, error) {
	const encrypted = 1
	if f.Flags&encrypted != 0 {
		return nil, extract.ErrEncrypted
	}
	r, err := f.Open()
	if err != nil {
		return nil, extract.ErrCorrupt
	}
	defer r.Close()
	limit = min(limit, extract.MaxBody, int(min(f.CompressedSize64, extract.MaxBody))*maxRatio+1<<20)
	var body bytes.Buffer
	body.Grow(int(min(f.UncompressedSize64, uint64(limit))) + bytes.MinRead) // growing later would copy it
	_, err = body.ReadFrom(io.LimitReader(r, int64(limit)+1))
	switch {
	case body.Len() > limit:
		return nil, &extract.Unreadable{Reason: "it is a package that unpacks to more than a document can have"}
	case err != nil:
		return nil, extract.ErrCorrupt
	}
	return body.Bytes(), nil
}
