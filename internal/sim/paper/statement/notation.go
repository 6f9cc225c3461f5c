package statement

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"pregon/internal/sim/filler"
)

// notation is how a document writes figures and dates. An issuer does it in one way
// in its sentences and perhaps in another in its tables.
type notation struct {
	language string
	cell     bool // a table is being written
	narrow   bool // its cells have no room for a month in words
	prose    string
	cells    string // forms of dates
	point    bool   // between hours and minutes
}

func newNotation(language string, rng filler.Random) notation {
	n := notation{language: language, prose: "long", point: rng.Percent(12)}
	if language == "en" {
		n.cells = filler.Pick(rng, []string{"long", "2 Jan 2006", "02-Jan-2006", "2006-01-02"})
		if rng.Percent(30) {
			n.prose = "American"
		}
		return n
	}
	if rng.Percent(20) {
		n.prose = filler.Pick(rng, []string{"02/01/2006", "2/1/2006", "02.01.2006", "02-01-2006"})
	}
	n.cells = filler.Pick(rng, []string{
		"02/01/2006", "02/01/2006", "02.01.06", "02-01-2006", "02/01/06", "2.1.2006", "long",
	})
	return n
}

// say returns the text of the language.
func (n *notation) say(spanish, english, catalan string) string {
	switch n.language {
	case "en":
		return english
	case "ca":
		return catalan
	}
	return spanish
}

// number writes a number; a negative one in brackets in a table.
func (n *notation) number(x number) string {
	abs := number{max(x.digits, -x.digits), x.places}
	whole, part, _ := strings.Cut(abs.String(), ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + n.say(".", ",", ".") + whole[at:]
	}
	if part != "" {
		whole += n.say(",", ".", ",") + part
	}
	switch {
	case x.digits >= 0:
		return whole
	case n.cell:
		return "(" + whole + ")"
	}
	return "-" + whole
}

// clock writes the time of a day.
func (n *notation) clock(t time.Time) string {
	if n.point {
		return t.Format("15.04")
	}
	return t.Format("15:04")
}

// date writes a day in a form, or in that of the document.
func (n *notation) date(t time.Time, form string) string {
	if form == "" || form == "date" {
		form = n.prose
		if n.cell {
			form = n.cells
		}
		if n.cell && n.narrow && form == "long" {
			form = n.say("02/01/2006", "2006-01-02", "02/01/2006")
		}
	}
	switch form {
	case "long":
		return n.longDate(t)
	case "American":
		return t.Format("January 2, 2006")
	case "week":
		return n.weekday(t) + n.say(", ", " ", ", ") + n.longDate(t)
	case "month":
		return n.monthOf(t)
	case "short":
		return t.Format("02/01/2006")
	}
	return t.Format(form)
}

func (n *notation) longDate(t time.Time) string {
	day := strconv.Itoa(t.Day())
	switch n.language {
	case "en":
		return t.Format("2 January 2006")
	case "ca":
		return day + " " + n.monthOf(t)
	}
	return filler.LongDate(t)
}

// monthOf writes the month of a day: «mayo de 2026», «de maig de 2026».
func (n *notation) monthOf(t time.Time) string {
	switch n.language {
	case "en":
		return t.Format("January 2006")
	case "ca":
		return catalanMonths[t.Month()-1] + " de " + strconv.Itoa(t.Year())
	}
	return filler.MonthOfYear(t.Month(), t.Year())
}

var catalanMonths = [...]string{
	"de gener", "de febrer", "de març", "d'abril", "de maig", "de juny",
	"de juliol", "d'agost", "de setembre", "d'octubre", "de novembre", "de desembre",
}

func (n *notation) weekday(t time.Time) string {
	day := t.Weekday()
	return n.say(
		[]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"}[day],
		day.String(),
		[]string{"diumenge", "dilluns", "dimarts", "dimecres", "dijous", "divendres", "dissabte"}[day],
	)
}

// quarter writes the quarter of a day.
func (n *notation) quarter(t time.Time) string {
	q := (int(t.Month()) - 1) / 3
	name := n.say(
		[]string{"primer", "segundo", "tercer", "cuarto"}[q]+" trimestre de ",
		[]string{"first", "second", "third", "fourth"}[q]+" quarter of ",
		[]string{"primer", "segon", "tercer", "quart"}[q]+" trimestre de ",
	)
	return name + strconv.Itoa(t.Year())
}

// The names of periods, before the year.
var (
	spanishPeriods = map[string]string{
		"":   "ejercicio ",
		"Q1": "primer trimestre de ",
		"H1": "primer semestre de ",
		"9M": "periodo de los nueve primeros meses de ",
	}
	englishPeriods = map[string]string{
		"":   "financial year ",
		"Q1": "first quarter of ",
		"H1": "first half of ",
		"9M": "first nine months of ",
	}
	catalanPeriods = map[string]string{
		"":   "exercici ",
		"Q1": "primer trimestre de ",
		"H1": "primer semestre de ",
		"9M": "període dels nou primers mesos de ",
	}
)

// shortPeriod writes a period as the heads of tables do: 1S 2026, H1 2026.
func (n *notation) shortPeriod(part, year string) string {
	switch part {
	case "":
		return year
	case "9M":
		return "9M " + year
	case "Q1":
		return n.say("1T ", "Q1 ", "1T ") + year
	}
	return n.say("1S ", "H1 ", "1S ") + year
}

// percent writes a change in per cent with its sign.
func (n *notation) percent(now, then number) string {
	change := number{(now.digits - then.digits) * 1000 / max(1, max(then.digits, -then.digits)), 1}
	sign := ""
	if change.digits >= 0 && n.cell {
		sign = "+"
	}
	cell := n.cell
	n.cell = false // brackets are for amounts
	defer func() { n.cell = cell }()
	return fmt.Sprint(sign, n.number(change), " %")
}
