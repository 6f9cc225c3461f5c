package statement

import (
	"strconv"
	"strings"
	"time"

	"pregon/internal/sim/filler"
)

// newCompany returns who publishes the document: a fund for the payments of funds.
func (w *writer) newCompany(t *template) string {
	all := &readTexts().names
	if strings.HasPrefix(t.voice, "securitisation_payment") {
		line := filler.Pick(w.Random, []string{"Hipotecario", "Consumo", "Pymes", "Auto"})
		number := strconv.Itoa(w.Between(2, 19))
		return filler.Pick(w.Random, all.Places) + " " + line + " " + number + ", Fondo de Titulización"
	}
	return w.anyCompany()
}

func (w *writer) anyCompany() string {
	all := &readTexts().names
	return filler.Pick(w.Random, all.Trades) + " de " + filler.Pick(w.Random, all.Places) + ", S.A."
}

// otherCompany returns a company that does not publish the document.
func (w *writer) otherCompany() string {
	for {
		if text := w.anyCompany(); text != w.company {
			return text
		}
	}
}

func (w *writer) newPerson() person {
	text, woman := w.Person(&readTexts().names.People)
	_, bare, _ := strings.Cut(text, " ")
	return person{bare, woman}
}

// generalValue returns what fills a blank that belongs to no fact. It is the same in
// the whole document; {bank2} is another {bank}.
func (w *writer) generalValue(blank string) value {
	return w.once(blank, func() value {
		v := w.newGeneral(blank)
		if v == nil {
			panic("statement: unknown blank " + blank + " in " + w.template.voice) // a bug in texts
		}
		return v
	})
}

// newGeneral returns a value for a blank, or nil for one that only a fact has.
func (w *writer) newGeneral(blank string) value {
	kind := blank
	if blank[0] > '9' {
		kind = strings.TrimRight(blank, "0123456789")
	}
	for _, from := range []func(string) value{w.newParty, w.newFigure, w.newDay} {
		if v := from(kind); v != nil {
			return v
		}
	}
	return nil
}

// newParty returns a person, a company or a place.
func (w *writer) newParty(kind string) value {
	all := &readTexts().names
	place := filler.Pick(w.Random, all.Places)
	switch kind {
	case "company":
		return name(w.company)
	case "town":
		return name(place)
	case "street":
		return name(filler.Pick(w.Random, all.Streets))
	case "house", "subsidiary":
		return name(w.otherCompany())
	case "bank":
		return name("Banco de " + place + ", S.A.")
	case "broker":
		return name("Corro de Valores " + place + ", S.V., S.A.")
	case "auditor":
		return name("Cotejo de " + place + " Auditores, S.L.P.")
	case "manager":
		return name("Gestora de Titulización " + place + ", S.G.F.T., S.A.")
	case "someone", "signatory":
		return w.newPerson()
	case "isin":
		return name(w.newISIN())
	case "lei":
		return name("959800SIMULADO" + strconv.Itoa(w.Between(100000, 999999)))
	}
	return nil
}

// newFigure returns a number, or a name with one.
func (w *writer) newFigure(kind string) value {
	switch kind {
	case "year":
		return name(strconv.Itoa(w.day.Year()))
	case "lastyear":
		return name(strconv.Itoa(w.day.Year() - 1))
	case "nextyear":
		return name(strconv.Itoa(w.day.Year() + 1))
	case "pct":
		return number{int64(w.Between(11, 290)), 1}
	case "rate":
		return number{int64(w.Between(1800, 6200)), 3}
	case "sum": // an amount that the text gives in millions
		return whole(int64(w.LogUniform(20, 9000)) * 100_000)
	case "cents": // an amount with cents
		return number{int64(w.LogUniform(1e6, 9e8)), 2}
	case "each": // an amount for each share
		return number{int64(w.Between(31, 890)), 3}
	case "quote": // a price on the exchange
		return number{int64(w.Between(110, 4200)), 2}
	case "count": // of shares
		return whole(int64(w.LogUniform(5e4, 9e7)))
	case "register": // the number of a report
		return name(strconv.Itoa(w.Between(20000, 39999)))
	}
	low, high, isRange := strings.Cut(kind, "-")
	from, err := strconv.Atoi(low)
	if !isRange || err != nil {
		return nil
	}
	to, _ := strconv.Atoi(high)
	return whole(int64(w.Between(from, to)))
}

// newDay returns a day before or after the document.
func (w *writer) newDay(kind string) value {
	switch kind {
	case "today":
		return moment{w.day}
	case "yesterday":
		return moment{workday(w.day.AddDate(0, 0, -1), -1)}
	case "past": // months ago
		return moment{workday(w.day.AddDate(0, 0, -w.Between(70, 340)), -1)}
	case "recent":
		return moment{workday(w.day.AddDate(0, 0, -w.Between(6, 30)), -1)}
	case "soon":
		return moment{workday(w.day.AddDate(0, 0, w.Between(3, 25)), 1)}
	case "later":
		return moment{workday(w.day.AddDate(0, 0, w.Between(60, 300)), 1)}
	case "yearend":
		return moment{time.Date(w.day.Year()-1, 12, 31, 0, 0, 0, 0, time.UTC)}
	}
	return nil
}

// newISIN returns a code of the form of an ISIN, with a right check digit, in a range
// that no issuer uses.
func (w *writer) newISIN() string {
	code := "ES0000" + strconv.Itoa(w.Between(10000, 99999))
	return code + checkDigit(code)
}

// checkDigit returns the last digit of an ISIN: letters count as two digits, and
// every second digit from the end is doubled.
func checkDigit(code string) string {
	var digits []int
	for _, c := range code {
		if c >= 'A' {
			digits = append(digits, int(c-'A'+10)/10, int(c-'A'+10)%10)
		} else {
			digits = append(digits, int(c-'0'))
		}
	}
	sum := 0
	for n := range digits {
		d := digits[len(digits)-1-n]
		if n%2 == 0 {
			d *= 2
		}
		sum += d/10 + d%10
	}
	return strconv.Itoa((10 - sum%10) % 10)
}

// workday returns the day, or the next one in a direction on which payments are made.
func workday(t time.Time, step int) time.Time {
	for closed(t) {
		t = t.AddDate(0, 0, step)
	}
	return t
}

// closed reports whether no payments are made on a day.
func closed(t time.Time) bool {
	_, month, day := t.Date()
	weekend := t.Weekday() == time.Saturday || t.Weekday() == time.Sunday
	return weekend || month == time.January && day == 1 || month == time.May && day == 1 ||
		month == time.December && (day == 25 || day == 26)
}

// next returns the working day so many working days later.
func next(t time.Time, days int) time.Time {
	for ; days > 0; days-- {
		t = workday(t.AddDate(0, 0, 1), 1)
	}
	return t
}
