package regulator

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"pregon/internal/source/markup"
	"pregon/internal/text"
)

// maxSheet bounds a page of the registers of positions. Real pages have a quarter of a
// megabyte, and the longest history has a few thousand rows.
const maxSheet = 6 << 20

// sheet is a page of the registers of positions. Its tables are read by the names of
// their columns, which each cell has in its data-th.
type sheet struct {
	root    *html.Node
	entity  string // the third part of the title: the site's name of the entity
	line    func(*html.Node) int
	defects defects
	unknown []Defect // columns that are not read
}

// openSheet parses a page. A page that ends too early is refused as a whole: a table
// that lost its last rows looks like a shorter one.
func openSheet(surface string, body []byte) (*sheet, error) {
	s := &sheet{defects: defects{surface: surface}}
	switch {
	case len(body) > maxSheet:
		s.defects.fail(0, "it holds more than %d MB", maxSheet>>20)
		return nil, s.defects.err()
	case !isWhole(body):
		s.defects.fail(1+bytes.Count(body, newline), "the page ends too early")
		return nil, s.defects.err()
	}
	root, offsets, err := markup.ParseHTML(body)
	if err != nil {
		s.defects.fail(0, "%s", err.Error())
		return nil, s.defects.err()
	}
	s.root = root
	s.line = func(n *html.Node) int {
		if len(s.defects.found) >= maxDefects {
			return 0 // to count lines for each row of a large page would take long
		}
		for ; n != nil; n = n.Parent {
			if at, ok := offsets[n]; ok {
				return lineOf(body, at)
			}
		}
		return 0
	}
	s.entity = s.entityOfTitle()
	return s, nil
}

// entityOfTitle returns the third part of a title such as
// «CNMV - Participaciones significativas - ALMAZARA FICTICIA, S.A.», or "".
func (s *sheet) entityOfTitle() string {
	var title string
	markup.Visit(s.root, func(n *html.Node) bool {
		if title == "" && n.Type == html.ElementNode && n.Data == "title" {
			title = markup.Text(n)
		}
		return title == ""
	})
	parts := strings.SplitN(title, " - ", 3)
	if len(parts) < 3 {
		return ""
	}
	return strings.TrimSpace(parts[2])
}

// find returns the first element with an id suffix, or nil.
func (s *sheet) find(suffix string) (found *html.Node) {
	markup.Visit(s.root, func(n *html.Node) bool {
		if found == nil && markup.IDSuffix(n) == suffix {
			found = n
		}
		return found == nil
	})
	return found
}

// text returns the text of the first element with an id suffix, or "".
func (s *sheet) text(suffix string) string {
	if n := s.find(suffix); n != nil {
		return markup.Text(n)
	}
	return ""
}

// hasCells reports whether the page has any cell that names its column.
func (s *sheet) hasCells() (has bool) {
	markup.Visit(s.root, func(n *html.Node) bool {
		has = has || isCell(n) && column(n) != ""
		return !has
	})
	return has
}

// firstLink returns the first link within n, or nil.
func firstLink(n *html.Node) (found *html.Node) {
	if n == nil {
		return nil
	}
	markup.Visit(n, func(n *html.Node) bool {
		if found == nil && markup.IsLink(n) && markup.Attr(n, "href") != "" {
			found = n
		}
		return found == nil
	})
	return found
}

// gridRow is a row of a table: its cells by the folded name of their column.
type gridRow struct {
	node  *html.Node
	cells map[string]*html.Node
}

// text returns the text of a cell, or "".
func (r gridRow) text(name string) string {
	if n := r.cells[name]; n != nil {
		return markup.Text(n)
	}
	return ""
}

// grid is a table whose cells name their columns.
type grid struct {
	caption string
	rows    []gridRow
}

func isCell(n *html.Node) bool {
	return n.Type == html.ElementNode && (n.Data == "td" || n.Data == "th")
}

// column returns the folded name of the column of a cell: «%  (B)» is "b". The site
// writes some names with two spaces.
func column(cell *html.Node) string { return text.Fold(markup.Attr(cell, "data-th")) }

// emptyForm is the text of a table without rows.
var emptyForm = regexp.MustCompile(`(?i)\bno (?:existen|hay|se han|consta|dispone)|\bsin (?:datos|resultados)`)

// readGrid reads a table. Every row of data must have the required columns. Other
// columns than these and the optional ones are noted.
func (s *sheet) readGrid(table *html.Node, most int, required, optional []string) (g grid) {
	var loose []*html.Node // rows of cells without names
	markup.Visit(table, func(n *html.Node) bool {
		switch {
		case n != table && n.Type == html.ElementNode && n.Data == "table":
			return false
		case n.Type == html.ElementNode && n.Data == "caption":
			g.caption = markup.Text(n)
			return false
		case n.Type != html.ElementNode || n.Data != "tr":
			return true
		}
		row, isHead := s.readRow(n)
		switch {
		case len(row.cells) > 0:
			g.rows = append(g.rows, row)
		case isHead:
		case len(g.rows) > 0:
			s.defects.add(s.line(n), "a row has no names of columns")
		default:
			loose = append(loose, n)
		}
		return false
	})
	if len(g.rows) == 0 && len(loose) > 0 && !emptyForm.MatchString(markup.Text(table)) {
		s.defects.fail(s.line(table), "the rows of the table have no names of columns")
	}
	if len(g.rows) > most {
		s.defects.fail(s.line(table), "the table has more than %d rows", most)
		g.rows = nil
	}
	s.checkColumns(&g, required, optional)
	return g
}

// readRow returns the cells of a row, and whether it is part of the head of the table.
func (s *sheet) readRow(tr *html.Node) (row gridRow, isHead bool) {
	row, isHead = gridRow{tr, map[string]*html.Node{}}, true
	for n := tr.FirstChild; n != nil; n = n.NextSibling {
		if !isCell(n) {
			continue
		}
		isHead = isHead && (n.Data == "th" || strings.Contains(markup.Attr(n, "class"), "como_th"))
		name := column(n)
		switch {
		case name == "" || n.Data == "th":
		case row.cells[name] != nil:
			s.defects.add(s.line(tr), "a row has two cells %.60q", markup.Attr(n, "data-th"))
		default:
			row.cells[name] = n
		}
	}
	return row, isHead
}

// checkColumns drops the rows that lack a required column, and notes those columns that
// are not known.
func (s *sheet) checkColumns(g *grid, required, optional []string) {
	if len(g.rows) == 0 {
		return
	}
	for _, name := range required {
		if g.rows[0].cells[name] == nil {
			s.defects.fail(s.line(g.rows[0].node), "the table has no column %q", name)
		}
	}
	for name, cell := range g.rows[0].cells {
		if !slices.Contains(required, name) && !slices.Contains(optional, name) && len(s.unknown) < maxDefects {
			s.unknown = append(s.unknown, Defect{
				Line: s.line(g.rows[0].node),
				Text: "the column " + markup.Collapse(markup.Attr(cell, "data-th")) + " is not known",
			})
		}
	}
	g.rows = slices.DeleteFunc(g.rows, func(r gridRow) bool {
		for _, name := range required {
			if r.cells[name] == nil {
				s.defects.add(s.line(r.node), "a row has no column %q", name)
				return true
			}
		}
		return false
	})
}

// percent reads a percentage of a row and records a defect if it is none.
func (s *sheet) percent(r gridRow, name string, ok *bool) string {
	value, valid := parsePercent(r.text(name))
	if !valid {
		s.defects.add(s.line(r.node), "%.60q in the column %q is not a percentage", r.text(name), name)
		*ok = false
	}
	return value
}

// tableOf returns the first table with a cell of a column, or nil.
func (s *sheet) tableOf(name string) (table *html.Node) {
	markup.Visit(s.root, func(n *html.Node) bool {
		if table == nil && isCell(n) && column(n) == name {
			for table = n; table != nil && table.Data != "table"; {
				table = table.Parent
			}
		}
		return table == nil
	})
	return table
}
