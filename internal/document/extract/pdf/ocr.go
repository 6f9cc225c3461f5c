package pdf

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pregon/internal/document/extract"
)

// ocr runs tesseract, which recognizes text in images.
type ocr struct {
	path   string
	limits extract.Limits

	once     sync.Once
	language string
	err      error // why it cannot be used
}

// findOCR finds tesseract. The path may be empty, to search PATH, or "-", for no OCR.
func findOCR(path string, l extract.Limits) *ocr {
	o := &ocr{path: cmp.Or(path, "tesseract"), limits: l}
	if path == "-" {
		o.err = errors.New("OCR is disabled")
		return o
	}
	found, err := exec.LookPath(o.path)
	if o.path = found; err != nil {
		o.err = errors.New("tesseract is not installed")
	}
	return o
}

// OCRLanguage returns the language in which tesseract reads, or an error that says
// why it cannot be used. The path is that of NewReader.
func OCRLanguage(tesseract string) (string, error) {
	o := findOCR(tesseract, extract.Limits{})
	err := o.ready()
	return o.language, err
}

// OCRFiles returns the files and directories that tesseract reads: its program,
// libraries and languages. Those that do not exist are included.
func OCRFiles(tesseract string) []string {
	files := []string{
		"/bin", "/lib", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local/bin", "/usr/local/lib", "/nix/store", "/etc/ld.so.cache",
		"/usr/share/tesseract-ocr", "/usr/share/tessdata", "/usr/share/tesseract", "/usr/local/share/tessdata",
	}
	if data := os.Getenv("TESSDATA_PREFIX"); data != "" {
		files = append(files, data)
	}
	o := findOCR(tesseract, extract.Limits{})
	if o.err != nil {
		return files
	}
	files = append(files, o.path)
	bin := filepath.Dir(o.path)
	if prefix := filepath.Dir(bin); filepath.Base(bin) == "bin" && prefix != "/" && prefix != "/usr" {
		files = append(files, filepath.Join(prefix, "lib"), filepath.Join(prefix, "share", "tessdata"))
	}
	return files
}

// preferred are the languages to use. The first that is installed is used, since
// two take twice the time.
var preferred = []string{"spa", "eng"}

// ready returns an error if tesseract cannot be used. The first call starts it to
// find out.
func (o *ocr) ready() error {
	o.once.Do(func() {
		if o.err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		list, err := exec.CommandContext(ctx, o.path, "--list-langs").Output()
		if err != nil {
			o.err = fmt.Errorf("tesseract fails: %w", err)
			return
		}
		has := strings.Fields(string(list))
		for _, language := range preferred {
			if slices.Contains(has, language) {
				o.language = language
				return
			}
		}
		o.err = errors.New("tesseract does not have Spanish")
	})
	return o.err
}

// fewLetters is the number of letters below which a page may be an image of text.
const fewLetters = 20

// isImage reports whether images cover a large part of a page.
func (d *file) isImage(page uint64) bool {
	const (
		maxObjects = 2000
		minCovered = 0.4
	)
	area := d.callFloat("FPDF_GetPageWidthF", page) * d.callFloat("FPDF_GetPageHeightF", page)
	covered := 0.0
	for i := range min(d.callInt("FPDFPage_CountObjects", page), maxObjects) {
		object := d.call("FPDFPage_GetObject", page, uint64(i))
		if object != 0 && d.hasImage(object, 0) {
			covered += d.areaOf(object)
		}
	}
	return covered > minCovered*area
}

// hasImage reports whether an object of a page is an image, or a group with one.
func (d *file) hasImage(object uint64, depth int) bool {
	const image, group = 3, 5
	const maxObjects, maxDepth = 200, 3
	switch d.callInt("FPDFPageObj_GetType", object) {
	case image:
		return true
	case group:
		for i := range min(d.callInt("FPDFFormObj_CountObjects", object), maxObjects) {
			inner := d.call("FPDFFormObj_GetObject", object, uint64(i))
			if inner != 0 && depth < maxDepth && d.hasImage(inner, depth+1) {
				return true
			}
		}
	}
	return false
}

func (d *file) areaOf(object uint64) float64 {
	at := uint64(d.scratch)
	if d.callInt("FPDFPageObj_GetBounds", object, at, at+4, at+8, at+12) == 0 {
		return 0
	}
	left, bottom := d.float32At(d.scratch), d.float32At(d.scratch+4)
	right, top := d.float32At(d.scratch+8), d.float32At(d.scratch+12)
	return max(0, right-left) * max(0, top-bottom)
}

// readImages reads pages that are images by OCR, up to the limit.
func (d *file) readImages() {
	todo := d.pictures
	if len(todo) == 0 {
		return
	}
	if err := d.ocr.ready(); err != nil {
		d.note(todo, err.Error())
		return
	}
	limit := max(d.limits.OCRPages, 0)
	if len(todo) > limit {
		d.note(todo[limit:], fmt.Sprintf("only %d pages of a document are read by OCR", limit))
		todo = todo[:limit]
	}
	d.task.OCR(len(todo))
	for i, n := range todo {
		err := d.task.Step()
		if err == nil {
			err = d.readImage(n - 1)
		}
		if extract.IsStopped(err) {
			d.note(todo[i:], extract.Reason(err))
			return
		}
		if extract.IsUnreadable(err) {
			d.failures.add(n, err)
		} else if err != nil {
			d.note([]int{n}, err.Error())
		}
	}
}

// note adds a note that some pages are images that were not read.
func (d *file) note(pages []int, why string) {
	d.notes = append(d.notes, fmt.Sprintf("Pages that are images and were not read: %s. The reason: %s.",
		pageRanges(pages), why))
}

// readImage reads page n, counted from 0, by OCR. The error is an Unreadable if it
// exceeds a limit.
func (d *file) readImage(n int) error {
	image, err := d.draw(n)
	if err != nil {
		return err
	}
	text, confidence, err := d.ocr.read(image)
	if err != nil {
		return err
	}
	s := &d.sheets[n]
	s.method = extract.ByOCR
	s.read = text
	s.confidence = confidence
	d.size += len(text)
	return nil
}

// draw returns page n as an image. If there is too little memory for its
// resolution, it gets a lower one.
func (d *file) draw(n int) (image []byte, err error) {
	const maxPixels, minPixels = 12e6, 1e6
	for pixels := maxPixels; pixels > minPixels; pixels /= 4 {
		err = d.attempt(func() (err error) {
			image, err = d.render(n, pixels)
			return err
		})
		if err == extract.ErrCorrupt || !extract.IsUnreadable(err) {
			break
		}
	}
	if err == extract.ErrCorrupt {
		err = errors.New("it could not be drawn")
	}
	return image, err
}

// render returns page n as a grey image in the PGM format, with the resolution
// that tesseract works best with. Pages larger than paper get a lower one.
func (d *file) render(n int, maxPixels float64) ([]byte, error) {
	page := d.call("FPDF_LoadPage", d.handle, uint64(n))
	if page == 0 {
		return nil, errors.New("it is damaged")
	}
	defer d.call("FPDF_ClosePage", page)
	const (
		dotsPerInch = 300.0
		maxSide     = 20_000
	)
	width, height := d.callFloat("FPDF_GetPageWidthF", page), d.callFloat("FPDF_GetPageHeightF", page)
	if !(width >= 1 && height >= 1 && width < 1e6 && height < 1e6) {
		return nil, errors.New("its size is invalid")
	}
	scale := min(dotsPerInch/72, math.Sqrt(maxPixels/(width*height)), maxSide/max(width, height))
	w, h := max(1, int(width*scale)), max(1, int(height*scale))
	const grey, white = 1, 0xffffffff
	const withAnnotations, inGrey = 1, 8
	bitmap := d.call("FPDFBitmap_CreateEx", uint64(w), uint64(h), grey, 0, 0)
	if bitmap == 0 {
		return nil, errors.New("there is not enough memory for its image")
	}
	defer d.call("FPDFBitmap_Destroy", bitmap)
	d.call("FPDFBitmap_FillRect", bitmap, 0, 0, uint64(w), uint64(h), white)
	d.call("FPDF_RenderPageBitmap", bitmap, page, 0, 0, uint64(w), uint64(h), 0, withAnnotations|inGrey)
	stride := d.callInt("FPDFBitmap_GetStride", bitmap)
	at := uint32(d.call("FPDFBitmap_GetBuffer", bitmap))
	pixels, ok := d.memory.Read(at, uint32(stride*h))
	if d.err != nil || !ok || stride < w {
		return nil, errors.New("it could not be drawn")
	}
	image := fmt.Appendf(make([]byte, 0, w*h+32), "P5 %d %d 255\n", w, h)
	for y := range h {
		image = append(image, pixels[y*stride:y*stride+w]...)
	}
	return image, nil
}

// maxOutput is the number of bytes that are read of tesseract's output for a page.
const maxOutput = 4 << 20

// read returns the text of an image and its average confidence, 0 to 100.
func (o *ocr) read(image []byte) (string, float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), o.limits.OCRTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.path, "stdin", "stdout", "-l", o.language, "tsv")
	cmd.Stdin = bytes.NewReader(image)
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", 0, err
	}
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	limitMemory(cmd.Process.Pid, o.limits.OCRMemory) // fails only if the process has already ended
	text, confidence := fromTSV(io.LimitReader(out, maxOutput))
	io.Copy(io.Discard, out)
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return "", 0, fmt.Errorf("reading it took more than %v s", o.limits.OCRTime.Seconds())
	case err != nil:
		return "", 0, errors.New("tesseract failed")
	}
	return text, confidence, nil
}

// fromTSV joins the words of tesseract's table. Its columns are level, page,
// block, paragraph, line, word, four coordinates, confidence and text.
func fromTSV(r io.Reader) (string, float64) {
	var list []paragraph
	var confidences, letters float64
	var paragraphAt, lineAt, text string
	endLine := func() {
		if text = extract.Tidy(text); text == "" {
			return
		}
		if p := len(list) - 1; list[p].text == "" {
			list[p].text = text
		} else {
			list[p].text = hyphenated(nil).joined(list[p].text, text)
		}
		text = ""
	}
	rows := bufio.NewScanner(r)
	rows.Buffer(nil, 64<<10)
	for rows.Scan() {
		f := strings.SplitN(rows.Text(), "\t", 12)
		if len(f) < 12 || f[0] != "5" {
			continue
		}
		if at := strings.Join(f[1:5], " "); at != lineAt {
			if len(list) > 0 {
				endLine()
			}
			lineAt = at
		}
		if at := strings.Join(f[1:4], " "); at != paragraphAt {
			list = append(list, paragraph{})
			paragraphAt = at
		}
		word := extract.Tidy(f[11])
		confidence, err := strconv.ParseFloat(f[10], 64)
		if err != nil || word == "" || !(confidence >= 0 && confidence <= 100) {
			continue
		}
		confidences += confidence * float64(len(word))
		letters += float64(len(word))
		text += " " + word
	}
	if len(list) > 0 {
		endLine()
	}
	list = slices.DeleteFunc(list, func(p paragraph) bool { return p.text == "" })
	if letters == 0 {
		return "", 0
	}
	return pageText(list), math.Round(confidences/letters*10) / 10
}
