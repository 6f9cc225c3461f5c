package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"pregon/internal/source/markup"
)

// inspect adds findings about an answer as a whole: its type, its encoding, and
// the title of a page that came instead of the expected one.
func (c *Check) inspect(a *Answer, kind string) {
	if a.Status == 0 || kind == "" {
		return
	}
	contentType := a.Header.Get("Content-Type")
	if a.Status == http.StatusOK && !strings.Contains(contentType, kind) {
		c.Odd(0, "the Content-Type is %q instead of one of %s", contentType, kind)
	}
	if c.Verdict == Failed {
		if title, line := titleOf(a.body); title != "" {
			c.Odd(line, "the page that came has the title %.100q", title)
		}
	}
	if a.Status == http.StatusOK {
		c.inspectEncoding(a.body, contentType)
	}
}

var (
	// declaredForm is the encoding in the declaration of an XML file.
	declaredForm = regexp.MustCompile(`^[^>]*\bencoding\s*=\s*["']([^"']+)`)
	// twiceForm is a letter that was encoded as UTF-8 twice, such as Ã³ for ó.
	twiceForm = regexp.MustCompile(`Ã[\x{80}-\x{bf}]`)
)

// inspectEncoding adds findings about the encoding. The parsers read UTF-8, and of
// XML also the encoding that it declares.
func (c *Check) inspectEncoding(body []byte, contentType string) {
	if m := declaredForm.FindSubmatch(body[:min(len(body), 256)]); m != nil &&
		!strings.EqualFold(string(m[1]), "utf-8") {
		c.Odd(1, "its encoding is declared as %q", m[1])
		return
	}
	_, params, _ := mime.ParseMediaType(contentType)
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		c.Odd(0, "the Content-Type declares the charset %q", charset)
	}
	if at := invalidAt(body); at >= 0 {
		c.Lose(lineOf(body, at), "it is not UTF-8: letters of its text would be lost")
	} else if at := bytes.IndexRune(body, utf8.RuneError); at >= 0 {
		c.Odd(lineOf(body, at), "the source itself has replaced a letter by %q", utf8.RuneError)
	} else if at := twiceForm.FindIndex(body); at != nil {
		c.Odd(lineOf(body, at[0]), "letters are encoded twice: %q", body[at[0]:at[1]])
	}
}

// invalidAt returns the offset of the first byte that is not UTF-8, or -1. A
// character that the end of the body cuts off does not count.
func invalidAt(body []byte) int {
	for at := 0; at < len(body); {
		r, size := utf8.DecodeRune(body[at:])
		if r == utf8.RuneError && size == 1 {
			if !utf8.FullRune(body[at:]) {
				return -1
			}
			return at
		}
		at += size
	}
	return -1
}

// titleOf returns the title of an HTML page and its line.
func titleOf(body []byte) (title string, line int) {
	z := html.NewTokenizer(bytes.NewReader(body))
	z.SetMaxBuf(64 << 10)
	for at := 0; ; at += len(z.Raw()) {
		switch z.Next() {
		case html.ErrorToken:
			return "", 0
		case html.StartTagToken:
			if tag, _ := z.TagName(); string(tag) != "title" {
				continue
			}
			line = lineOf(body, at)
			if z.Next() == html.TextToken {
				title = markup.Collapse(string(z.Text()))
			}
			return title, line
		}
	}
}

func lineOf(body []byte, at int) int { return 1 + bytes.Count(body[:min(at, len(body))], []byte{'\n'}) }

// lineOfNumber returns the line of a registration number, or 0.
func lineOfNumber(body []byte, number int64) int {
	at := regexp.MustCompile(`\b` + strconv.FormatInt(number, 10) + `\b`).FindIndex(body)
	if at == nil {
		return 0
	}
	return lineOf(body, at[0])
}

// syntaxLine returns the line of an error in the JSON of the last answer, or 0.
func (e *examiner) syntaxLine(err error) int {
	if at, ok := errors.AsType[*json.SyntaxError](err); ok {
		return lineOf(e.Tape.last().body, int(at.Offset))
	}
	return 0
}
