package extract

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

const (
	mostMembers   = 5000      // files in a package
	mostDocuments = 20        // of which so many are read
	mostUnpacked  = 100 << 20 // bytes, of all that are read
	mostRatio     = 200       // times larger than packed, past the first megabyte
)

// readZIP reads the documents of a package, one after the other. An annual
// report has them in a folder "reports".
func (e *reading) readZIP(body []byte, tell func(int)) (*Text, error) {
	// Each entry of the list of files costs more in memory than in the package.
	if bytes.Count(body, []byte("PK\x01\x02")) > mostMembers {
		return nil, &Unreadable{Reason: fmt.Sprintf("it is a package of more than %d files", mostMembers)}
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil && z == nil {
		return nil, errCorrupt
	}
	if name := officeName(z); name != "" {
		return nil, &Unreadable{Reason: "it is not a PDF, HTML or ZIP file: it begins like " + name}
	}
	list, err := documents(z)
	if err != nil {
		return nil, err
	}
	return e.readMembers(list, tell)
}

// officeName names the documents that are packages too.
func officeName(z *zip.Reader) string {
	for _, f := range z.File {
		switch {
		case f.Name == "word/document.xml":
			return "a Word document"
		case f.Name == "xl/workbook.xml":
			return "an Excel document"
		case f.Name == "ppt/presentation.xml":
			return "a PowerPoint document"
		case f.Name == "META-INF/manifest.xml":
			return "an OpenDocument file"
		}
	}
	return ""
}

// documents are the members to read: those of the folder of reports, or all
// when it has none.
func documents(z *zip.Reader) ([]*zip.File, error) {
	var all, reports []*zip.File
	packages := 0
	for _, f := range z.File {
		name := strings.ToLower(strings.ReplaceAll(f.Name, `\`, "/"))
		switch path.Ext(name) {
		case ".pdf", ".html", ".htm", ".xhtml":
		case ".zip", ".xbri":
			packages++
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
	case packages > 0:
		return nil, &Unreadable{Reason: "it is a package of packages, which are not opened"}
	}
	return nil, &Unreadable{Reason: "it is a package without a PDF or HTML file"}
}

// readMembers reads some members of a package. One that cannot be read is told
// in the notes, unless none can.
func (e *reading) readMembers(list []*zip.File, tell func(int)) (*Text, error) {
	whole := &Text{Type: ZIP}
	left := e.limits
	unpacked := 0
	var failed error
	for n, f := range list {
		if n == mostDocuments || left.Pages <= 0 || left.TextBytes <= 0 {
			whole.Notes = append(whole.Notes, fmt.Sprintf("The package has %d documents, of which the first %d were read.", len(list), n))
			break
		}
		body, err := unpack(f, mostUnpacked-unpacked)
		unpacked += len(body)
		var t *Text
		if err == nil {
			t, err = e.readMember(body, left, tell)
		}
		if err != nil {
			if !IsUnreadable(err) {
				return nil, err
			}
			failed = err
			whole.Notes = append(whole.Notes, fmt.Sprintf("Of the package, %s could not be read.", titled(path.Base(f.Name))))
			continue
		}
		whole.add(t)
		left.Pages -= len(t.Pages)
		for _, p := range t.Pages {
			left.TextBytes -= len(p.Text)
			if p.Method == ByOCR {
				left.OCRPages--
			}
		}
	}
	if len(whole.Pages) == 0 {
		return nil, failed
	}
	return whole, nil
}

func (e *reading) readMember(body []byte, l Limits, tell func(int)) (*Text, error) {
	t, err := typeOf(body)
	switch {
	case err != nil:
		return nil, err
	case t == PDF:
		return e.readPDF(body, l, tell)
	case t == HTML:
		return readHTML(body, l)
	}
	return nil, &Unreadable{Reason: "it is a package within a package"}
}

// add puts the pages of another text behind those there are.
func (t *Text) add(other *Text) {
	for _, h := range other.Outline[:min(len(other.Outline), mostHeadings-len(t.Outline))] {
		h.Page += len(t.Pages)
		t.Outline = append(t.Outline, h)
	}
	t.Pages = append(t.Pages, other.Pages...)
	t.Notes = append(t.Notes, other.Notes...)
}

// unpack reads a member, whatever size the package claims for it.
func unpack(f *zip.File, most int) ([]byte, error) {
	const encrypted = 1
	if f.Flags&encrypted != 0 {
		return nil, errEncrypted
	}
	r, err := f.Open()
	if err != nil {
		return nil, errCorrupt
	}
	defer r.Close()
	most = min(most, MaxBody, int(min(f.CompressedSize64, MaxBody))*mostRatio+1<<20)
	body, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	switch {
	case len(body) > most:
		return nil, &Unreadable{Reason: "it is a package that unpacks to more than a document can have"}
	case err != nil:
		return nil, errCorrupt
	}
	return body, nil
}
