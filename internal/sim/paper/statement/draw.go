package statement

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/sim/filler"
)

// draw draws the values of one fact.
type draw struct {
	*writer
	declaration
	set
}

// set is what was drawn: the fields of the fact, and whatever else a text may
// mention, with values that agree with them.
type set struct {
	values  map[string]value
	rows    []map[string]value
	woman   bool                 // the person of the fact
	follows map[string]deduction // values that others determine, also a year before
}

// deduction returns a value that follows from others.
type deduction func(of func(field string) number) number

// deduce draws a value that follows from others.
func (d *draw) deduce(field string, from deduction) {
	d.follows[field] = from
	d.values[field] = from(func(name string) number { return d.values[name].(number) })
}

// around returns a working day so many days from the document.
func (d *draw) around(from, to int) time.Time {
	return workday(d.day.AddDate(0, 0, d.Between(from, to)), 1)
}

// millions returns an amount that is round in millions.
func (d *draw) millions(low, high float64) number {
	m := d.LogUniform(low, high)
	switch {
	case m > 30:
		return whole(int64(m/5) * 5_000_000)
	case d.Percent(40):
		return whole(int64(m*10) * 100_000)
	}
	return whole(int64(max(1, m)) * 1_000_000)
}

// drawDividend: shares go without the dividend first, then holders are determined,
// then they are paid.
func drawDividend(d *draw) {
	places := d.Between(2, 4)
	gross := d.numberOf("gross_per_share", number{int64(d.LogUniform(0.03, 1.2) * float64(power(places))), places})
	places = gross.places
	ex := d.around(4, 40)
	record := next(ex, 1)
	shares := whole(int64(d.LogUniform(2e7, 9e8)))
	payment := next(record, filler.Pick(d.Random, []int{1, 1, 1, 2, 5}))
	if ordered := d.timeOf("payment_date", payment); ordered != payment {
		payment = ordered
		record = workday(payment.AddDate(0, 0, -1), -1)
		ex = workday(record.AddDate(0, 0, -1), -1)
	}
	d.values["gross_per_share"] = gross
	d.values["tax"] = gross.times(number{19, 2}, places+2)
	d.values["net"] = gross.times(number{81, 2}, places+2)
	d.values["total"] = gross.times(shares, 2)
	d.values["entitled"] = shares
	d.values["ex_date"] = moment{ex}
	d.values["last_day"] = moment{workday(ex.AddDate(0, 0, -1), -1)}
	d.values["record_date"] = moment{record}
	d.values["payment_date"] = moment{payment}
	d.values["nominal"] = number{int64(filler.Pick(d.Random, []int{10, 20, 25, 50})), 2}
	d.values["ratio"] = whole(int64(d.Between(18, 60)))
	d.values["fraction"] = number{int64(d.Between(105, 480)), 3}
}

// power returns a power of ten.
func power(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// drawMeeting: the second call is on the day after the first, in the same month, so
// that a text can say «los días 18 y 19 de junio».
func drawMeeting(d *draw) {
	first := d.around(30, 55)
	for first.AddDate(0, 0, 1).Month() != first.Month() {
		first = workday(first.AddDate(0, 0, 1), 1)
	}
	first = d.timeOf("first_call", first)
	clock := filler.Pick(d.Random, []time.Duration{
		9*time.Hour + 30*time.Minute,
		10 * time.Hour,
		11 * time.Hour,
		11*time.Hour + 30*time.Minute,
		12 * time.Hour,
		12*time.Hour + 30*time.Minute,
		13 * time.Hour,
		17 * time.Hour,
	})
	d.values["first_call"] = moment{first.Add(clock)}
	d.values["second_call"] = moment{first.AddDate(0, 0, 1).Add(clock)}
	d.values["registered_by"] = moment{first.AddDate(0, 0, -5)}
	d.values["votes_by"] = moment{first.AddDate(0, 0, -1).Add(23*time.Hour + 59*time.Minute)}
	d.values["proposals_by"] = moment{d.day.AddDate(0, 0, 5)}
}

// drawResults: the figures are round in the unit of the text. A loss is negative.
func drawResults(d *draw) {
	unit := int64(100_000)
	if d.options["thousands"] {
		unit = 1000
	}
	round := func(x float64) number { return whole(int64(x*1e6) / unit * unit) }
	revenue := d.LogUniform(25, 3800)
	if d.options["billions"] {
		revenue = float64(d.Between(11, 80)) * 100 // which two digits say exactly
	}
	ebitda := revenue * (0.08 + d.Float64()*0.2)
	net := ebitda * (0.2 + d.Float64()*0.3)
	if d.options["loss"] {
		net = -net
	}
	if ordered, ok := d.order.values["revenue"].(number); ok {
		revenue = float64(ordered.digits) / 1e6
		ebitda = float64(d.numberOf("ebitda", ordered).digits) / 1e6
		net = float64(d.numberOf("net_profit", ordered).digits) / 1e6
	}
	p := period{d.day.Year(), "9M"}
	switch m := d.day.Month(); {
	case m < 4:
		p = period{d.day.Year() - 1, ""}
	case m < 7:
		p.part = "Q1"
	case m < 10:
		p.part = "H1"
	}
	d.values["revenue"] = d.numberOf("revenue", round(revenue))
	d.values["ebitda"] = d.numberOf("ebitda", round(ebitda))
	d.values["net_profit"] = d.numberOf("net_profit", round(net))
	d.values["debt"] = round(ebitda * (0.9 + d.Float64()*2))
	d.values["capex"] = round(ebitda * (0.2 + d.Float64()*0.3))
	d.values["ebit"] = round(ebitda * 0.7)
	d.values["pretax"] = round(net * 1.3)
	d.deduce("costs", func(of func(string) number) number {
		return whole(of("revenue").digits - of("ebitda").digits)
	})
	d.values["margin"] = number{int64(ebitda / revenue * 1000), 1}
	d.values["period"] = p
	d.values["closed_on"] = moment{p.end()}
}

// drawProgramme draws a programme in which shares are bought back.
func drawProgramme(d *draw) {
	d.values["max_amount"] = d.numberOf("max_amount", d.millions(3, 900))
	d.values["max_shares"] = whole(int64(d.LogUniform(300, 40_000)) * 1000)
	d.values["starts_on"] = moment{d.around(1, 6)}
	d.values["ends_on"] = moment{d.timeOf("ends_on", d.around(120, 420))}
	d.values["bought"] = whole(int64(d.LogUniform(40_000, 250_000)))
	d.values["spent"] = number{int64(d.LogUniform(4e7, 2e8)), 2}
	d.values["share_of_capital"] = number{int64(d.Between(60, 480)), 2}
}

// drawTrades draws the purchases of some days. They add up to the totals, unless the
// text is one whose total does not.
func drawTrades(d *draw) {
	days := 5
	if d.options["many"] {
		days = d.Between(12, 24)
	}
	date := d.timeOf("from", workday(d.day.AddDate(0, 0, -days*7/5-d.Between(1, 4)), 1))
	venues := readTexts().names.Venues
	places := d.Between(2, 4)
	level := d.LogUniform(1.5, 60)
	var total, spent int64
	d.values["from"] = moment{date}
	for n := range days {
		if n > 0 {
			date = next(date, 1)
		}
		venue := venues[0]
		if d.Percent(25) {
			venue = filler.Pick(d.Random, venues)
		}
		price := number{int64(level * (0.97 + d.Float64()*0.06) * float64(power(places))), places}
		shares := whole(int64(d.LogUniform(2000, 60_000)))
		cost := price.times(shares, 2)
		total += shares.digits
		spent += cost.digits
		d.rows = append(d.rows, map[string]value{
			"date":   moment{date},
			"venue":  name(venue),
			"shares": shares,
			"price":  price,
			"cost":   cost,
		})
	}
	d.values["to"] = moment{date}
	d.values["average"] = number{spent * power(2) / total, 4}
	if d.options["broken"] {
		total += int64(d.Between(100, 900))
	}
	d.values["shares"] = whole(total)
	d.values["amount"] = number{spent, 2}
	d.values["so_far"] = whole(total * int64(d.Between(3, 9)))
	d.values["so_far_amount"] = number{spent * int64(d.Between(3, 9)), 2}
	d.values["ceiling"] = d.millions(20, 300)
	d.values["programme_ends"] = moment{d.around(60, 200)}
	d.values["isin"] = name(d.newISIN())
}

// drawVotingRights draws the capital of a company. Shares held for years may have
// two votes.
func drawVotingRights(d *draw) {
	nominal := number{int64(filler.Pick(d.Random, []int{10, 20, 25, 50, 100})), 2}
	shares := d.numberOf("shares", whole(int64(d.LogUniform(9e6, 1.5e9))))
	extra := int64(0)
	if d.options["loyalty"] {
		extra = int64(d.LogUniform(1e5, 8e6))
	}
	d.values["shares"] = shares
	d.values["nominal"] = nominal
	d.values["extra"] = whole(extra)
	d.deduce("voting_rights", func(of func(string) number) number { return whole(of("shares").digits + extra) })
	d.deduce("capital", func(of func(string) number) number { return of("shares").times(nominal, 2) })
	d.values["treasury"] = whole(int64(d.LogUniform(1e4, 9e5)))
	month := time.Date(d.day.Year(), d.day.Month(), 0, 0, 0, 0, 0, time.UTC)
	d.values["as_of"] = moment{month}
	d.values["deed"] = moment{workday(month.AddDate(0, 0, -9), -1)}
}

// drawCapital draws an increase or a reduction of the capital.
func drawCapital(d *draw) {
	cents := filler.Pick(d.Random, []int64{10, 20, 25, 50, 100})
	nominal := number{cents, 2}
	start := int64(d.LogUniform(4e6, 4e8))
	shares := int64(float64(start) * (0.01 + d.Float64()*0.12))
	sign := int64(1)
	if d.fields["action"] == "reduction" {
		sign = -1
	}
	price := d.numberOf("price", number{cents*10 + int64(d.LogUniform(300, 18_000)), 3})
	if ordered := d.numberOf("new_shares", whole(shares)); ordered.digits != shares {
		shares = ordered.digits
		start = shares * int64(d.Between(8, 60))
	}
	after := whole(start + sign*shares)
	d.values["new_shares"] = whole(shares)
	d.values["redeemed"] = whole(shares)
	d.values["nominal"] = nominal
	d.values["amount"] = nominal.times(whole(shares), 2)
	d.values["price"] = price
	d.values["premium"] = number{price.digits - cents*10, 3}
	d.values["proceeds"] = price.times(whole(shares), 2)
	d.values["shares_before"] = whole(start)
	d.values["capital_before"] = nominal.times(whole(start), 2)
	d.values["shares_after"] = after
	d.values["capital_after"] = nominal.times(after, 2)
	d.values["subscribe_from"] = moment{d.around(5, 9)}
	d.values["subscribe_to"] = moment{d.around(20, 26)}
}

// drawSuspension draws the moment from which trading stops or goes on.
func drawSuspension(d *draw) {
	clock := 8*time.Hour + 30*time.Minute + time.Duration(d.IntN(540))*time.Minute
	d.values["at"] = moment{d.timeOf("at", d.day.Add(clock))}
	d.values["last_price"] = number{int64(d.LogUniform(90, 5000)), 2}
}

// drawBoard draws a person and a post. The meeting elects and removes only directors,
// whose posts are the first in the list.
func drawBoard(d *draw) {
	p := d.newPerson()
	roles := readTexts().names.Roles
	if action := d.fields["action"]; action == "reelected" || action == "removed" {
		roles = roles[:3]
	}
	r := filler.Pick(d.Random, roles)
	post := r.words(p.woman)
	if ordered, ok := d.order.values["person"].(person); ok {
		p = ordered
		post = d.wordsOf("role", post)
	}
	post.fact = d.say(post.spanish, post.english, post.catalan)
	d.woman = p.woman
	d.values["person"] = p
	d.values["role"] = post
	d.values["effective"] = moment{d.around(1, 45)}
	d.values["since"] = name(strconv.Itoa(d.day.Year() - d.Between(2, 11)))
}

// words returns the names of the post.
func (r *role) words(woman bool) words {
	if woman {
		return words{spanish: r.Woman, english: r.English, catalan: r.CatalanWoman}
	}
	return words{spanish: r.Man, english: r.English, catalan: r.CatalanMan}
}

// grades are ratings, the best first, in the two usual spellings.
var grades = [][]string{
	{"AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+", "B"},
	{"Aa2", "Aa3", "A1", "A2", "A3", "Baa1", "Baa2", "Baa3", "Ba1", "Ba2", "Ba3", "B1", "B2"},
}

// outlooks say how a rating may change.
var outlooks = []words{
	{"estable", "stable", "estable", "stable"},
	{"positiva", "positive", "positiva", "positive"},
	{"negativa", "negative", "negativa", "negative"},
	{"en desarrollo", "developing", "en desenvolupament", "developing"},
}

// drawRating draws a rating, and the one before it.
func drawRating(d *draw) {
	scale := filler.Pick(d.Random, grades)
	at := d.Between(2, len(scale)-3)
	was := at
	switch d.fields["action"] {
	case "upgrade":
		was = at + d.Between(1, 2)
	case "downgrade":
		was = at - d.Between(1, 2)
	}
	n := d.IntN(len(outlooks))
	if ordered, ok := d.order.values["outlook"].(words); ok {
		n = slices.Index(outlooks, ordered)
	}
	rated := d.wordsOf("rating", name(scale[at]))
	other := scale[at+1]
	if other == rated.fact {
		other = scale[at+2]
	}
	agency := d.wordsOf("agency", name(filler.Pick(d.Random, readTexts().names.Agencies)))
	agency.fact = strings.TrimSuffix(agency.fact, " Ratings") // the short name
	d.values["agency"] = agency
	d.values["agency_other"] = name("Contraste Crediticio")
	d.values["rating"] = rated
	d.values["rating_was"] = d.wordsOf("rating_was", name(scale[was]))
	d.values["rating_short"] = name(filler.Pick(d.Random, []string{"P-2", "F2", "A-2"}))
	d.values["rating_other"] = name(other)
	d.values["outlook"] = outlooks[n]
	d.values["outlook_was"] = outlooks[(n+1)%len(outlooks)]
}

// drawTakeover draws a bid. The document is the target's or the bidder's.
func drawTakeover(d *draw) {
	mine, theirs := name(d.company), name(d.otherCompany())
	d.values["bidder"], d.values["target"] = mine, theirs
	if d.options["target"] {
		d.values["bidder"], d.values["target"] = theirs, mine
	}
	if target, ok := d.order.values["target"]; ok { // the market's reports about bids are the target's
		d.values["bidder"] = d.wordsOf("bidder", theirs)
		d.values["target"] = target
	}
	shares := int64(d.LogUniform(1e7, 4e8))
	acceptance := d.numberOf("acceptance", number{int64(d.Between(5200, 9870)), 2})
	accepted := acceptance.times(whole(1), 2).digits // hundredths of one per cent
	price := d.numberOf("price", number{int64(d.LogUniform(150, 4500)), 2})
	d.values["price"] = price
	d.values["acceptance"] = acceptance
	d.values["accepting"] = whole(shares / 10_000 * accepted)
	d.values["addressed"] = whole(shares / 10_000 * 10_000)
	d.values["worth"] = price.times(whole(shares/10_000*10_000), 2)
	d.values["bonus"] = number{int64(d.Between(120, 420)), 1}
	d.values["threshold"] = number{5001, 2}
	d.values["opens"] = moment{d.around(2, 5)}
	d.values["closes"] = moment{d.around(20, 40)}
}

// drawLiquidity draws what a broker bought and sold in a quarter. The balances at its
// end follow from those at its beginning.
func drawLiquidity(d *draw) {
	quarter := time.Month((int(d.day.Month())-1)/3*3 + 1)
	from := time.Date(d.day.Year(), quarter-3, 1, 0, 0, 0, 0, time.UTC)
	price := d.LogUniform(1.2, 40)
	shares := int64(d.Between(25_000, 90_000))
	cash := int64(d.Between(60_000_000, 90_000_000))
	trade := func() (count, paid int64) {
		count = int64(d.Between(3000, 14_000))
		return count, int64(float64(count) * price * (97 + d.Float64()*6))
	}
	bought, paid := trade()
	sold, received := trade()
	d.values["from"] = moment{from}
	d.values["to"] = moment{from.AddDate(0, 3, -1)}
	d.values["bought"] = whole(bought)
	d.values["sold"] = whole(sold)
	d.values["paid"] = number{paid, 2}
	d.values["received"] = number{received, 2}
	d.values["shares_before"] = whole(shares)
	d.values["cash_before"] = number{cash, 2}
	d.values["balance_shares"] = whole(shares + bought - sold)
	d.values["balance_cash"] = number{cash - paid + received, 2}
	d.values["buys"] = whole(int64(d.Between(60, 400)))
	d.values["sells"] = whole(int64(d.Between(60, 400)))
}

// drawSecuritisation draws what a fund pays to the holders of its bonds. Only the
// first series is being redeemed.
func drawSecuritisation(d *draw) {
	names := [][]string{{"A", "B"}, {"A", "B", "C"}, {"A1", "A2", "B", "C"}, {"A", "B", "C", "D"}}
	var interest, redemption int64
	for n, series := range filler.Pick(d.Random, names) {
		bonds := int64(d.LogUniform(60, 9000))
		each := int64(d.LogUniform(9000, 130_000))
		back := int64(0)
		if n == 0 || n == 1 && d.Percent(25) {
			back = int64(d.LogUniform(40_000, 500_000))
		}
		interest += bonds * each
		redemption += bonds * back
		d.rows = append(d.rows, map[string]value{
			"series":          name(series),
			"isin":            name(d.newISIN()),
			"interest":        number{bonds * each, 2},
			"redemption":      number{bonds * back, 2},
			"interest_each":   number{each, 2},
			"redemption_each": number{back, 2},
			"bonds":           whole(bonds),
			"left":            number{bonds * (9_000_000 - back), 2},
			"coupon":          number{int64(d.Between(1800, 5900)), 3},
		})
	}
	d.values["payment_date"] = moment{d.timeOf("payment_date", d.around(1, 12))}
	d.values["total_interest"] = number{interest, 2}
	d.values["total_redemption"] = number{redemption, 2}
	d.values["previous_payment"] = moment{d.around(-95, -85)}
	d.values["following_payment"] = moment{d.around(94, 100)}
	d.values["reserve"] = number{int64(d.LogUniform(2e8, 2e9)), 2}
	d.values["loans"] = number{int64(d.LogUniform(4e9, 6e10)), 2}
}
