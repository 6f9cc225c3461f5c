package dealing

import (
	"regexp"
	"strings"

	"pregon/internal/disclosure"
)

// key is what the rows of one operation have in common.
type key struct{ isin, instrument, nature, date, venue string }

// row is a row of the grid.
type row struct {
	key
	volume, price, currency string
	at                      *line
	complete                bool // instrument and nature are words of the form
	cut                     bool // it is the last line of its page
}

var (
	dateToken     = regexp.MustCompile(`^[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}$`)
	dateLike      = regexp.MustCompile(`(?:^|[^0-9])[0-9]{1,4}[/.-][0-9]{1,2}[/.-][0-9]{1,4}(?:$|[^0-9])`)
	isinToken     = regexp.MustCompile(`^[A-Za-z]{2}[A-Za-z0-9]{9}[0-9]$`)
	venueToken    = regexp.MustCompile(`^[A-Z0-9]{4}$`)
	currencyToken = regexp.MustCompile(`^[A-Z]{3}$`)
)

// The words of the form for instruments and natures, as they are written.
var instruments, natures = formWords("instruments"), formWords("natures")

func formWords(section string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.SplitSeq(lists.Section(section), ";") {
		set[oneLine(word)] = true
	}
	return set
}

// rowLike reports whether a line has a part that only a row has. Such a line is read as a
// row, or the notice is not read.
func rowLike(l *line) bool {
	if dateLike.MatchString(l.text) {
		return true
	}
	for word := range strings.FieldsSeq(l.text) {
		if isinToken.MatchString(word) && strings.ContainsAny(word[2:11], "0123456789") {
			return true
		}
	}
	return false
}

// parseRow reads a row.
func parseRow(l *line) (row, error) {
	r := row{at: l}
	words := strings.Fields(l.text)
	date := -1
	for i, word := range words {
		if dateToken.MatchString(word) {
			if date >= 0 {
				return r, l.unreadable("a row has two dates")
			}
			date = i
		}
	}
	if date < 0 || len(words)-date != 5 {
		return r, l.unreadable("a row does not have a date, a venue, a volume, a price and a currency")
	}
	var ok bool
	if r.date, ok = parseDate(words[date]); !ok {
		return r, l.unreadable("the date of a row does not exist")
	}
	if r.venue = words[date+1]; !venueToken.MatchString(r.venue) {
		return r, l.unreadable("the venue of a row is not a code of four capital letters or digits")
	}
	if r.volume, ok = parseNumber(words[date+2]); !ok {
		return r, l.unreadable("the volume of a row is not a number with one reading")
	}
	if r.price, ok = parseNumber(words[date+3]); !ok {
		return r, l.unreadable("the price of a row is not a number with one reading")
	}
	if r.currency = words[date+4]; !currencyToken.MatchString(r.currency) {
		return r, l.unreadable("the currency of a row is not a code of three capital letters")
	}
	return r, r.readInstrument(words[date])
}

// readInstrument reads what is left of the date: the code, the instrument and the nature.
func (r *row) readInstrument(date string) error {
	cells := cellsBefore(r.at, date)
	if len(cells) == 0 {
		return r.at.unreadable("a row does not begin with an ISIN")
	}
	isin, rest, hasRest := strings.Cut(cells[0], " ")
	r.isin = strings.ToUpper(isin)
	if !validISIN(r.isin) {
		return r.at.unreadable("a row does not begin with a valid ISIN")
	}
	if cells = cells[1:]; hasRest {
		cells = append([]string{rest}, cells...)
	}
	switch len(cells) {
	case 1: // two cells that touch: only words of the form show where the second begins
		if r.instrument, r.nature = splitFormWords(cells[0]); r.instrument == "" {
			return r.at.unreadable("the instrument and the nature of a row cannot be told apart")
		}
	case 2:
		r.instrument, r.nature = cells[0], cells[1]
	default:
		return r.at.unreadable("a row does not have one instrument and one nature")
	}
	if len(r.instrument) > maxValue || len(r.nature) > maxValue {
		return r.at.unreadable("a cell is longer than the form allows")
	}
	if looksNumeric(r.instrument) || looksNumeric(r.nature) {
		return r.at.unreadable("the instrument or the nature of a row is a number")
	}
	r.complete = instruments[r.instrument] && natures[r.nature]
	return nil
}

// isWhole reports whether no line can be missing below the row: the extraction removes lines
// at the end of a page that repeat on others.
func (r row) isWhole() bool { return r.complete || !r.cut }

// cellsBefore returns the cells of a row up to its date.
func cellsBefore(l *line, date string) (cells []string) {
	for _, cell := range l.cells {
		words := strings.Fields(cell)
		for i, word := range words {
			if word == date {
				if i > 0 {
					cells = append(cells, strings.Join(words[:i], " "))
				}
				return cells
			}
		}
		cells = append(cells, cell)
	}
	return cells
}

// splitFormWords splits a text of two words of the form: an instrument and a nature.
func splitFormWords(s string) (instrument, nature string) {
	for at, c := range s {
		if c == ' ' && instruments[s[:at]] && natures[s[at+1:]] {
			return s[:at], s[at+1:]
		}
	}
	return "", ""
}

// parseDate reads DD/MM/YYYY as YYYY-MM-DD.
func parseDate(s string) (string, bool) {
	if len(s) != len("02/01/2006") {
		return "", false
	}
	iso := s[6:] + "-" + s[3:5] + "-" + s[:2]
	day, ok := disclosure.ParseDay(iso)
	const first, last = "2000-01-01", "2100-01-01" // no notice of this form is older, or so new
	return iso, ok && day.Start().Format("2006-01-02") == iso && iso >= first && iso < last
}

// validISIN reports whether s is an ISIN with the right check digit, in capital letters.
func validISIN(s string) bool {
	if !disclosure.IsISIN(s) {
		return false
	}
	sum := 0
	double := false
	add := func(digit int) {
		if double {
			digit *= 2
		}
		double = !double
		sum += digit/10 + digit%10
	}
	for i := len(s) - 1; i >= 0; i-- {
		if c := int(s[i]); c <= '9' {
			add(c - '0')
		} else {
			add((c - 'A' + 10) % 10)
			add((c - 'A' + 10) / 10)
		}
	}
	return sum%10 == 0
}

// side returns the direction of a nature. Only what the form calls «Compra»
// and «Venta» is a purchase or a sale.
func side(nature string) disclosure.Side {
	switch nature {
	case "Compra":
		return disclosure.Buy
	case "Venta":
		return disclosure.Sell
	}
	return disclosure.OtherSide
}
