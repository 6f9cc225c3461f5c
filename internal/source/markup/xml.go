package markup

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Decoder reads XML leniently, in its declared encoding.
type Decoder struct {
	xml   *xml.Decoder
	depth int
}

// NewDecoder returns a decoder, or an error when the encoding is not known.
func NewDecoder(r io.Reader) (*Decoder, error) {
	in := bufio.NewReader(r)
	head, _ := in.Peek(256)
	if m := encodingForm.FindSubmatch(head); m != nil {
		switch name := strings.ToLower(string(m[1])); name {
		case "utf-8", "utf8", "us-ascii":
		case "iso-8859-1", "latin1", "windows-1252", "iso-8859-15":
			in = bufio.NewReader(charmap.Windows1252.NewDecoder().Reader(in))
		default:
			return nil, fmt.Errorf("its encoding %q is not known", name)
		}
	}
	d := xml.NewDecoder(&cleaner{in: in})
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // NewDecoder has done it
	return &Decoder{xml: d}, nil
}

var errTooDeep = errors.New("its elements are nested too deep")

// Next returns the next token, which is valid until the following call.
func (d *Decoder) Next() (xml.Token, error) {
	const maxDepth = 64 // of the open data and feeds
	token, err := d.xml.Token()
	switch token.(type) {
	case xml.StartElement:
		if d.depth++; d.depth > maxDepth {
			return nil, errTooDeep
		}
	case xml.EndElement:
		d.depth--
	}
	return token, err
}

// Line returns the line of the input, from 1, where the last token ends.
func (d *Decoder) Line() int {
	line, _ := d.xml.InputPos()
	return line
}

var encodingForm = regexp.MustCompile(`^[^>]*\bencoding\s*=\s*["']([^"']+)`)

// cleaner replaces invalid bytes and control characters: at one of them the XML
// Decoder would give up.
type cleaner struct {
	in  *bufio.Reader
	run int // characters since the last tag
}

// maxRun bounds the memory that the decoder uses for one text.
const maxRun = 1 << 20

func (c *cleaner) Read(p []byte) (int, error) {
	n := 0
	for n+utf8.UTFMax <= len(p) {
		if n > 0 && c.in.Buffered() < utf8.UTFMax {
			return n, nil
		}
		r, err := c.next()
		if err != nil {
			return n, err
		}
		n += utf8.EncodeRune(p[n:], r)
	}
	return n, nil
}

func (c *cleaner) next() (rune, error) {
	r, _, err := c.in.ReadRune()
	isControl := r < ' ' && r != '\t' && r != '\n' && r != '\r'
	if isControl || r == 0xfffe || r == 0xffff {
		r = ' '
	}
	if c.run++; r == '<' {
		c.run = 0
	} else if c.run > maxRun && err == nil {
		err = errors.New("it has a text that does not end")
	}
	return r, err
}
