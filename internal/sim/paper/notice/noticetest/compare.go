package noticetest

import (
	"fmt"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/document/dealing"
	"pregon/internal/sim/paper/notice"
)

// Compare returns what is wrong in a notice that was read.
func Compare(truth notice.Notice, got dealing.Notice) (wrong []string) {
	check := func(field, have, want string) {
		if have != want {
			wrong = append(wrong, fmt.Sprintf("%s: got %q, want %q", field, have, want))
		}
	}
	check("person", got.Person, truth.Person)
	check("role", got.Role, truth.Role)
	check("associated", fmt.Sprint(got.Associated), fmt.Sprint(truth.Associated))
	check("amendment", got.Reason, truth.Amendment)
	check("kind", fmt.Sprint(got.Amendment), fmt.Sprint(truth.Amendment != ""))
	check("issuer", got.Issuer, truth.Issuer)
	check("LEI", got.LEI, truth.LEI)
	check("rows", fmt.Sprint(len(got.Trades)), fmt.Sprint(len(truth.Trades)))
	for i := range min(len(got.Trades), len(truth.Trades)) {
		want := tradeOf(truth.Trades[i])
		have := got.Trades[i]
		have.Page, have.Quote = 0, ""
		if have != want {
			wrong = append(wrong, fmt.Sprintf("row %d: got %+v, want %+v", i+1, have, want))
		}
	}
	return wrong
}

// tradeOf returns what a reader should find in a row, without its place.
func tradeOf(t notice.Trade) disclosure.Trade {
	sides := map[string]disclosure.Side{"Compra": disclosure.Buy, "Venta": disclosure.Sell}
	side, ok := sides[t.Nature]
	if !ok {
		side = disclosure.OtherSide
	}
	return disclosure.Trade{
		ISIN:       t.ISIN,
		Instrument: t.Instrument,
		Nature:     t.Nature,
		Side:       side,
		Date:       t.Date.Start().Format("2006-01-02"),
		Venue:      t.Venue,
		Volume:     short(t.Volume),
		Price:      short(t.Price),
		Currency:   t.Currency,
	}
}

// short removes the zeros at the end of decimals.
func short(decimal string) string {
	if !strings.Contains(decimal, ".") {
		return decimal
	}
	return strings.TrimSuffix(strings.TrimRight(decimal, "0"), ".")
}

// Quotes returns the quotes that are not on their pages, or that name the person.
func Quotes(pages []string, got dealing.Notice) (wrong []string) {
	names := strings.Fields(strings.ToLower(got.Person))
	for i, t := range got.Trades {
		if t.Page < 1 || t.Page > len(pages) || t.Quote == "" ||
			!strings.Contains(strings.Join(strings.Fields(pages[t.Page-1]), " "), t.Quote) {
			wrong = append(wrong, fmt.Sprintf("row %d: %q is not on page %d", i+1, t.Quote, t.Page))
		}
		for _, name := range names {
			if len(name) > 3 && strings.Contains(strings.ToLower(t.Quote), name) {
				wrong = append(wrong, fmt.Sprintf("row %d: the quote has a word of the name", i+1))
			}
		}
	}
	return wrong
}
