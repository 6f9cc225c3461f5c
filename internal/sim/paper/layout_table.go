package paper

import (
	"fmt"

	"pregon/internal/sim/paper/pdf"
)

const cellGap = 10 // between the columns of a table

// table writes rows of cells. Figures are aligned to the right, and long text is
// wrapped.
func (l *layout) table(b *block) {
	size := l.size - 1
	if l.figures == pdf.Courier {
		size -= 1.5
	}
	cells := make([][][]byte, len(b.rows))
	for n, row := range b.rows {
		for _, text := range row {
			cells[n] = append(cells[n], pdf.Encode(text))
		}
	}
	widths := l.columnWidths(cells, size)
	for n, row := range cells {
		l.row(row, widths, size, b.head && n == 0, []float64{10, 0}[min(n, 1)])
	}
	l.y -= 4
}

// columnWidths returns the widths that the columns need. If they exceed the page,
// the widest columns are narrowed.
func (l *layout) columnWidths(cells [][][]byte, size float64) []float64 {
	var widths []float64
	for n, row := range cells {
		for k, text := range row {
			if k == len(widths) {
				widths = append(widths, 0)
			}
			f := l.figures
			if n == 0 {
				f = l.bold
			}
			widths[k] = max(widths[k], f.Width(text, size)+1)
		}
	}
	room := l.width() - cellGap*float64(len(widths)-1)
	for {
		sum := 0.0
		widest := 0
		next := 0.0
		for k, w := range widths {
			sum += w
			switch {
			case w > widths[widest]:
				next, widest = widths[widest], k
			case k != widest:
				next = max(next, w)
			}
		}
		if sum <= room {
			widths[0] += room - sum
			return widths
		}
		widths[widest] = max(next-1, widths[widest]-(sum-room), 12)
		if widths[widest] <= 12 {
			return widths
		}
	}
}

// row writes one row and the rule below it.
func (l *layout) row(row [][]byte, widths []float64, size float64, head bool, above float64) {
	f := l.figures
	if head {
		f = l.bold
	}
	lead := size * 1.45
	lines := make([][][]byte, len(row))
	most := 1
	for k, text := range row {
		lines[k] = f.Wrap(text, size, widths[k], false)
		most = max(most, len(lines[k]))
	}
	l.keep(above + lead*float64(most))
	l.y -= above
	page, x := len(l.pages)-1, l.left()
	for k := range row {
		for n, line := range lines[k] {
			at := x
			if k > 0 && (head || isFigure(row[k])) {
				at += widths[k] - f.Width(line, size)
			}
			l.put(page, f, size, at, l.y-lead*float64(n+1), line)
		}
		x += widths[k] + cellGap
	}
	l.y -= lead * float64(most)
	fmt.Fprintf(l.pages[page], "0.5 w %.2f %.2f m %.2f %.2f l S\n", l.left(), l.y-4, l.left()+l.width(), l.y-4)
	l.y--
}

// isFigure reports whether a cell is aligned to the right.
func isFigure(text []byte) bool {
	return len(text) > 0 && len(text) < 22 && (text[0] >= '0' && text[0] <= '9' || text[0] == '-' || text[0] == '+')
}
