package notice

import (
	"fmt"

	"pregon/internal/sim/paper/pdf"
)

// grid writes the rows, and the total below those of each operation.
func (s *sheet) grid(rows []Trade) {
	s.heads()
	for len(rows) > 0 {
		n := operation(rows)
		for _, t := range rows[:n] {
			s.row(regular, s.cells(t), s.Align)
		}
		s.total(rows[:n])
		rows = rows[n:]
	}
	s.y -= 10
}

// cells returns what a row shows.
func (s *sheet) cells(t Trade) [8]string {
	return [8]string{
		t.ISIN,
		t.Instrument,
		t.Nature,
		dayText(t.Date),
		t.Venue,
		figure(t.Volume, s.Points),
		figure(t.Price, s.Points),
		t.Currency,
	}
}

// heads writes the heads of the columns.
func (s *sheet) heads() {
	var cells [8]string
	for n := range cells {
		cells[n] = fmt.Sprintf("4.%c) %s", 'a'+n, s.Heads[n])
	}
	s.y -= 4
	s.row(bold, cells, Top)
}

// total writes what the notice states as the sum of an operation. It is below the columns
// of volume and price.
func (s *sheet) total(rows []Trade) {
	volume, price := total(rows)
	if s.Total != nil {
		volume, price = s.Total(volume, price)
	}
	lead := s.Size * 1.5
	if s.keep(2*lead + 8) {
		s.repeatHeads()
	}
	s.y -= lead
	s.put(regular, s.Size, left, s.y, encode(s.TotalHead))
	var cells [8]string
	cells[volumeColumn] = figure(volume, s.Points)
	if price != "" {
		cells[priceColumn] = figure(price, s.Points)
	}
	s.row(regular, cells, Top)
	s.y -= 4
}

const (
	volumeColumn = 5
	priceColumn  = 6
)

func (s *sheet) repeatHeads() {
	if !s.HeadOnce {
		s.heads()
	}
}

// row writes one row of the grid. A cell that is too long has several lines.
func (s *sheet) row(f *pdf.Font, cells [8]string, align Align) {
	lead := s.Size * 1.25
	var lines [8][][]byte
	most := 1
	for n, text := range cells {
		if text != "" {
			width := s.Widths[n]
			if isFigure := n == volumeColumn || n == priceColumn; isFigure && f == regular && !s.Break {
				width = right - left
			}
			lines[n] = f.Wrap(encode(text), s.Size, width, false)
			most = max(most, len(lines[n]))
		}
	}
	if s.keep(lead*float64(most)+4) && f == regular {
		s.repeatHeads()
	}
	s.y -= 4
	x := float64(left)
	for at := range cells {
		n := at
		if s.Order != nil {
			n = s.Order[at]
		}
		free := float64(most - len(lines[n]))
		y := s.y - lead*free*float64(align)/2
		for k, line := range lines[n] {
			shift := 0.0
			if f == regular && !s.LeftFigure && (n == volumeColumn || n == priceColumn) {
				shift = s.Widths[n] - f.Width(line, s.Size)
			}
			s.put(f, s.Size, x+shift, y-lead*float64(k+1), line)
		}
		x += s.Widths[n] + s.Gap
	}
	s.y -= lead * float64(most)
}
