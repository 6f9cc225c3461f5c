package pdf

import (
	"bytes"
	"testing"
)

// TestEmbeddedPDFium: go-pdfium embeds PDFium in a variable that it does not export.
// It is linked by its name, which the compiler does not check: the variable here is
// empty if an update of go-pdfium renames or moves the one there.
func TestEmbeddedPDFium(t *testing.T) {
	if !bytes.HasPrefix(wasm, []byte("\x00asm\x01\x00\x00\x00")) {
		t.Errorf("github.com/klippa-app/go-pdfium/webassembly.pdfiumWasm has %d bytes and is no WebAssembly module: "+
			"look in webassembly.go of the required version of go-pdfium where pdfium.wasm is embedded now, and change "+
			"the go:linkname in pdfium.go; if the package exports the bytes by now, use that instead", len(wasm))
	}
}
