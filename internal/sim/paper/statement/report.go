package statement

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
)

// order is what a document has to be about. Everything that it leaves out is drawn.
type order struct {
	company  string
	day      time.Time // midnight in UTC
	title    string    // the heading, without the mark of the simulation
	category string
	values   map[string]value  // of the fact, or of other blanks
	stated   map[string]string // the fields that the title states, with their form
}

// share is how many of a hundred reports whose titles announce a fact have a document
// of this package. The others have one of package paper.
const share = 65

// Of returns the document of a report of the simulated market whose title announces a
// fact. It reports false for other reports, and for some of those. The document has
// the company, the day and the title of the report, and states what the title states.
// It depends on the report and the seed alone.
func Of(r *disclosure.Report, seed uint64) (Document, bool) {
	key := filler.Mix(filler.Mix(seed^uint64(r.Number)<<2^uint64(r.Type.Index())) ^ forReports)
	if key%100 >= share {
		return Document{}, false
	}
	at := r.PublishedAt.In(disclosure.Madrid)
	y, month, day := at.Date()
	o := &order{
		company:  strings.Join(strings.Fields(r.CompanyName), " "),
		day:      time.Date(y, month, day, 0, 0, 0, 0, time.UTC),
		title:    strings.TrimPrefix(r.Title, market.Mark),
		category: r.Category,
		values:   map[string]value{},
		stated:   map[string]string{},
	}
	about := o.announced()
	if about == nil || !o.agree(about, at) {
		return Document{}, false
	}
	rng := filler.NewRandom(key, 1)
	t := about.pick(o, rng)
	if t == nil {
		return Document{}, false
	}
	d := write(about.fact.kind, t.layout, t, key, o)
	d.Title = r.Title
	return d, true
}

// forReports keeps the numbers drawn here apart from those of other packages that
// begin with the number of a report.
const forReports = 0x5743_7e3d

// readTitles parses the titles once.
var readTitles = sync.OnceValue(func() (all []*announcement) {
	for part := range strings.SplitSeq(strings.TrimSpace(string(readFile("titles.txt"))), "\n\n") {
		all = append(all, parseAnnouncement(part))
	}
	return all
})

// announced returns what the title announces, or nil, and takes over its values.
func (o *order) announced() *announcement {
	for _, a := range readTitles() {
		for _, p := range a.titles {
			if p.read(o) {
				return a
			}
		}
	}
	return nil
}

// agree adds the values that follow from others or from the report. It reports false
// if no text could state them.
func (o *order) agree(about *announcement, at time.Time) bool {
	switch about.fact.kind {
	case "meeting":
		first, ok := o.values["first_call"].(moment)
		// Texts say «los días 18 y 19 de junio».
		return !ok || first.AddDate(0, 0, 1).Month() == first.Month()
	case "results":
		o.addFigures()
	case "buyback_trades":
		from, to := o.values["from"].(moment), o.values["to"].(moment)
		for day := from.Time; !day.After(to.Time); day = day.AddDate(0, 0, 1) {
			if closed(day) {
				return false // the first or the last trade would be on another day
			}
		}
	case "voting_rights":
		o.addShares()
	case "capital":
		return o.addIssue()
	case "suspension":
		if o.values["at"] != nil {
			return true
		}
		o.values["at"] = moment{o.day.Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute)}
		return at.Hour() >= 8 && at.Hour() < 18 // while shares are traded
	case "takeover":
		o.values["target"] = name(o.company)
	}
	return true
}

// addFigures adds the results of the company in the period: the report, the
// presentation and the press release have the same.
func (o *order) addFigures() {
	key := uint64(o.day.Year()*4 + (int(o.day.Month())-1)/3)
	for _, c := range plainCapitals.Replace(strings.ToUpper(o.company)) {
		key = filler.Mix(key ^ uint64(c))
	}
	rng := filler.NewRandom(key, 2)
	revenue := int64(rng.LogUniform(250, 38_000))
	ebitda := revenue * int64(rng.Between(8, 28)) / 100
	net := ebitda * int64(rng.Between(20, 50)) / 100
	if rng.Percent(15) {
		net = -net
	}
	const unit = 100_000
	o.values["revenue"] = whole(revenue * unit)
	o.values["ebitda"] = whole(ebitda * unit)
	o.values["net_profit"] = whole(net * unit)
}

// addShares makes shares and voting rights equal.
func (o *order) addShares() {
	if v, ok := o.values["voting_rights"]; ok {
		o.values["shares"] = v
	}
}

// addIssue finds a price at which the shares bring the proceeds of the title exactly.
func (o *order) addIssue() bool {
	proceeds, ok := o.values["proceeds"].(number)
	if !ok {
		return true
	}
	prices := []int64{1250, 1600, 2000, 2500, 3200, 4000, 5000, 6250, 8000, 12_500} // thousandths
	price := prices[uint64(proceeds.digits/100_000)%uint64(len(prices))]
	o.values["price"] = number{price, 3}
	o.values["new_shares"] = whole(proceeds.digits * 1000 / price)
	return proceeds.digits*1000%price == 0
}

// suits reports whether a text can state what is ordered.
func (a *announcement) suits(t *template, o *order) bool {
	if t.layout == "aside" || len(t.facts) != 1 || t.trap == "correction" {
		return false
	}
	fact := t.facts[0]
	for field, value := range a.fact.fields {
		if fact.fields[field] != value {
			return false
		}
	}
	if kind, ok := o.values["meeting_kind"].(words); ok && fact.fields["meeting_kind"] != kind.fact {
		return false
	}
	if fact.fields["currency"] != "" {
		return false
	}
	net, _ := o.values["net_profit"].(number)
	if net.digits != 0 && fact.options["loss"] != (net.digits < 0) {
		return false
	}
	for _, option := range []string{"billions", "many", "broken", "loyalty"} {
		if fact.options[option] {
			return false
		}
	}
	return (len(a.with) == 0 || t.hasAny(a.with)) && !t.hasAny(a.without)
}

// hasAny reports whether the text has one of some words.
func (t *template) hasAny(list []string) bool {
	for _, text := range list {
		if strings.Contains(t.title, text) {
			return true
		}
		for _, l := range t.lines {
			if strings.Contains(l.text, text) {
				return true
			}
		}
	}
	return false
}

// pick returns a text: most are in Spanish, some in English, a few in Catalan. It
// returns nil if none suits.
func (a *announcement) pick(o *order, rng filler.Random) *template {
	byLanguage := map[string][]*template{}
	for _, t := range readTexts().templates[a.fact.kind] {
		if !a.suits(t, o) {
			continue
		}
		language := t.language
		if t.second == "ca" {
			language = t.second
		}
		byLanguage[language] = append(byLanguage[language], t)
	}
	language := "es"
	switch x := rng.IntN(100); {
	case x < 14:
		language = "en"
	case x < 19:
		language = "ca"
	}
	for _, one := range []string{language, "es", "en", "ca"} {
		if all := byLanguage[one]; len(all) > 0 {
			return filler.Pick(rng, all)
		}
	}
	return nil
}

// numberOf returns the ordered value of a field, or else the drawn one.
func (w *writer) numberOf(field string, drawn number) number {
	if v, ok := w.order.values[field].(number); ok {
		return v
	}
	return drawn
}

// timeOf returns the ordered day or time of a field, or else the drawn one.
func (w *writer) timeOf(field string, drawn time.Time) time.Time {
	if v, ok := w.order.values[field].(moment); ok {
		return v.Time
	}
	return drawn
}

// wordsOf returns the ordered words of a field, or else the drawn ones.
func (w *writer) wordsOf(field string, drawn words) words {
	if v, ok := w.order.values[field].(words); ok {
		return v
	}
	return drawn
}

// parseDecimal reads a number as titles write it: 1.234,5.
func parseDecimal(text string) (number, bool) {
	left, right, _ := strings.Cut(strings.ReplaceAll(text, ".", ""), ",")
	digits, err := strconv.ParseInt(left+right, 10, 64)
	return number{digits, len(right)}, err == nil
}
