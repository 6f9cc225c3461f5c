package paper

import (
	"math"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
)

// writer writes the text of one document. A blank has the same value in the whole
// document, except in its chapters.
type writer struct {
	filler.Filler
	document *document
	values   map[string]string // of the blanks filled so far
	forget   bool              // fills a blank anew each time
	people   *filler.People
}

func newWriter(d *document, rng filler.Random, day time.Time) *writer {
	w := &writer{document: d, people: &readTexts().People}
	w.Filler = filler.Filler{
		Random:  rng,
		Day:     day,
		Value:   w.value,
		Decimal: filler.Decimal,
	}
	return w
}

func (w *writer) pick(from []string) string { return filler.Pick(w.Random, from) }

// value fills a blank. {importe*40} is 40 % of {importe}, {pago-2} is two working
// days before {pago}, and {pct2} is another {pct}.
func (w *writer) value(name string) string {
	if s, ok := w.values[name]; ok && !w.forget {
		return s
	}
	s := w.newValue(name)
	if !w.forget {
		w.values[name] = s
	}
	return s
}

func (w *writer) newValue(name string) string {
	isRange := name[0] <= '9'
	if at := strings.IndexAny(name, "*+-"); at > 0 && !isRange {
		n, _ := strconv.Atoi(name[at+1:])
		switch name[at] {
		case '*':
			return scaled(w.value(name[:at]), n)
		case '-':
			n = -n
		}
		return filler.LongDate(shift(w.date(name[:at]), n))
	}
	kind := name
	if !isRange {
		kind = strings.TrimRight(name, "0123456789")
	}
	for _, value := range []func(string) string{w.Common, w.figure, w.party, w.account} {
		if s := value(kind); s != "" {
			return s
		}
	}
	panic("paper: unknown blank " + name) // a bug in prose/*.txt
}

// figure fills a blank with an amount or a date.
func (w *writer) figure(kind string) string {
	switch kind {
	case "importe": // millions of euros
		return filler.Decimal(w.LogUniform(4, 900), 1)
	case "acciones":
		return filler.Grouped(int64(w.LogUniform(4000, 400_000)))
	case "bloque":
		return filler.Grouped(int64(w.LogUniform(1000, 40_000)) * 1000)
	case "capital":
		return filler.Grouped(int64(w.LogUniform(20_000, 900_000)) * 1000)
	case "precio":
		return filler.Decimal(w.LogUniform(1.1, 42), 3)
	case "dividendo":
		return filler.Decimal(w.LogUniform(0.03, 0.9), 3)
	case "retencion": // the tax on a dividend
		return filler.Decimal(filler.ParseDecimal(w.value("dividendo"))*taxRate, 5)
	case "liquido": // a dividend after tax
		gross := filler.ParseDecimal(w.value("dividendo"))
		return filler.Decimal(gross-filler.ParseDecimal(filler.Decimal(gross*taxRate, 5)), 5)
	case "pctalto":
		return filler.Decimal(52+w.Float64()*40, 1)
	case "dia":
		return filler.LongDate(w.Day)
	}
	return ""
}

// taxRate is the rate that is withheld from a dividend.
const taxRate = 0.19

// party fills a blank with a person, a company or a place.
func (w *writer) party(kind string) string {
	switch kind {
	case "persona", "saliente", "entrante":
		name, _ := w.Person(w.people)
		return name
	case "lugar":
		return w.pick(Towns)
	case "intermediario":
		return "Corro de Valores " + w.pick(Towns) + ", S.V., S.A."
	case "auditor":
		return "Cotejo de " + w.pick(Towns) + " Auditores, S.L.P."
	case "banco":
		return "Banco de " + w.pick(Towns) + ", S.A."
	}
	return ""
}

// account fills a blank with a figure of the accounts. It draws all of them at
// once, so that they agree with one another and with the subject.
func (w *writer) account(kind string) string {
	growth := func(name string) float64 {
		if w.values[name] == "" {
			w.values[name] = filler.Decimal(0.8+w.Float64()*12, 1)
		}
		return 1 + filler.ParseDecimal(w.values[name])/100
	}
	set := func(name string, value, factor float64) {
		w.values[name], w.values[name+"antes"] = filler.Decimal(value, 1), filler.Decimal(value/factor, 1)
	}
	revenue := w.LogUniform(30, 4000)
	set("ingresos", revenue, growth("varingresos"))
	margin := math.Round(80+w.Float64()*200) / 10
	w.values["margen"] = filler.Decimal(margin, 1)
	gross := revenue * margin / 100
	set("ebitda", gross, growth("varebitda"))
	set("deuda", gross*(0.8+w.Float64()*2.4), 1.04)
	change := 0.0
	if fall, down := w.values["bajaneto"]; down {
		change = 1 - filler.ParseDecimal(fall)/100
	} else {
		change = growth("varneto")
	}
	set("neto", gross*(0.25+w.Float64()*0.3), change)
	set("patrimonio", revenue*(0.4+w.Float64()*0.5), 1.03)
	return w.values[kind]
}

// date returns the day that fills a blank, or the day of the document if the value
// is not a date.
func (w *writer) date(name string) time.Time {
	if t, ok := filler.ParseDate(w.value(name), disclosure.Madrid); ok {
		return t
	}
	return w.Day
}

// shift returns the day so many days later. Up to five days are working days.
func shift(t time.Time, days int) time.Time {
	step := 1
	if days < 0 {
		step = -1
	}
	if days < -5 || days > 5 {
		t = t.AddDate(0, 0, days-step)
		days = step
	}
	for ; days != 0; days -= step {
		t = t.AddDate(0, 0, step)
		for closed(t) {
			t = t.AddDate(0, 0, step)
		}
	}
	return t
}

// closed reports whether no payments are made on a day.
func closed(t time.Time) bool {
	_, month, d := t.Date()
	return t.Weekday() == time.Saturday || t.Weekday() == time.Sunday || month == time.December && d == 25 ||
		month == time.January && d == 1
}

// scaled returns so many hundredths of a number, with at least one decimal.
func scaled(text string, hundredths int) string {
	_, part, _ := strings.Cut(text, ",")
	return filler.Decimal(filler.ParseDecimal(text)*float64(hundredths)/100, max(1, len(part)))
}
