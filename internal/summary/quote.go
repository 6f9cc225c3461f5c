package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	shortestQuote = 15  // characters
	longestQuote  = 700 // characters
	mostTries     = 64  // places of a page where a quote may begin
	longestAround = 400 // bytes of a sentence beside a quote
)

// evidence is where a quote stands in the document.
type evidence struct {
	page    int    // from 1
	text    string // the document's own characters, white space squeezed
	around  string // the sentences that it is part of
	start   int    // of the quote, in around
	end     int
	hostile bool
}

// pages are the pages of a document, as far as they are read, prepared as they
// are looked at.
type pages struct {
	sheets []sheet
	plain  []string
}

func newPages(s Source) *pages {
	read := sheets(s)
	return &pages{sheets: read, plain: make([]string, len(read))}
}

// find looks for a quote, first on the page that was named. Where it stands
// more than once, a place that does not speak to machines is better.
func (p *pages) find(quote string, named int) (evidence, bool) {
	quote = strings.TrimFunc(plainText(quote), func(r rune) bool { return r == '"' || r == '\'' || r == '…' || r == ' ' })
	quote = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(quote, "..."), "..."))
	if n := utf8.RuneCountInString(quote); n < shortestQuote || n > longestQuote {
		return evidence{}, false
	}
	var worse *evidence
	for k := -1; k < len(p.sheets); k++ {
		page := k
		if k < 0 {
			page = named - 1
		}
		if page < 0 || page >= len(p.sheets) || k == named-1 {
			continue
		}
		for _, at := range p.places(page, quote) {
			e := p.evidenceAt(page, at)
			if !e.hostile {
				return e, true
			}
			worse = &e
		}
	}
	if worse != nil {
		return *worse, true
	}
	return evidence{}, false
}

// places returns where a quote stands on a page, as whole words.
func (p *pages) places(page int, quote string) []span {
	if p.plain[page] == "" {
		p.plain[page] = plainText(p.sheets[page].text)
	}
	text := p.plain[page]
	var found []span
	for from, tries := 0, 0; tries < mostTries; tries++ {
		n := strings.Index(text[from:], quote)
		if n < 0 {
			break
		}
		at := span{from + n, from + n + len(quote)}
		if wholeWords(text, at) {
			found = append(found, locate(p.sheets[page].text, at))
		}
		from = at.start + 1
	}
	return found
}

// wholeWords tells whether a part of a text cuts neither a word nor a number.
func wholeWords(text string, s span) bool {
	first, _ := utf8.DecodeRuneInString(text[s.start:])
	last, _ := utf8.DecodeLastRuneInString(text[:s.end])
	before, size := utf8.DecodeLastRuneInString(text[:s.start])
	after, _ := utf8.DecodeRuneInString(text[s.end:])
	switch {
	case inWord(first) && inWord(before), inWord(last) && inWord(after):
		return false
	case unicode.IsDigit(first) && strings.ContainsRune(".,:/'-", before):
		beyond, _ := utf8.DecodeLastRuneInString(text[:s.start-size])
		return !unicode.IsDigit(beyond) && before != '-'
	case unicode.IsDigit(last) && strings.ContainsRune(".,:/'", after):
		return !digitAt(text, s.end+1)
	}
	return true
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// evidenceAt reads what is around a quote.
func (p *pages) evidenceAt(page int, at span) evidence {
	raw := p.sheets[page].text
	around, hostile := at, false
	for _, par := range p.sheets[page].paragraphs {
		if par.end <= at.start || par.start >= at.end {
			continue
		}
		for n, s := range par.sentences {
			if s.end > at.start && s.start < at.end {
				around = span{min(around.start, s.start), max(around.end, s.end)}
				hostile = hostile || par.hostile[n]
			}
		}
	}
	around.start = runeStart(raw, max(around.start, at.start-longestAround))
	around.end = runeStart(raw, min(around.end, at.end+longestAround))
	return evidence{
		page: page + 1, text: squeeze(at.of(raw)), around: around.of(raw),
		start: at.start - around.start, end: at.end - around.start, hostile: hostile,
	}
}

// runeStart returns where the character begins that a byte is part of.
func runeStart(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// plainText is a text as quotes are compared: white space squeezed, one kind of
// quotation mark and of dash, nothing hidden.
func plainText(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	walkPlain(text, func(r rune, _ span) bool {
		b.WriteRune(r)
		return true
	})
	return strings.TrimRight(b.String(), " ")
}

// locate returns the part of a text that a part of its plain text comes from.
func locate(text string, plain span) span {
	var found span
	n := 0
	walkPlain(text, func(r rune, from span) bool {
		if n == plain.start {
			found.start = from.start
		}
		n += utf8.RuneLen(r)
		found.end = from.end
		return n < plain.end
	})
	return found
}

// walkPlain hands out the characters of the plain text, and what each one
// comes from, until it is told to stop.
func walkPlain(text string, emit func(r rune, from span) bool) {
	space := true // at the start, white space is dropped
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		from := span{i, i + size}
		i += size
		switch {
		case unicode.IsSpace(r):
			if space {
				continue
			}
			r, space = ' ', true
		case hidden(r):
			continue
		default:
			space = false
			if mark, size := utf8.DecodeRuneInString(text[i:]); composed[[2]rune{r, mark}] != 0 {
				r = composed[[2]rune{r, mark}]
				i += size
				from.end = i
			}
			r = plainMark(r)
		}
		if !emit(r, from) {
			return
		}
	}
}

func plainMark(r rune) rune {
	switch r {
	case '«', '»', '“', '”', '„', '″', '‟':
		return '"'
	case '‘', '’', '‚', '′', '`', '´', '‛':
		return '\''
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return '-'
	}
	return r
}

// composed are letters whose accent may come as a character of its own.
var composed = func() map[[2]rune]rune {
	table := map[[2]rune]rune{}
	for mark, pairs := range map[rune]string{
		'\u0301': "aáeéiíoóuúAÁEÉIÍOÓUÚ", '\u0300': "aàeèoòAÀEÈOÒ", '\u0303': "nñNÑaãoõ", '\u0308': "uüiïUÜIÏoö", '\u0327': "cçCÇ",
	} {
		letters := []rune(pairs)
		for n := 0; n < len(letters); n += 2 {
			table[[2]rune{letters[n], mark}] = letters[n+1]
		}
	}
	return table
}()
