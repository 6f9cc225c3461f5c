package statement

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/sim/filler"
)

// value is what fills a blank.
type value interface {
	// write returns the value as the document has it. The form is the part of the
	// blank after the colon.
	write(n *notation, form string) string
	// truth returns the value as the fact has it, given the forms it was written in.
	truth(forms []string) string
}

// number is an exact decimal: digits divided by a power of ten.
type number struct {
	digits int64
	places int
}

func whole(n int64) number { return number{n, 0} }

// write has the forms
//
//	m      in millions, with the decimals that it needs
//	m1     in millions, with one decimal at least
//	k      in thousands
//	bn     in thousands of millions
//	abs    without its sign
//	int    without decimals that are zero
//	plain  as years are
//
// and several of them with a comma between.
func (x number) write(n *notation, form string) string {
	least := -1
	for one := range strings.SplitSeq(form, ",") {
		switch one {
		case "plain":
			return x.String()
		case "abs":
			x.digits = max(x.digits, -x.digits)
		case "int":
			x = x.short()
		case "m", "m1":
			x.places += 6
			least = len(one) - 1
		case "k":
			x.places += 3
			least = 0
		case "bn":
			x.places += 9
			least = 1
		}
	}
	if least >= 0 {
		x = x.trim(least)
	}
	return n.number(x)
}

func (x number) truth(forms []string) string {
	exact := func(form string) bool { return form == "" || form == "abs" }
	switch {
	case slices.ContainsFunc(forms, exact):
		return x.String()
	case slices.Contains(forms, "int"):
		return x.short().String()
	}
	return x.trim(0).String()
}

// short returns the number without its decimals, if all are zero.
func (x number) short() number {
	if y := x.trim(0); y.places == 0 {
		return y
	}
	return x
}

// trim removes zeros at the end, as long as there are more decimals than least.
func (x number) trim(least int) number {
	for x.places > least && x.digits%10 == 0 {
		x.digits /= 10
		x.places--
	}
	return x
}

// String returns the number with a point.
func (x number) String() string {
	sign, digits := "", strconv.FormatInt(x.digits, 10)
	if x.digits < 0 {
		sign, digits = "-", digits[1:]
	}
	if x.places == 0 {
		return sign + digits
	}
	for len(digits) <= x.places {
		digits = "0" + digits
	}
	at := len(digits) - x.places
	return sign + digits[:at] + "." + digits[at:]
}

// times returns the number multiplied by another, rounded to so many places.
func (x number) times(y number, places int) number {
	z := number{x.digits * y.digits, x.places + y.places}
	for ; z.places > places; z.places-- {
		z.digits = (z.digits + 5) / 10
	}
	for ; z.places < places; z.places++ {
		z.digits *= 10
	}
	return z
}

// grain returns the power of ten that a number is a multiple of. A number with few
// digits is treated as a multiple of the second one.
func (x number) grain() int64 {
	grain := int64(1)
	for x.digits%(grain*10) == 0 && max(x.digits, -x.digits) >= grain*100 {
		grain *= 10
	}
	return grain
}

// scaled returns so many hundredths of the number, as round as the number is, and
// not equal to it.
func (x number) scaled(hundredths int64) number {
	grain := x.grain()
	y := number{x.digits / 100 * hundredths / grain * grain, x.places}
	if max(x.digits, -x.digits) < 1e6 {
		y.digits = x.digits * hundredths / 100 / grain * grain
	}
	if y.digits == x.digits || y.digits == 0 {
		y.digits = x.digits + grain
	}
	return y
}

// moment is a day, or a time of a day.
type moment struct{ time.Time }

// write has the forms long, week (with the day of the week), num (only the number of
// the day), time, same ("at the same time"), also (nothing, where the text gives the
// time of two days at once) and quarter ("first quarter of 2026").
func (m moment) write(n *notation, form string) string {
	switch form {
	case "time":
		return n.clock(m.Time)
	case "same":
		return n.say("a la misma hora", "at the same time", "a la mateixa hora")
	case "also":
		return ""
	case "num":
		return strconv.Itoa(m.Day())
	case "year":
		return strconv.Itoa(m.Year())
	case "quarter":
		return n.quarter(m.Time)
	}
	return n.date(m.Time, form)
}

func (m moment) truth(forms []string) string {
	hasTime := func(form string) bool { return form == "time" || form == "same" || form == "also" }
	if slices.ContainsFunc(forms, hasTime) {
		return m.Format("2006-01-02T15:04")
	}
	return m.Format("2006-01-02")
}

// words is a value that each language says in its own way.
type words struct {
	spanish, english, catalan string
	fact                      string
}

func (w words) write(n *notation, form string) string {
	text := n.say(w.spanish, w.english, w.catalan)
	switch form {
	case "upper":
		return strings.ToUpper(text)
	case "title":
		letters := []rune(text)
		return strings.ToUpper(string(letters[:1])) + string(letters[1:])
	}
	return text
}

func (w words) truth([]string) string { return w.fact }

// name returns a value that is the same in all languages.
func name(text string) words { return words{text, text, text, text} }

// person is somebody's name.
type person struct {
	name  string
	woman bool
}

// write has the forms bare (without a form of address) and don.
func (p person) write(n *notation, form string) string {
	address := []string{"D. ", "Mr ", "Sr. "}
	switch {
	case form == "bare":
		return p.name
	case form == "don" && p.woman:
		address[0] = "doña "
	case form == "don":
		address[0] = "don "
	case p.woman:
		address = []string{"D.ª ", "Ms ", "Sra. "}
	}
	if n.language == "en" && p.woman {
		address[1] = "Ms "
	}
	return n.say(address[0], address[1], address[2]) + p.name
}

func (p person) truth([]string) string { return p.name }

// period is what results are about.
type period struct {
	year int
	part string // "", Q1, H1 or 9M
}

// write has the form short.
func (p period) write(n *notation, form string) string {
	year := strconv.Itoa(p.year)
	if form == "short" {
		return n.shortPeriod(p.part, year)
	}
	return n.say(spanishPeriods[p.part], englishPeriods[p.part], catalanPeriods[p.part]) + year
}

func (p period) truth([]string) string {
	year := strconv.Itoa(p.year)
	if p.part == "" {
		return year
	}
	return year + "-" + p.part
}

// end returns the last day of the period.
func (p period) end() time.Time {
	months := map[string]time.Month{"Q1": 3, "H1": 6, "9M": 9, "": 12}
	return time.Date(p.year, months[p.part]+1, 0, 0, 0, 0, 0, time.UTC)
}

// before returns a value of a year earlier.
func before(v value, rng filler.Random) value {
	switch v := v.(type) {
	case number:
		return v.scaled(int64(rng.Between(78, 97)))
	case moment:
		return moment{workday(v.AddDate(-1, 0, 0), 1)}
	case period:
		return period{v.year - 1, v.part}
	}
	panic("statement: nothing is before a name") // a bug in texts
}

// other returns a value that was stated by mistake, or that is replaced.
func other(v value, rng filler.Random) value {
	switch v := v.(type) {
	case number:
		return v.scaled(int64(rng.Between(55, 90)))
	case moment:
		return moment{workday(v.AddDate(0, 0, rng.Between(6, 12)), 1)}
	}
	panic("statement: no other value of a name") // a bug in texts
}
