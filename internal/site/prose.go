package site

import "strings"

// block is a paragraph, heading, list or table of a text. Only the forms that the
// OpenAPI document uses are known; everything else is plain text.
type block struct {
	Heading []inline
	ID      string // of a heading
	Text    []inline
	Items   [][]inline
	Head    [][]inline
	Rows    [][][]inline
}

// Label names a table by its head.
func (b block) Label() string {
	var names []string
	for _, cell := range b.Head {
		for _, piece := range cell {
			names = append(names, piece.Text)
		}
	}
	return strings.Join(names, ", ")
}

// inline is a piece of a line.
type inline struct {
	Text         string
	Code, Strong bool
}

// prose returns the blocks of a text with a little Markdown.
func prose(text string) (out []block) {
	for _, part := range strings.Split(strings.ReplaceAll(text, "\r", ""), "\n\n") {
		lines := strings.Split(strings.Trim(part, "\n"), "\n")
		switch first := lines[0]; {
		case strings.TrimSpace(part) == "":
		case strings.HasPrefix(first, "## "):
			title := strings.TrimPrefix(first, "## ")
			out = append(out, block{Heading: inlines(title), ID: slug(title)})
			if rest := strings.Join(lines[1:], "\n"); rest != "" {
				out = append(out, prose(rest)...)
			}
		case strings.HasPrefix(first, "| "):
			out = append(out, proseTable(lines))
		case strings.HasPrefix(first, "- "):
			out = append(out, items(lines))
		default:
			out = append(out, block{Text: inlines(strings.Join(lines, " "))})
		}
	}
	return out
}

// items returns a list. A line that does not begin an item continues the last.
func items(lines []string) block {
	var all []string
	for _, line := range lines {
		if item, ok := strings.CutPrefix(line, "- "); ok || len(all) == 0 {
			all = append(all, item)
		} else {
			all[len(all)-1] += " " + strings.TrimSpace(line)
		}
	}
	var b block
	for _, item := range all {
		b.Items = append(b.Items, inlines(item))
	}
	return b
}

// proseTable returns a table, whose second line separates its head.
func proseTable(lines []string) block {
	var b block
	for n, line := range lines {
		var row [][]inline
		for _, cell := range strings.Split(strings.Trim(line, "| "), "|") {
			row = append(row, inlines(strings.TrimSpace(cell)))
		}
		switch n {
		case 0:
			b.Head = row
		case 1:
		default:
			b.Rows = append(b.Rows, row)
		}
	}
	return b
}

// inlines splits a line at its code and its emphasis. A mark without its partner is
// text.
func inlines(line string) (out []inline) {
	plain := 0
	for at := 0; at < len(line); {
		piece, size := marked(line[at:])
		if size == 0 {
			at++
			continue
		}
		if at > plain {
			out = append(out, inline{Text: line[plain:at]})
		}
		out = append(out, piece)
		at += size
		plain = at
	}
	if plain < len(line) {
		out = append(out, inline{Text: line[plain:]})
	}
	return out
}

// marked returns the marked piece at the beginning of a text, and its size with the
// marks, or 0 if there is none.
func marked(text string) (inline, int) {
	for _, m := range []struct {
		mark string
		as   inline
	}{{"`", inline{Code: true}}, {"**", inline{Strong: true}}, {"*", inline{Strong: true}}} {
		rest, ok := strings.CutPrefix(text, m.mark)
		if !ok {
			continue
		}
		end := strings.Index(rest, m.mark)
		if end <= 0 || rest[0] == ' ' {
			return inline{}, 0
		}
		m.as.Text = rest[:end]
		return m.as, end + 2*len(m.mark)
	}
	return inline{}, 0
}

// slug returns the id of a heading.
func slug(title string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(title),
		func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }), "-")
}
