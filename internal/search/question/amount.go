package question

import "strings"

// amountUnits are the folded words that make a number before them an amount of money.
var amountUnits = map[string]bool{
	"million": true, "millions": true, "millon": true, "millones": true, "mn": true, "m": true,
	"billion": true, "billions": true, "bn": true, "thousand": true, "mil": true,
	"euro": true, "euros": true, "eur": true, "dollars": true, "dolares": true, "usd": true,
}

// readAmounts sets amounts aside: more than 10 million euros, de más de 1.500.000 euros. As words
// to search for they would find the few reports that spell the same number.
func (q *Question) readAmounts(words []word) []word {
	for at := 0; at < len(words); at++ {
		digits := at
		for digits < len(words) && !words[digits].used && isNumber(words[digits].text) {
			digits++
		}
		end := digits
		for after := end; after < len(words) && !words[after].used; after++ {
			switch w := words[after].text; {
			case amountUnits[w]:
				end = after + 1
				continue
			case end > digits && (w == "de" || w == "of"): // millones de euros
				continue
			}
			break
		}
		if digits == at || end == digits {
			continue
		}
		q.HasAmount = true
		use(words, at, end-at)
		for _, w := range words[at:end] {
			q.Ignored = append(q.Ignored, w.text)
		}
		at = end - 1
	}
	return words
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }
