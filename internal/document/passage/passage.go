// Package passage splits the text of a page into paragraphs, rows and sentences.
package passage

import (
	"embed"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/document/lexicon"
)

//go:embed words/*.txt
var wordFiles embed.FS

var lists = lexicon.Load(wordFiles, "words")

// Span is a part of a page, in bytes.
type Span struct{ Start, End int }

// Of returns the text of the span.
func (s Span) Of(page string) string { return page[s.Start:s.End] }

// LineBreaks makes every line break of a page \n, and a page break a blank line.
var LineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\f", "\n\n")

// Blocks splits a page at blank lines, and around lines within a paragraph that are
// clearly titles or rows.
func Blocks(page string) []Span {
	var found, lines []Span
	start := 0
	for line := range strings.Lines(page + "\n\n") {
		at := trim(page, Span{start, min(start+len(line), len(page))})
		start += len(line)
		if at.Start < at.End {
			lines = append(lines, at)
			continue
		}
		found = appendBlocks(found, page, lines)
		lines = lines[:0]
	}
	return found
}

// appendBlocks joins the lines of a paragraph, except those that are not continued.
func appendBlocks(found []Span, page string, lines []Span) []Span {
	longest := 0
	for _, l := range lines {
		longest = max(longest, l.End-l.Start)
	}
	for n, l := range lines {
		if n > 0 && !standsAlone(lines[n-1].Of(page), l.Of(page), longest) {
			found[len(found)-1].End = l.End
		} else {
			found = append(found, l)
		}
	}
	return found
}

// standsAlone reports whether a line is not continued by the next one.
func standsAlone(line, next string, longest int) bool {
	first, _ := utf8.DecodeRuneInString(next)
	switch {
	case HasGap(line), HasGap(next): // rows, even if a label has only capitals
		return true
	case AllCaps(line) != AllCaps(next):
		return unicode.IsUpper(first) || unicode.IsDigit(first)
	case strings.ContainsRune(bullets, first):
		return true
	}
	return len(line)*10 < longest*6 && !unicode.IsLower(first) && !Dangling(line)
}

// HasGap reports whether a text has a tab, the mark between the cells of a table, or
// two spaces, which mark them in texts of the first edition.
func HasGap(text string) bool { return strings.Contains(text, "  ") || strings.Contains(text, "\t") }

const bullets = "•·▪■●○◦‣➢➤✓*–—-"

// AllCaps reports whether most letters of a line are capitals, as in titles.
func AllCaps(line string) bool {
	upper, lower := 0, 0
	for _, r := range line {
		if unicode.IsUpper(r) {
			upper++
		} else if unicode.IsLower(r) {
			lower++
		}
	}
	return upper > 3 && upper > 4*lower
}

var linking = lists.Set("linking")

// Dangling reports whether a text ends with a comma or a linking word, so that the
// next text continues it. A letter that is a name or has a full stop is not a
// linking word: "S. A.", "Serie A".
func Dangling(text string) bool {
	if strings.HasSuffix(text, ",") {
		return true
	}
	last := text[strings.LastIndexFunc(text, unicode.IsSpace)+1:]
	first, size := utf8.DecodeRuneInString(last)
	if strings.HasSuffix(last, ".") || size == len(last) && unicode.IsUpper(first) {
		return false
	}
	return linking.Has(strings.TrimSpace(lexicon.Fold(last)))
}

func trim(page string, s Span) Span {
	if s.Start >= s.End {
		return Span{}
	}
	text := s.Of(page)
	left := strings.TrimLeftFunc(text, unicode.IsSpace)
	s.Start += len(text) - len(left)
	s.End = s.Start + len(strings.TrimRightFunc(left, unicode.IsSpace))
	return s
}

// Sentences splits a block at the ends of sentences. In doubt it does not split: two
// sentences together are still true, but half of a sentence may be false.
func Sentences(page string, block Span) []Span {
	var found []Span
	start := block.Start
	add := func(end int) {
		if s := trim(page, Span{start, end}); s.Start < s.End {
			found = append(found, s)
		}
		start = end
	}
	for i := block.Start; i < block.End; {
		r, size := utf8.DecodeRuneInString(page[i:block.End])
		if !IsStop(r) {
			i += size
			continue
		}
		after := behindStop(page[:block.End], i)
		if endsHere(page[start:i], page[after:block.End], r) {
			add(after)
		}
		i = after
	}
	add(block.End)
	return found
}

// IsStop reports whether a character ends a sentence.
func IsStop(r rune) bool { return r == '.' || r == '!' || r == '?' || r == '…' }

// IsCloser reports whether a character closes a quotation or a bracket.
func IsCloser(r rune) bool { return strings.ContainsRune(`"'”’»)]`, r) }

// behindStop returns the index after the full stops at i and the closing quotes and
// brackets that follow them.
func behindStop(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !IsStop(r) && !IsCloser(r) {
			break
		}
		i += size
	}
	return i
}

// Openers are words that begin sentences and rarely follow an abbreviation within a
// sentence.
var Openers = lists.Set("openers")

// endsHere reports whether a full stop ends a sentence.
func endsHere(before, after string, stop rune) bool {
	if after == "" {
		return true
	}
	if first, _ := utf8.DecodeRuneInString(after); !unicode.IsSpace(first) {
		return false
	}
	after = strings.TrimLeftFunc(after, unicode.IsSpace)
	first, _ := utf8.DecodeRuneInString(after)
	if !unicode.IsUpper(first) && !unicode.IsDigit(first) && !strings.ContainsRune(`¿¡«"“‘'([`+bullets, first) {
		return false
	}
	if stop != '.' {
		return true
	}
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })+1:]
	before = before[max(0, len(before)-12):]
	switch letters := strings.TrimSpace(lexicon.Fold(word)); {
	case word != "" && strings.Trim(word, "0123456789.,") == "":
		return !unicode.IsDigit(first)
	case isUpperASCII(before, len(before)-1) && lettered.MatchString(before): // most ends have no capital letter
		return true
	case neverLast.Has(letters[strings.LastIndexByte(letters, ' ')+1:]):
		return false
	case maybeLast.Has(letters), strings.Contains(word, ".") &&
		len(letters) <= strings.Count(word, ".")+1, len(letters) == 1:
		next, _, _ := strings.Cut(after, " ")
		return first != '(' && Openers.Has(strings.TrimSpace(lexicon.Fold(next)))
	}
	return true
}

// lettered matches a noun and the letter that is its name, not an initial: "Serie D."
var lettered = regexp.MustCompile(`(?i:serie|clase|tramo|grupo|anexo) [A-Z]$`)

func isUpperASCII(text string, at int) bool { return at >= 0 && 'A' <= text[at] && text[at] <= 'Z' }

// Abbreviations: some are always followed by another word, some may end a sentence.
// Initials are recognized by their form.
var (
	neverLast = lists.Set("neverLast")
	maybeLast = lists.Set("maybeLast")
)

// Lead matches the prefix of a sentence that is not part of it: bullets,
// enumerators, "Primero.-".
var Lead = regexp.MustCompile(`^(?:[•·▪■●○◦‣➢➤✓*–—-]+\s*|\(?(?:\d{1,2}(?:\.\d{1,2}){0,3}|[ivxIVX]{1,4})` +
	`[.)]+[-–—]?\s+|` +
	`\(?[a-zA-Z]\)\s+|(?i:primer|segund|tercer|cuart|quint|sext|s[eé]ptim|octav|noven|d[eé]cim|[uú]nic)[oa]\s*[.:]?\s*[-–—]\s*)+`)

// WithoutLead skips the prefix of a sentence: enumerators, and a title in capitals
// on the same line.
func WithoutLead(page string, s Span) Span {
	s.Start += len(Lead.FindString(s.Of(page)))
	text := s.Of(page)
	at, words := Heading(text)
	next, _, _ := strings.Cut(text[at:], " ")
	if words > 1 && Openers.Has(strings.TrimSpace(lexicon.Fold(next))) && !Dangling(strings.TrimSpace(text[:at])) {
		s.Start += at
	}
	return s
}

// Heading returns the end and the number of the words in capitals at the beginning
// of a text. It returns 0, 0 if the next word is not capitalized.
func Heading(text string) (at, words int) {
	for at < len(text) {
		end := strings.IndexFunc(text[at:], unicode.IsSpace)
		if end < 0 || !shouted(text[at:at+end]) {
			break
		}
		words++
		at += end
		at += len(text[at:]) - len(strings.TrimLeftFunc(text[at:], unicode.IsSpace))
	}
	if first, _ := utf8.DecodeRuneInString(text[at:]); !unicode.IsUpper(first) {
		return 0, 0
	}
	return at, words
}

// shouted reports whether a word is written in capitals.
func shouted(word string) bool {
	return strings.ToUpper(word) == word && strings.ToLower(word) != word && utf8.RuneCountInString(word) > 1
}
