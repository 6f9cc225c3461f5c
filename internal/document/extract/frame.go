package extract

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Reader and child talk in frames: a byte that says what it is, the number of
// the document that it is about, the length of the rest, and the rest.
//
// The parent says setup once, then document, one at a time. The child answers
// ready to the first; to a document one of text, unreadable, sitePage and
// trouble, before which it may once ask for more time with pictures.
type frame struct {
	kind kind
	id   uint32
	body []byte
}

type kind byte

const (
	setup      kind = 'S' // JSON of a settings
	document   kind = 'D' // the bytes of a document
	ready      kind = 'R' // the child can read; JSON of a greeting, or nothing
	pictures   kind = 'O' // four bytes: so many pages are going to be read off pictures
	text       kind = 'T' // JSON of a Text
	unreadable kind = 'U' // the reason
	sitePage   kind = 'W' // stands for ErrSitePage
	trouble    kind = 'E' // it is not the document's fault: what happened
)

const headerSize = 9

// sizes are the frames that one side takes, with the largest body of each.
type sizes map[kind]int

var toChild = sizes{setup: 64 << 10, document: MaxBody}

func fromChild(l Limits) sizes {
	return sizes{ready: 16 << 10, pictures: 4, text: l.answerSize(), unreadable: 1 << 10, sitePage: 0, trouble: 4 << 10}
}

var errFrame = errors.New("not a frame")

// readFrame reads the next frame; io.EOF says that there are no more.
func readFrame(r io.Reader, take sizes) (frame, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return frame{}, err
	}
	f := frame{kind: kind(header[0]), id: binary.BigEndian.Uint32(header[1:])}
	length := binary.BigEndian.Uint32(header[5:])
	most, ok := take[f.kind]
	switch {
	case !ok:
		return frame{}, fmt.Errorf("%w: of kind %q", errFrame, header[0])
	case int64(length) > int64(most):
		return frame{}, fmt.Errorf("%w: %d bytes, of %d at most", errFrame, length, most)
	}
	f.body = make([]byte, length)
	if _, err := io.ReadFull(r, f.body); err != nil {
		return frame{}, fmt.Errorf("half a frame: %w", io.ErrUnexpectedEOF)
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
