package regulator

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// decoder reads XML leniently, in the encoding that it declares.
type decoder struct {
	xml   *xml.Decoder
	depth int
}

func newDecoder(r io.Reader) (*decoder, error) {
	in := bufio.NewReader(r)
	head, _ := in.Peek(256)
	clean := &cleaner{in: in}
	if m := encodingForm.FindSubmatch(head); m != nil {
		switch name := strings.ToLower(string(m[1])); name {
		case "utf-8", "utf8", "us-ascii":
		case "iso-8859-1", "latin1", "windows-1252", "iso-8859-15":
			clean.western = true
		default:
			return nil, fmt.Errorf("its encoding %q is not known", name)
		}
	}
	d := xml.NewDecoder(clean)
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // already done
	return &decoder{xml: d}, nil
}

var errTooDeep = errors.New("its elements are nested too deep")

// next returns the next token; it is gone with the one after.
func (d *decoder) next() (xml.Token, error) {
	const deepest = 64
	token, err := d.xml.Token()
	switch token.(type) {
	case xml.StartElement:
		if d.depth++; d.depth > deepest {
			return nil, errTooDeep
		}
	case xml.EndElement:
		d.depth--
	}
	return token, err
}

var encodingForm = regexp.MustCompile(`^[^>]*\bencoding\s*=\s*["']([^"']+)`)

// cleaner reads text as UTF-8, whatever it was. One wrong byte or control
// character would make the decoder give the rest up.
type cleaner struct {
	in      *bufio.Reader
	western bool // one byte a character
	run     int  // characters since the last tag
}

// longestRun bounds what the decoder holds at a time.
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
	var (
		r   rune
		err error
	)
	if c.western {
		var b byte
		b, err = c.in.ReadByte()
		if r = rune(b); b >= 0x80 && b < 0xa0 {
			r = windows1252[b-0x80]
		}
	} else {
		r, _, err = c.in.ReadRune()
	}
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
		r = ' '
	}
	if c.run++; r == '<' {
		c.run = 0
	} else if c.run > maxRun && err == nil {
		err = errors.New("it has a text without end")
	}
	return r, err
}

// windows1252 are the characters from 0x80 to 0x9f, which are controls in
// ISO 8859-1 and nobody's intention.
var windows1252 = [32]rune{
	'€', '\uFFFD', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\uFFFD', 'Ž', '\uFFFD',
	'\uFFFD', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\uFFFD', 'ž', 'Ÿ',
}
