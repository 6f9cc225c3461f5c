package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/xls"
)

// Parent and child exchange frames: a byte for the kind, four bytes for the
// number of the document, four for the length of the body, and the body.
//
// The parent sends setup once, then documents, one at a time, each after skips if
// an earlier child failed on it. The child answers ready to setup, and one of text,
// unreadable, sitePage and trouble to a document. Before that answer it sends the
// steps that it begins, and ocrPages to get more time.
//
// A child whose settings say so reads workbooks and no documents: the parent sends
// workbook, and the child answers cells, unreadable or trouble.
type frame struct {
	kind kind
	id   uint32
	body []byte
}

// number returns the number in a frame, or 0 if it has none.
func (f frame) number() int {
	if len(f.body) != 4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(f.body) & math.MaxInt32)
}

type kind byte

const (
	setup      kind = 'S' // JSON of Settings
	document   kind = 'D' // the bytes of a document
	workbook   kind = 'B' // the bytes of a workbook
	skips      kind = 'X' // JSON of a list of skip, for the document that follows
	ready      kind = 'R' // the child has started; JSON of a greeting, or empty
	step       kind = 'P' // four bytes: the number of the step that begins, from 1
	ocrPages   kind = 'O' // four bytes: the number of pages that are going to be read by OCR
	text       kind = 'T' // JSON of an extract.Text
	cells      kind = 'C' // the encoding of an xls.Book
	unreadable kind = 'U' // the reason of an extract.Unreadable
	sitePage   kind = 'W' // extract.ErrSitePage
	trouble    kind = 'E' // the message of any other error
)

const (
	headerSize = 9
	maxMessage = 1 << 10
)

// sizes are the kinds of frames that one side accepts, with the largest body of
// each.
type sizes map[kind]int

var (
	toChild     = sizes{setup: 64 << 10, skips: 16 << 10, document: extract.MaxBody}
	toBookChild = sizes{setup: 64 << 10, workbook: xls.MaxBytes}
)

var fromBookChild = sizes{
	ready:      16 << 10,
	cells:      xls.MaxEncoded,
	unreadable: maxMessage,
	trouble:    maxMessage,
}

func fromChild(l extract.Limits) sizes {
	return sizes{
		ready:      16 << 10,
		step:       4,
		ocrPages:   4,
		text:       answerSize(l),
		unreadable: maxMessage,
		sitePage:   0,
		trouble:    maxMessage,
	}
}

// answerSize returns the size of the largest valid text in JSON. Escaping at most
// doubles the length of the characters that a text may contain.
func answerSize(l extract.Limits) int {
	return 2*l.TextBytes + 100*l.Pages + extract.MaxHeadings*(8*extract.MaxTitle+100) + 64<<10
}

var errFrame = errors.New("invalid frame")

// readFrame reads the next frame. It returns io.EOF at the end of the stream.
func readFrame(r io.Reader, accept sizes) (frame, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return frame{}, err
	}
	f := frame{kind: kind(header[0]), id: binary.BigEndian.Uint32(header[1:])}
	length := binary.BigEndian.Uint32(header[5:])
	limit, ok := accept[f.kind]
	switch {
	case !ok:
		return frame{}, fmt.Errorf("%w of kind %q", errFrame, header[0])
	case int64(length) > int64(limit):
		return frame{}, fmt.Errorf("%w of %d bytes, want at most %d", errFrame, length, limit)
	}
	f.body = make([]byte, length)
	if _, err := io.ReadFull(r, f.body); err != nil {
		return frame{}, fmt.Errorf("incomplete frame: %w", io.ErrUnexpectedEOF)
	}
	return f, nil
}

func writeFrame(w io.Writer, f frame) error {
	header := [headerSize]byte{byte(f.kind)}
	binary.BigEndian.PutUint32(header[1:], f.id)
	binary.BigEndian.PutUint32(header[5:], uint32(len(f.body)))
	if _, err := w.Write(header[:]); err != nil {
		return err
	}
	if len(f.body) == 0 {
		return nil
	}
	_, err := w.Write(f.body)
	return err
}
