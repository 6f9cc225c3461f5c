package extract_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// scanned returns a document whose only page is an image of a text.
func scanned(t *testing.T, text string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.png")
	run(t, "", "pango-view", "--no-display", "-q", "--font=DejaVu Serif 11", "--dpi=200", "--width=470", "--margin=50", "--text="+text, "--output="+file)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	grey := image.NewGray(image.Rect(0, 0, 1654, 2339)) // A4
	draw.Draw(grey, grey.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(grey, picture.Bounds(), picture, image.Point{}, draw.Over)
	return extracttest.Picture(1654, 2339, grey.Pix)
}

// run returns the output of a program.
func run(t *testing.T, input, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\nscripts/install-test-needs installs what is missing", name, err, &stderr)
	}
	return out
}

func TestScanned(t *testing.T) {
	longtest.Skip(t, "it needs Tesseract")
	body := scanned(t, first)
	text := read(t, body)
	page := text.Pages[0]
	if page.Method != extract.ByOCR || text.Method != extract.ByOCR || page.Confidence < 80 {
		t.Errorf("got page by %s, text by %s, confidence %v, want ocr with at least 80", page.Method, text.Method, page.Confidence)
	}
	if got := inOrder(strings.Fields(first), strings.Fields(page.Text)); got < 0.95 {
		t.Errorf("got %.2f of the words, want 0.95, in:\n%s", got, page.Text)
	}
	if text.Language != "es" {
		t.Errorf("got language %q, want es", text.Language)
	}

	t.Run("without tesseract", func(t *testing.T) {
		for _, path := range []string{"-", "/nonexistent/tesseract", "/bin/false"} {
			r := newReader(t, func(o *sandbox.Options) { o.Tesseract = path })
			text, err := r.Read(t.Context(), body)
			if err != nil {
				t.Fatal(err)
			}
			if text.Method != extract.Not || text.Pages[0].Text != "" || len(text.Notes) != 1 || !strings.Contains(text.Notes[0], "Pages that are images and were not read: 1.") {
				t.Errorf("with %s: got method %s and notes %q, want none and a note", path, text.Method, text.Notes)
			}
		}
	})
	t.Run("with little memory", func(t *testing.T) {
		r := newReader(t, func(o *sandbox.Options) { o.Limits.OCRMemory = 30 << 20 })
		text, err := r.Read(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		if text.Method != extract.Not || !strings.Contains(text.Notes[0], "tesseract failed") {
			t.Errorf("got method %s and notes %q, want none and a note", text.Method, text.Notes)
		}
	})
}

// TestTesseractIsKilled has a tesseract that takes forever. It must end with the
// child that started it.
func TestTesseractIsKilled(t *testing.T) {
	longtest.Skip(t, "it needs Tesseract")
	script := filepath.Join(t.TempDir(), "tesseract")
	const source = "#!/bin/sh\n[ \"$1\" = --list-langs ] && echo spa && exit\nsleep 600\n"
	if err := os.WriteFile(script, []byte(source), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := newReader(t, func(o *sandbox.Options) { o.Tesseract = script })
	worker := childOf(t, r)
	done := make(chan error, 1)
	go func() {
		_, err := r.Read(ctx, extracttest.Picture(1, 1, []byte{0}))
		done <- err
	}()
	var pid int
	waittest.For(t, "tesseract runs", func() bool {
		for child := range childrenOf(t, worker) {
			if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)); strings.Contains(string(line), script+"\x00stdin") {
				pid = child
			}
		}
		return pid != 0
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	waittest.For(t, "tesseract has ended", func() bool {
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return !alive(pid) || strings.Contains(string(state), ") Z ") // ended, and not waited for
	})
}

// TestSlowTesseract has a tesseract that exceeds the time for a page.
func TestSlowTesseract(t *testing.T) {
	longtest.Skip(t, "it needs Tesseract")
	script := filepath.Join(t.TempDir(), "tesseract")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n[ \"$1\" = --list-langs ] && echo spa && exit\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newReader(t, func(o *sandbox.Options) {
		o.Tesseract = script
		o.Limits.OCRTime = 200 * time.Millisecond
	})
	text, err := r.Read(t.Context(), extracttest.Picture(1, 1, []byte{0}))
	if err != nil {
		t.Fatal(err)
	}
	if text.Method != extract.Not || !strings.Contains(text.Notes[0], "took more than 0.2 s") {
		t.Errorf("got method %s and notes %q, want none and a note", text.Method, text.Notes)
	}
}

// inOrder returns the share of the wanted words that were found in their order.
func inOrder(want, got []string) float64 {
	row := make([]int, len(got)+1) // of the longest common subsequence
	for _, w := range want {
		diagonal := 0
		for i, g := range got {
			above := row[i+1]
			if w == g {
				row[i+1] = diagonal + 1
			} else {
				row[i+1] = max(above, row[i])
			}
			diagonal = above
		}
	}
	return float64(row[len(got)]) / float64(max(1, len(want)))
}
