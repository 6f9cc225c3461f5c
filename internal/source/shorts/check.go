package shorts

import (
	"pregon/internal/disclosure"
	"pregon/internal/document/extract/xls"
)

// oldest is the first day on which there were such notices.
var oldest, _ = disclosure.ParseDay("2008-01-01")

// check adds findings about what the sheets say together.
func (r *Register) check(sheets [sheetKinds]*xls.Sheet) {
	for kind, rows := range [sheetKinds][]Row{current: r.Current, series: r.Series, previous: r.Previous} {
		if sheetKind(kind) != dateSheet {
			r.checkValues(shown(sheets[kind].Name), rows)
		}
	}
	r.checkPairs(shown(sheets[current].Name))
	r.checkSeries(shown(sheets[current].Name), shown(sheets[series].Name))
}

// checkValues finds values that are odd on their own, each LEI once, and two values of
// a pair on a day.
func (r *Register) checkValues(sheet string, rows []Row) {
	type pairDay struct {
		Pair
		day disclosure.Day
	}
	valid := map[string]bool{}
	values := make(map[pairDay]string, len(rows))
	for n := range rows {
		row := &rows[n]
		if _, known := valid[row.LEI]; !known {
			if valid[row.LEI] = disclosure.IsLEI(row.LEI); !valid[row.LEI] {
				r.find(sheet, row.Line, "the check digits of the LEI %s are wrong", row.LEI)
			}
		}
		if row.Day > r.Published {
			r.find(sheet, row.Line, "its day %s is after the publication on %s", row.Day, r.Published)
		}
		if row.Day < oldest {
			r.find(sheet, row.Line, "its day %s is before there were such notices", row.Day)
		}
		at := pairDay{row.Pair(), row.Day}
		if before, ok := values[at]; ok && before != row.Percent {
			r.find(sheet, row.Line, "it has %s %%, and another row of the same holder, share and day %s %%", row.Percent, before)
		}
		values[at] = row.Percent
	}
}

// checkPairs finds pairs with several present positions.
func (r *Register) checkPairs(sheet string) {
	lines := make(map[Pair]int, len(r.Current))
	for n := range r.Current {
		row := &r.Current[n]
		if before := lines[row.Pair()]; before > 0 {
			r.find(sheet, row.Line, "row %d is the same holder and share", before)
			continue
		}
		lines[row.Pair()] = row.Line
	}
}

// checkSeries finds present positions that are not the newest notice of their pair in
// the series, and pairs of the series without a present position.
func (r *Register) checkSeries(currentName, seriesName string) {
	newest := map[Pair]*Row{}
	inSeries := make(map[Key]bool, len(r.Series))
	for n := range r.Series {
		row := &r.Series[n]
		inSeries[row.Key()] = true
		if before := newest[row.Pair()]; before == nil || before.Day <= row.Day {
			newest[row.Pair()] = row
		}
	}
	present := make(map[Pair]bool, len(r.Current))
	for n := range r.Current {
		row := &r.Current[n]
		present[row.Pair()] = true
		switch {
		case !inSeries[row.Key()]:
			r.find(currentName, row.Line, "the series does not have it")
		case newest[row.Pair()].Day > row.Day:
			r.find(currentName, row.Line, "the series has a newer notice, of %s", newest[row.Pair()].Day)
		}
	}
	for n := range r.Series {
		row := &r.Series[n]
		if newest[row.Pair()] == row && !present[row.Pair()] {
			r.find(seriesName, row.Line, "it is the newest notice of its holder and share, and not among the present ones")
		}
	}
}
