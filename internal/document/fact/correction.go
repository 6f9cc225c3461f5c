package fact

// voidCorrected drops the values that a correction replaces: those between "donde dice"
// and "debe decir", and the cells below a heading "donde dice".
func (r *reading) voidCorrected() {
	void := false
	for i := range r.parts {
		p := &r.parts[i]
		if p.cells != nil {
			if void {
				p.values = nil // a table below "donde dice:"
			}
			continue
		}
		marks := p.all("wrong", "corrected")
		if len(marks) == 0 && !void {
			continue
		}
		kept := p.values[:0]
		next := 0
		for _, v := range p.values {
			for next < len(marks) && marks[next].from < v.From {
				void = marks[next].class == "wrong"
				next++
			}
			if !void {
				kept = append(kept, v)
			}
		}
		for ; next < len(marks); next++ {
			void = marks[next].class == "wrong"
		}
		p.values = kept
		void = void && r.correctedLater(i)
	}
	for n := range r.tables {
		r.voidColumns(&r.tables[n])
	}
}

// correctedLater reports whether the corrected text follows a part that announces the
// wrong one.
func (r *reading) correctedLater(i int) bool {
	for k := i + 1; k < len(r.parts) && k <= i+12; k++ {
		if r.parts[k].has("corrected") {
			return true
		}
	}
	return false
}

// voidColumns drops the values of the columns and rows whose heading says that they are
// wrong.
func (r *reading) voidColumns(t *table) {
	column := -1
	for _, row := range t.rows {
		p := &r.parts[row]
		wrong, corrected := p.all("wrong"), p.all("corrected")
		switch {
		case len(wrong) > 0 && len(corrected) > 0:
			column = p.cellOf(wrong[0].from)
			continue
		case len(wrong) > 0:
			p.values = nil
			continue
		case column < 0:
			continue
		}
		kept := p.values[:0]
		for _, v := range p.values {
			if p.cellOf(v.From) != column {
				kept = append(kept, v)
			}
		}
		p.values = kept
	}
}
