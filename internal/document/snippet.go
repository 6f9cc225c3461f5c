package document

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/search"
	"pregon/internal/text"
)

// Snippet is a part of a page that matches a search.
type Snippet struct {
	Page  int      `json:"page"`  // from 1
	Text  string   `json:"text"`  // as in the document, without line breaks
	Marks [][2]int `json:"marks"` // begin and end of each match, in characters of Text
}

const (
	snippetLength = 280 // bytes, about
	snippetsEach  = 3
)

// finder finds the words of a search in texts.
type finder struct {
	wanted      []search.Wanted
	highlighter search.Highlighter
}

func newFinder(q search.Query) finder {
	all, _ := q.Wanted()
	return finder{all, search.NewHighlighter(q)}
}

// snippets returns the snippets of a document. The pages with the most wanted
// phrases come first.
func (f finder) snippets(pages []string) []Snippet {
	type candidate struct{ page, score int }
	var candidates []candidate
	best := 0 // pages with all wanted phrases
	for i, text := range pages {
		n := f.score(text)
		if n > 0 {
			candidates = append(candidates, candidate{i, n})
		}
		if n == len(f.wanted) {
			best++
		}
		if best == snippetsEach {
			break
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	out := make([]Snippet, 0, snippetsEach)
	for _, c := range candidates[:min(len(candidates), snippetsEach)] {
		out = append(out, f.snippet(c.page+1, pages[c.page]))
	}
	return out
}

// score counts the wanted phrases that are on a page.
func (f finder) score(page string) (n int) {
	found := make([]bool, len(f.wanted))
	words := text.Words(page)
	for i := range words {
		for k, w := range f.wanted {
			found[k] = found[k] || w.At(words[i:]) > 0
		}
	}
	for _, ok := range found {
		if ok {
			n++
		}
	}
	return n
}

// run is a part of a text between spaces.
type run struct {
	from, to int
}

func runs(page string) iter.Seq[run] {
	return func(yield func(run) bool) {
		for at := 0; at < len(page); {
			from := at + strings.IndexFunc(page[at:], func(c rune) bool { return !unicode.IsSpace(c) })
			if from < at {
				return
			}
			to := len(page)
			if n := strings.IndexFunc(page[from:], unicode.IsSpace); n >= 0 {
				to = from + n
			}
			if !yield(run{from, to}) {
				return
			}
			at = to
		}
	}
}

// snippet returns the part of a page with the most matches.
func (f finder) snippet(page int, body string) Snippet {
	all := slices.Collect(runs(body))
	marked := f.mark(body, all)
	first, last := window(all, marked)
	s := Snippet{Page: page, Marks: [][2]int{}}
	var b strings.Builder
	length := 0
	for i := first; i < last; i++ {
		if i > first {
			b.WriteByte(' ')
			length++
		}
		piece := text.ClipBytes(body[all[i].from:all[i].to], snippetLength)
		n := utf8.RuneCountInString(piece)
		if marked[i] {
			s.Marks = append(s.Marks, [2]int{length, length + n})
		}
		b.WriteString(piece)
		length += n
	}
	s.Text = b.String()
	return s
}

// mark returns which runs contain a match.
func (f finder) mark(body string, all []run) []bool {
	marked := make([]bool, len(all))
	first := 0
	for _, s := range f.highlighter.Spans(body) {
		for all[first].to <= s.From {
			first++
		}
		for i := first; i < len(all) && all[i].from < s.To; i++ {
			marked[i] = true
		}
	}
	return marked
}

// window returns the runs of the snippet with the most matches, with some text
// before the first match.
func window(all []run, marked []bool) (first, last int) {
	best, bestCount := 0, -1
	for i, ok := range marked {
		if !ok {
			continue
		}
		count := 0
		for j := i; j < len(all) && all[j].to-all[i].from <= snippetLength*3/4; j++ {
			if marked[j] {
				count++
			}
		}
		if count > bestCount {
			best, bestCount = i, count
		}
	}
	if bestCount < 0 {
		best = 0
	}
	first = best
	for first > 0 && all[best].from-all[first-1].from <= snippetLength/4 {
		first--
	}
	for last = best; last < len(all) && (last == best || all[last].to-all[first].from <= snippetLength); last++ {
	}
	return first, last
}
