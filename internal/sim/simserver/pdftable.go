package simserver

import "strconv"

const cellGap = 10 // between the columns of a table

// table writes rows of cells; figures stand to the right, and what has no room
// is wrapped.
func (d *pdf) table(b *block) {
	size := d.size - 1
	if d.figures == courier {
		size -= 1.5
	}
	cells := make([][][]byte, len(b.rows))
	for n, row := range b.rows {
		for _, text := range row {
			cells[n] = append(cells[n], ansi(text))
		}
	}
	widths := d.columnWidths(cells, size)
	for n, row := range cells {
		d.row(row, widths, size, b.head && n == 0, []float64{10, 0}[min(n, 1)])
	}
	d.y -= 4
}

// columnWidths gives each column what it needs. When that is too much the
// widest give way until all have room.
func (d *pdf) columnWidths(cells [][][]byte, size float64) []float64 {
	var widths []float64
	for n, row := range cells {
		for k, text := range row {
			if k == len(widths) {
				widths = append(widths, 0)
			}
			f := d.figures
			if n == 0 {
				f = d.bold
			}
			widths[k] = max(widths[k], f.width(text, size)+1)
		}
	}
	room := d.measure() - cellGap*float64(len(widths)-1)
	for {
		sum, widest, next := 0.0, 0, 0.0
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

func (d *pdf) row(row [][]byte, widths []float64, size float64, head bool, above float64) {
	f := d.figures
	if head {
		f = d.bold
	}
	lead := size * 1.45
	lines := make([][][]byte, len(row))
	most := 1
	for k, text := range row {
		lines[k] = f.wrap(text, size, widths[k], false)
		most = max(most, len(lines[k]))
	}
	d.keep(above + lead*float64(most))
	d.y -= above
	page, x := len(d.pages)-1, d.left()
	for k := range row {
		for n, l := range lines[k] {
			at := x
			if k > 0 && (head || isFigure(row[k])) {
				at += widths[k] - f.width(l, size)
			}
			d.put(page, f, size, at, d.y-lead*float64(n+1), l)
		}
		x += widths[k] + cellGap
	}
	d.y -= lead * float64(most)
	b := d.pages[page].AvailableBuffer()
	b = append(b, "0.5 w "...)
	for n, v := range []float64{d.left(), d.y - 4, d.left() + d.measure(), d.y - 4} {
		b = strconv.AppendFloat(b, v, 'f', 2, 64)
		b = append(b, []string{" ", " m ", " ", " l S\n"}[n]...)
	}
	d.pages[page].Write(b)
	d.y--
}

// isFigure returns what stands to the right.
func isFigure(text []byte) bool {
	return len(text) > 0 && len(text) < 22 && (text[0] >= '0' && text[0] <= '9' || text[0] == '-' || text[0] == '+')
}
