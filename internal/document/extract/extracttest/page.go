package extracttest

import (
	"fmt"
	"strings"

	"pregon/internal/sim/paper/pdf"
)

// Page adds what a page shows to a file, and returns its content and resources.
type Page func(f *pdf.File) (content pdf.Ref, resources string)

// Pages returns a file of different pages.
func Pages(pages ...Page) []byte {
	f := &pdf.File{}
	var list []string
	for _, p := range pages {
		content, resources := p(f)
		list = append(list, fmt.Sprintf("/Contents %v /Resources << %s >>", content, resources))
	}
	tree := f.Next(len(pages))
	var kids strings.Builder
	for _, p := range list {
		page := f.Addf("<< /Type /Page /Parent %v /MediaBox [0 0 %d %d] %s >>", tree, PageWidth, PageHeight, p)
		fmt.Fprintf(&kids, "%v ", page)
	}
	f.Addf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(pages))
	return finish(f, f.Addf("<< /Type /Catalog /Pages %v >>", tree))
}

// TextPage returns a page of one line of text.
func TextPage(text string) Page {
	return func(f *pdf.File) (pdf.Ref, string) {
		return f.AddStream("", content([]Line{{Margin, 700, Size, text}})), "/Font << /F1 " + pdf.Courier.Dict() + " >>"
	}
}

// PicturePage returns a page that is an image of three colours without text. With
// alpha the image has a mask of its opacity.
func PicturePage(width, height int, alpha bool) Page {
	return func(f *pdf.File) (pdf.Ref, string) {
		f.Compress = true
		defer func() { f.Compress = false }()
		dict := strings.Replace(imageDict(width, height), "/DeviceGray", "/DeviceRGB", 1)
		if alpha {
			dict += fmt.Sprintf(" /SMask %v", f.AddStream(imageDict(width, height), make([]byte, width*height)))
		}
		picture := f.AddStream(dict, make([]byte, 3*width*height))
		content := f.AddStream("", fmt.Appendf(nil, "q %d 0 0 %d 0 0 cm /P Do Q", PageWidth, PageHeight))
		return content, fmt.Sprintf("/XObject << /P %v >>", picture)
	}
}

// LayeredPage returns a page that is an image under nested groups of transparent
// objects. PDFium draws each of them on a bitmap of the whole page.
func LayeredPage(groups int) Page {
	return func(f *pdf.File) (pdf.Ref, string) {
		picture := f.AddStream(imageDict(1, 1), []byte("x"))
		inner := picture
		resources := func() string {
			return fmt.Sprintf("/ExtGState << /G << /ca 0.5 >> >> /XObject << /P %v /X %v >>", picture, inner)
		}
		draw := fmt.Sprintf("/G gs q %d 0 0 %d 0 0 cm /P Do Q /X Do", PageWidth, PageHeight)
		for range groups {
			inner = f.AddStream(fmt.Sprintf("/Type /XObject /Subtype /Form /BBox [0 0 %d %d] /Group << /S "+
				"/Transparency >> /Resources << %s >>",
				PageWidth, PageHeight, resources()), []byte(draw))
		}
		return f.AddStream("", []byte(draw)), resources()
	}
}

// HeavyPage returns a page of one line of text over an image of the given bytes,
// which are not compressed.
func HeavyPage(text string, data []byte) Page {
	return func(f *pdf.File) (pdf.Ref, string) {
		const width = 1000
		picture := f.AddStream(imageDict(width, len(data)/width), data)
		shown := append(content([]Line{{Margin, 700, Size, text}}), "q 595 0 0 842 0 0 cm /P Do Q"...)
		return f.AddStream("", shown), fmt.Sprintf("/Font << /F1 %s >> /XObject << /P %v >>",
			pdf.Courier.Dict(), picture)
	}
}
