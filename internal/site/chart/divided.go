package chart

// Divided is a table whose rows have a bar of several parts. Unlike the values of a stack,
// those of different rows are never added up.
type Divided struct {
	Columns []Column // of the name and of the rest
	Rows    []DividedRow
}

// DividedRow is a row of the table.
type DividedRow struct {
	Name    Cell
	Rest    []Cell
	Amounts []Amount // of each series, one after the other
	Parts   []Part   // the bar that SetDivided draws
}

// Amount is one of the values that a bar is made of.
type Amount struct {
	Value int
	Title string
}

// Part is a piece of a bar. X and width are in per cent.
type Part struct{ Class, X, Width, Title string }

// SetDivided draws the bars of a table, of which the longest has the whole width, and sets
// the legend.
func (c *Chart) SetDivided(d *Divided, series []Series) {
	longest := 1
	used := make([]bool, len(series))
	for _, row := range d.Rows {
		sum := 0
		for at, a := range row.Amounts {
			sum += a.Value
			used[at] = used[at] || a.Value > 0
		}
		longest = max(longest, sum)
	}
	for i := range d.Rows {
		d.Rows[i].divide(series, longest)
	}
	for at, s := range series {
		if used[at] {
			c.Legend = append(c.Legend, s)
		}
	}
	c.Divided = d
	c.Empty = len(d.Rows) == 0
}

// divide draws the bar of a row.
func (r *DividedRow) divide(series []Series, longest int) {
	before := 0
	for at, a := range r.Amounts {
		if a.Value <= 0 {
			continue
		}
		r.Parts = append(r.Parts, Part{
			Class: series[at].Class,
			X:     Percent(before, longest),
			Width: Percent(a.Value, longest),
			Title: a.Title,
		})
		before += a.Value
	}
}
