package questiontest_test

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/sim/shorts"
	"pregon/internal/sim/stake"
	"pregon/internal/text"
)

// calendarFields are the fields of facts that are dates of the calendar, by its kinds.
var calendarFields = map[string][2]string{
	"payment":       {"dividend", "payment_date"},
	"ex_date":       {"dividend", "ex_date"},
	"record_date":   {"dividend", "record_date"},
	"meeting":       {"meeting", "first_call"},
	"second_call":   {"meeting", "second_call"},
	"programme_end": {"buyback_programme", "ends_on"},
}

// ofCalendar answers with the first dates of a kind, and their companies.
func (w *world) ofCalendar(t *truth) (out demand, err error) {
	field, ok := calendarFields[t.Field]
	if !ok {
		return out, fmt.Errorf("unknown field %q of the calendar", t.Field)
	}
	from, to, err := t.days()
	if err != nil {
		return out, err
	}
	reports := truth{Kind: "reports", Issuer: t.Issuer, Sector: t.Sector, Fact: field[0]}
	found, err := w.selected(&reports)
	if err != nil {
		return out, err
	}
	type date struct {
		day string
		row row
	}
	var all []date
	changed := map[string]bool{} // a later report gives another end of the programme
	for _, r := range found {
		if changed[r.Issuer.ID] {
			continue
		}
		for _, f := range reports.factsOf(w.facts[r.ID]) {
			value, _, _ := strings.Cut(f.Fields[field[1]], "T")
			if day, ok := disclosure.ParseDay(value); ok && day >= from && day <= to {
				one := row{{value}, {r.CompanyName}, {r.ID}}
				for _, name := range strings.Fields(t.Want) {
					if stated := f.Fields[name]; stated != "" {
						one = append(one, statedIn(stated))
					}
				}
				all = append(all, date{value, one})
			}
			changed[r.Issuer.ID] = changed[r.Issuer.ID] || f.Fields["event"] == "change"
		}
	}
	slices.SortStableFunc(all, func(a, b date) int { return cmp.Compare(a.day, b.day) })
	for _, d := range all[:min(cmp.Or(t.N, 1), len(all))] {
		out.rows = append(out.rows, d.row)
	}
	if t.More && len(all) > len(out.rows) {
		out.says = append(out.says, "more")
	}
	return out, nil
}

// statedIn returns the ways in which a line gives a field: a day also as headlines do.
func statedIn(value string) []string {
	out := spellings(value)
	if d, err := time.Parse(time.DateOnly, value); err == nil {
		out = append(out, d.Format("2 January 2006"), d.Format("2 January"))
	}
	return out
}

// ofShorts answers with the present short positions in an issuer, the largest first.
func (w *world) ofShorts(t *truth) (out demand, err error) {
	of, err := w.issuer(t)
	if err != nil {
		return out, err
	}
	from, to, err := t.days()
	if err != nil {
		return out, err
	}
	present := slices.DeleteFunc(slices.Clone(w.shorts), func(s shorts.Position) bool {
		return t.From == "" && !s.Current || of != nil && s.LEI != market.LEI(*of) ||
			t.From != "" && (s.Day < from || s.Day > to)
	})
	slices.SortStableFunc(present, func(a, b shorts.Position) int {
		if t.Want == "newest" {
			return cmp.Compare(b.Day, a.Day)
		}
		return disclosure.CompareDecimals(b.Percent, a.Percent)
	})
	if t.Want == "count" {
		out.addTotal(len(present))
		return out, nil
	}
	for _, s := range present[:min(cmp.Or(t.N, 1), len(present))] {
		out.rows = append(out.rows, row{{s.Name}, spellings(s.Percent)})
	}
	return out, nil
}

// ofShortTotals answers with the issuers of the largest present totals.
func (w *world) ofShortTotals(t *truth) (out demand, err error) {
	totals := map[string]int{}
	for _, s := range w.shorts {
		if s.Current {
			totals[s.LEI] += inThousandths(s.Percent)
		}
	}
	type total struct {
		name string
		sum  int
	}
	var all []total
	for _, i := range w.market.Issuers() {
		inSector := strings.Contains(text.Fold(w.sector(&i)), text.Fold(t.Sector))
		if sum := totals[market.LEI(i)]; sum > 0 && len(i.ISINs) > 0 && inSector {
			all = append(all, total{i.Name, sum})
		}
	}
	slices.SortStableFunc(all, func(a, b total) int { return b.sum - a.sum })
	names := make([]string, len(all))
	for n, one := range all {
		names[n] = one.name
	}
	if t.Issuer != "" {
		of, err := w.issuer(t)
		n := slices.IndexFunc(all, func(one total) bool { return err == nil && one.name == of.Name })
		if n < 0 {
			return out, err
		}
		out.addRow(thousandths(all[n].sum) + " % in total")
		return out, nil
	}
	out.ranked(names, cmp.Or(t.N, 1), func(n int) string { return thousandths(all[n].sum) })
	return out, nil
}

func inThousandths(percent string) int {
	f, _ := strconv.ParseFloat(percent, 64) // of the simulator, which writes decimals
	return int(f*1000 + 0.5)
}

// table returns the register of holdings of the issuer of a truth.
func (w *world) table(t *truth) (stake.Table, error) {
	of, err := w.issuer(t)
	if err != nil || of == nil {
		return stake.Table{}, fmt.Errorf("holdings need an issuer: %w", err)
	}
	table, ok := w.stakes.Table(now, of.ID)
	if !ok {
		return table, fmt.Errorf("%s has no holdings", of.Name)
	}
	return table, nil
}

// ofHoldings answers with the present holders of an issuer, the largest first.
func (w *world) ofHoldings(t *truth) (out demand, err error) {
	table, err := w.table(t)
	if err != nil {
		return out, err
	}
	rows := slices.Clone(table.Present)
	slices.SortStableFunc(rows, func(a, b stake.Row) int { return b.Notices[0].Total() - a.Notices[0].Total() })
	for _, row := range rows[:min(cmp.Or(t.N, 1), len(rows))] {
		out.addRow(row.Name, thousandths(row.Notices[0].Total()))
	}
	return out, nil
}

// ofOwnShares answers with the own shares of an issuer.
func (w *world) ofOwnShares(t *truth) (out demand, err error) {
	table, err := w.table(t)
	if err != nil || len(table.Own) == 0 {
		return out, err
	}
	out.addRow(table.Issuer.Name, thousandths(table.Own[0].Total()))
	return out, nil
}

// ofDealings answers with the newest dealings, or those that have a trade of a side.
func (w *world) ofDealings(t *truth) (out demand, err error) {
	of, err := w.issuer(t)
	if err != nil {
		return out, err
	}
	from, to, err := t.days()
	if err != nil {
		return out, err
	}
	id := ""
	if of != nil {
		id = of.ID
	}
	found := slices.DeleteFunc(w.stakes.Dealings(now, id, from, min(to, today)), func(d stake.Dealing) bool {
		return t.Side != "" && volume(&d, t.Side) == "" ||
			t.Least != "" && disclosure.CompareDecimals(volume(&d, t.Side), t.Least) < 0 ||
			!strings.Contains(text.Fold(w.sector(&d.Issuer)), text.Fold(t.Sector))
	})
	if t.Want == "count" {
		out.addTotal(len(found))
		return out, nil
	}
	for _, d := range found[:min(cmp.Or(t.N, 1), len(found))] {
		one := row{{d.Declarant}, {d.Issuer.Name}, {d.On.String()}}
		if amount := volume(&d, t.Side); amount != "" {
			one = append(one, spellings(amount))
		}
		out.rows = append(out.rows, one)
	}
	return out, nil
}

// volume returns the sum of volume and price of the trades of a side, or of all trades. It
// is "" if there are none, or if the document cannot be read.
func volume(d *stake.Dealing, side string) string {
	sum, found := new(big.Rat), false
	for _, trade := range dealing(d).Trades {
		if side != "" && string(trade.Side) != side {
			continue
		}
		size, ok := new(big.Rat).SetString(trade.Volume)
		price, isPrice := new(big.Rat).SetString(trade.Price)
		if !ok || !isPrice {
			return ""
		}
		sum.Add(sum, size.Mul(size, price))
		found = true
	}
	if !found {
		return ""
	}
	return sum.FloatString(8)
}

// ofIssuer answers with a field of an issuer.
func (w *world) ofIssuer(t *truth) (out demand, err error) {
	of, err := w.issuer(t)
	if err != nil || of == nil {
		return out, fmt.Errorf("no issuer: %w", err)
	}
	identity, _ := w.stakes.Identity(now, of.ID)
	values := map[string]string{
		"id":     of.ID,
		"name":   of.Name,
		"nif":    of.NIF,
		"ticker": of.Ticker,
		"market": of.Market,
		"isin":   strings.Join(of.ISINs[:min(1, len(of.ISINs))], ""),
		"lei":    identity.LEI,
		"sector": identity.Sector,
		"former": strings.Join(of.FormerNames, " "),
	}
	for name := range strings.FieldsSeq(t.Field) {
		if name == "former" && values[name] == "" {
			out.says = append(out.says, "no former names")
		}
		if values[name] != "" {
			label := map[string]string{"nif": "NIF ", "lei": "LEI ", "isin": "ISIN ", "former": "formerly "}[name]
			out.add(label+values[name], label+disclosure.IssuerKey(values[name])) // a NIF with a dash or without
		}
	}
	return out, nil
}

// ofIssuers answers with the issuers of a sector or market: their number, or some of
// their names.
func (w *world) ofIssuers(t *truth) (out demand, err error) {
	var names []string
	for _, i := range w.market.Issuers() {
		if strings.Contains(text.Fold(w.sector(&i)), text.Fold(t.Sector)) &&
			(t.Of == "" || i.Kind == t.Of) && (t.Market == "" || text.Fold(i.Market) == text.Fold(t.Market)) &&
			(len(t.Title) == 0 || strings.Contains(text.Fold(i.Name), text.Fold(t.Title[0]))) {
			names = append(names, i.Name)
		}
	}
	switch {
	case t.Want == "count":
		out.addTotal(len(names))
		return out, nil
	case t.N > 0:
		out.groups = append(out.groups, group{names, min(t.N, len(names))})
		return out, nil
	}
	slices.Sort(names)
	for _, name := range names[:min(cmp.Or(t.N, 1), len(names))] {
		out.add(name)
	}
	return out, nil
}
