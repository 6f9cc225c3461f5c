package summary

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	shortestQuote = 15   // characters
	longestQuote  = 700  // characters
	mostTries     = 64   // occurrences of a quote on a page that are checked
	longestProof  = 1500 // bytes of a sentence of the document
)

// evidence is the location of a quote in the document, with its sentences.
type evidence struct {
	page       int // from 1
	statements []statement
	hostile    bool
}

// statement is a complete sentence of the document with the sentences around it
// that may withdraw it. A quote can omit "si" and "queda sin efecto"; the complete
// sentence cannot.
type statement struct {
	text   string   // verbatim, with each run of white space as one space
	whole  bool     // it neither begins on the page before nor continues on the next one
	before []string // the nearest first
	opened string   // the sentence that opens the list that contains it
	after  []string
}

// pages holds the pages of a document up to longestRead. The plain text and the
// sentences of a page are computed when they are first needed.
type pages struct {
	sheets    []sheet
	plain     []string
	sentences [][]placed
}

func newPages(s Source) *pages {
	read := sheets(s)
	return &pages{sheets: read, plain: make([]string, len(read)), sentences: make([][]placed, len(read))}
}

// find searches for a quote, first on the named page. If there are several
// occurrences, it prefers one that is not hostile.
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

// places returns the occurrences of a quote on a page that do not cut words.
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

// wholeWords reports whether a part of a text cuts neither a word nor a number.
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

// evidenceAt returns the evidence with the sentences that contain a quote.
func (p *pages) evidenceAt(page int, at span) evidence {
	e := evidence{page: page + 1}
	all := p.sentencesOf(page)
	first, found := slices.BinarySearchFunc(all, at.start, func(s placed, start int) int { return cmp.Compare(s.end, start+1) })
	if !found && first == len(all) {
		return e
	}
	for n := first; n < len(all) && all[n].start < at.end; n++ {
		e.hostile = e.hostile || all[n].hostile
		e.statements = append(e.statements, p.statementAt(page, n))
	}
	return e
}

// placed is a sentence of a page.
type placed struct {
	span
	hostile bool
}

func (p *pages) sentencesOf(page int) []placed {
	if p.sentences[page] == nil {
		for _, par := range p.sheets[page].paragraphs {
			for n, s := range par.sentences {
				p.sentences[page] = append(p.sentences[page], placed{s, par.hostile[n]})
			}
		}
	}
	return p.sentences[page]
}

const (
	mostPieces = 4  // parts of a sentence that is split by blank lines
	farBefore  = 3  // sentences before one that may deny it
	farAfter   = 2  // sentences after one that may withdraw it
	longList   = 20 // sentences of a list
)

// statementAt returns a sentence with its neighbours. It joins the parts of a
// sentence that is split by blank lines.
func (p *pages) statementAt(page, n int) statement {
	all, text := p.sentencesOf(page), p.sheets[page].text
	first, last := n, n
	for first > 0 && n-first < mostPieces && goesOn(all[first-1].of(text), all[first].of(text)) {
		first--
	}
	for last+1 < len(all) && last-n < mostPieces && goesOn(all[last].of(text), all[last+1].of(text)) {
		last++
	}
	start := all[first].start
	item := len(lead.FindString(text[start:all[first].end])) // without its bullet
	if r, _ := utf8.DecodeRuneInString(text[start+item:]); unicode.IsLetter(r) {
		start += item
	}
	st := statement{text: squeeze(text[start:all[last].end])}
	st.whole = !(first == 0 && startsLower(st.text)) && !(last == len(all)-1 && page+1 < len(p.sheets) && prose(st.text) && !closes(st.text))
	for k := first - 1; k >= max(0, first-farBefore); k-- {
		st.before = append(st.before, all[k].of(text))
	}
	for k := last + 1; k <= min(last+farAfter, len(all)-1); k++ {
		st.after = append(st.after, all[k].of(text))
	}
	for k := first - 1; k >= max(0, first-longList); k-- {
		if strings.HasSuffix(all[k].of(text), ":") {
			st.opened = all[k].of(text)
			break
		}
	}
	if page > 0 && first == 0 {
		if theirs := p.sentencesOf(page - 1); len(theirs) > 0 {
			st.before = append(st.before, theirs[len(theirs)-1].of(p.sheets[page-1].text))
		}
	}
	if page+1 < len(p.sheets) && last == len(all)-1 {
		if theirs := p.sentencesOf(page + 1); len(theirs) > 0 {
			st.after = append(st.after, theirs[0].of(p.sheets[page+1].text))
		}
	}
	return st
}

// goesOn reports whether two pieces belong to one sentence.
func goesOn(piece, next string) bool {
	return !closes(piece) && (startsLower(next) || dangling(piece)) || startsLower(next) && !hasStop(piece)
}

func closes(text string) bool { return hasStop(text) || strings.HasSuffix(text, ":") }

func startsLower(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(first)
}

// plainText returns the form of a text in which quotes are compared: single spaces,
// one kind of quotation mark and dash, no invisible characters.
func plainText(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	walkPlain(text, func(r rune, _ span) bool {
		b.WriteRune(r)
		return true
	})
	return strings.TrimRight(b.String(), " ")
}

// locate returns the part of a text that corresponds to a part of its plain text.
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

// walkPlain calls emit for each character of the plain text, with the part of the
// text that it comes from, until emit returns false.
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

// composed are letters whose accent may be a separate character.
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
