package position

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"pregon/internal/disclosure"
)

// DealingMonth is what managers and associated persons of an issuer bought and sold in a
// month, in one currency. Trades that are neither a purchase nor a sale are not included.
type DealingMonth struct {
	Month    string // YYYY-MM, of the trades
	Currency string
	Bought   string // the sum of volume times price
	Sold     string
	Buys     int // trades
	Sells    int
}

// DealingMonths returns the sums of an issuer, the oldest month first. Notices that were
// rectified or annulled are left out, as are those whose document was not read.
func (b *Book) DealingMonths(key string) []DealingMonth {
	type month struct{ month, currency string }
	sums := map[month]*DealingMonth{}
	for e := range b.Of(key, disclosure.Dealing) {
		if e.r.sums == nil || e.r.superseded() {
			continue
		}
		for _, t := range e.r.decode().Trades {
			if t.Side != disclosure.Buy && t.Side != disclosure.Sell || len(t.Date) < len("2006-01") {
				continue
			}
			at := month{t.Date[:len("2006-01")], t.Currency}
			sum := sums[at]
			if sum == nil {
				sum = &DealingMonth{
					Month:    at.month,
					Currency: at.currency,
					Bought:   "0",
					Sold:     "0",
				}
				sums[at] = sum
			}
			sum.add(&t)
		}
	}
	out := make([]DealingMonth, 0, len(sums))
	for _, sum := range sums {
		out = append(out, *sum)
	}
	slices.SortFunc(out, func(a, b DealingMonth) int {
		return cmp.Or(strings.Compare(a.Month, b.Month), strings.Compare(a.Currency, b.Currency))
	})
	return out
}

func (m *DealingMonth) add(t *disclosure.Trade) {
	one := disclosure.Position{Trades: []disclosure.Trade{*t}}
	amount, _ := one.Amount()
	if t.Side == disclosure.Buy {
		m.Bought = disclosure.AddDecimals(m.Bought, amount)
		m.Buys++
		return
	}
	m.Sold = disclosure.AddDecimals(m.Sold, amount)
	m.Sells++
}

// LargestDealings returns the notices of dealings that match a filter with the largest
// amounts in a currency: those of all trades, or of the side of the filter. Notices that
// were rectified or annulled are left out.
func (b *Book) LargestDealings(ctx context.Context, f Filter, currency string, limit int) ([]Entry, error) {
	f.Kinds = []disclosure.PositionKind{disclosure.Dealing}
	if f.MinAmount == "" {
		f.MinAmount = "0" // leaves out notices without an amount in the currency
		f.Currency = currency
	}
	found, err := b.List(ctx, f, 1, b.Len())
	if err != nil {
		return nil, err
	}
	found.Entries = slices.DeleteFunc(found.Entries, func(e Entry) bool { return e.r.superseded() })
	slices.SortStableFunc(found.Entries, func(a, b Entry) int {
		return disclosure.CompareDecimals(b.r.sums.of(f.Side).value, a.r.sums.of(f.Side).value)
	})
	return found.Entries[:min(len(found.Entries), limit)], nil
}

// superseded reports whether a later notice rectifies or annuls this one.
func (r *record) superseded() bool {
	return r.state == disclosure.StateRectified || r.state == disclosure.StateAnnulled
}
