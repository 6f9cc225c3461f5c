package dealing

import (
	"strings"

	"pregon/internal/disclosure"
)

var roleWords = lists.Set("roles")

// distinctive returns the words of names and roles that may name a person.
func distinctive(texts ...string) map[string]bool {
	words := map[string]bool{}
	for _, text := range texts {
		for word := range strings.FieldsSeq(fold(text)) {
			if len(word) > 3 && !roleWords.Has(word) {
				words[word] = true
			}
		}
	}
	return words
}

// trade returns the trade of a row. Its texts are kept longer than the names of people, so
// that none may name the person.
func (g *reading) trade(r *row) (disclosure.Trade, error) {
	t := disclosure.Trade{
		ISIN:       r.isin,
		Instrument: r.instrument,
		Nature:     r.nature,
		Side:       side(r.nature),
		Date:       r.date,
		Venue:      r.venue,
		Volume:     r.volume,
		Price:      r.price,
		Currency:   r.currency,
		Page:       r.at.page,
		Quote:      r.at.text,
	}
	if r.complete {
		return t, nil
	}
	for word := range strings.FieldsSeq(fold(r.instrument + " " + r.nature)) {
		if g.person[word] {
			return t, r.at.unreadable("a row names the person in its instrument or nature")
		}
	}
	// Other names may be in what is written freely: the quote begins behind it.
	words := strings.Fields(r.at.text)
	t.Quote = strings.Join(words[len(words)-5:], " ")
	return t, nil
}
