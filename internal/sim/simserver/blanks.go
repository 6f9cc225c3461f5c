package simserver

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
)

// writer writes the text of one document. The same blank is filled with the
// same all over a document, but for its chapters.
type writer struct {
	*rand.Rand
	day   time.Time // in Madrid
	known map[string]string
	fresh bool // blanks are filled anew each time
	paper *paper
}

// fill fills the blanks of a text.
func (w *writer) fill(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, rest, _ := strings.Cut(rest, "}")
		value := w.blank(name)
		out.WriteString(value)
		if text = rest; strings.HasSuffix(value, ".") {
			text = strings.TrimPrefix(text, ".") // S.A. ends a sentence by itself
		}
	}
}

// blank fills one blank. {importe*40} are forty hundredths of {importe},
// {pago-2} is two working days before {pago}, {3-9} is a number, and {pct2} is
// a second {pct}.
func (w *writer) blank(name string) string {
	if s, ok := w.known[name]; ok && !w.fresh {
		return s
	}
	s := w.reckon(name)
	if !w.fresh {
		w.known[name] = s
	}
	return s
}

func (w *writer) reckon(name string) string {
	if at := strings.IndexAny(name, "*+-"); at > 0 {
		n, _ := strconv.Atoi(name[at+1:])
		switch {
		case name[at] == '*':
			return scaled(w.blank(name[:at]), n)
		case name[0] <= '9':
			low, _ := strconv.Atoi(name[:at])
			return market.Grouped(int64(low + w.IntN(n-low+1)))
		case name[at] == '-':
			n = -n
		}
		return market.LongDate(shift(w.date(name[:at]), n))
	}
	kind := strings.TrimRight(name, "0123456789")
	for _, draw := range []func(string) string{w.figure, w.party, w.account} {
		if s := draw(kind); s != "" {
			return s
		}
	}
	panic("simserver: no such blank: " + name) // a slip in the texts
}

// figure draws an amount or a date.
func (w *writer) figure(kind string) string {
	y := w.day.Year()
	switch kind {
	case "importe": // millions of euros
		return decimals(w.spread(4, 900), 1)
	case "euros":
		return decimals(w.spread(2e5, 4e7), 2)
	case "acciones":
		return market.Grouped(int64(w.spread(4000, 400_000)))
	case "bloque":
		return market.Grouped(int64(w.spread(1000, 40_000)) * 1000)
	case "capital":
		return market.Grouped(int64(w.spread(20_000, 900_000)) * 1000)
	case "precio":
		return decimals(w.spread(1.1, 42), 3)
	case "dividendo":
		return decimals(w.spread(0.03, 0.9), 3)
	case "retencion": // of a dividend, and what is left of it
		return decimals(number64(w.blank("dividendo"))*tax, 5)
	case "liquido":
		gross := number64(w.blank("dividendo"))
		return decimals(gross-number64(decimals(gross*tax, 5)), 5)
	case "pct":
		return decimals(1.2+w.Float64()*17, 1)
	case "pctalto":
		return decimals(52+w.Float64()*40, 1)
	case "tipo":
		return decimals(2+w.Float64()*4, 3)
	case "mora":
		return decimals(0.3+w.Float64()*4, 2)
	case "dia":
		return market.LongDate(w.day)
	case "ano":
		return strconv.Itoa(y)
	case "ejercicio":
		return strconv.Itoa(y - 1)
	case "proximo":
		return strconv.Itoa(y + 1)
	case "vencimiento":
		return market.Months[w.IntN(12)] + " de " + strconv.Itoa(y+3+w.IntN(10))
	}
	return ""
}

// party draws a person or a company.
func (w *writer) party(kind string) string {
	switch kind {
	case "persona", "saliente", "entrante":
		family := pick(w, surnames) + " " + pick(w, places)
		if w.IntN(100) < 45 {
			return "D.ª " + pick(w, women) + " " + family
		}
		return "D. " + pick(w, men) + " " + family
	case "lugar":
		return pick(w, places)
	case "intermediario":
		return "Corro de Valores " + pick(w, places) + ", S.V., S.A."
	case "auditor":
		return "Cotejo de " + pick(w, places) + " Auditores, S.L.P."
	case "banco":
		return "Banco de " + pick(w, places) + ", S.A."
	}
	return ""
}

// account draws what a company earns and owes; all of it at once, so that the
// sums agree with one another and with what the subject tells.
func (w *writer) account(kind string) string {
	grown := func(name string) float64 {
		if w.known[name] == "" {
			w.known[name] = decimals(0.8+w.Float64()*12, 1)
		}
		return 1 + number64(w.known[name])/100
	}
	set := func(name string, value, factor float64) {
		w.known[name], w.known[name+"antes"] = decimals1(value), decimals1(value/factor)
	}
	revenue := w.spread(30, 4000)
	set("ingresos", revenue, grown("varingresos"))
	margin := math.Round(80+w.Float64()*200) / 10
	w.known["margen"] = decimals(margin, 1)
	gross := revenue * margin / 100
	set("ebitda", gross, grown("varebitda"))
	set("deuda", gross*(0.8+w.Float64()*2.4), 1.04)
	change := 0.0
	if fall, down := w.known["bajaneto"]; down {
		change = 1 - number64(fall)/100
	} else {
		change = grown("varneto")
	}
	set("neto", gross*(0.25+w.Float64()*0.3), change)
	set("patrimonio", revenue*(0.4+w.Float64()*0.5), 1.03)
	return w.known[kind]
}

// tax is what is held back of a dividend.
const tax = 0.19

// spread draws a number whose magnitudes are equally likely, as amounts are.
func (w *writer) spread(low, high float64) float64 {
	return low * math.Exp(w.Float64()*math.Log(high/low))
}

func pick[T any](w *writer, from []T) T { return from[w.IntN(len(from))] }

// date reads the day that fills a blank; one that cannot be read is today.
func (w *writer) date(name string) time.Time {
	text := w.blank(name)
	if t, err := time.ParseInLocation("02/01/2006", text, disclosure.Madrid); err == nil {
		return t
	}
	parts := strings.Split(text, " de ")
	if len(parts) != 3 {
		return w.day
	}
	day, _ := strconv.Atoi(parts[0])
	year, _ := strconv.Atoi(parts[2])
	for n, month := range market.Months {
		if month == parts[1] && year > 0 && day > 0 {
			return time.Date(year, time.Month(n+1), day, 0, 0, 0, 0, disclosure.Madrid)
		}
	}
	return w.day
}

// shift moves a day by so many days; by working days when they are few.
func shift(t time.Time, days int) time.Time {
	step := 1
	if days < 0 {
		step = -1
	}
	few := days >= -5 && days <= 5
	if !few {
		t = t.AddDate(0, 0, days-step)
		days = step
	}
	for ; days != 0; days -= step {
		t = t.AddDate(0, 0, step)
		for idle(t) {
			t = t.AddDate(0, 0, step)
		}
	}
	return t
}

// idle reports whether nothing is paid on a day.
func idle(t time.Time) bool {
	_, month, d := t.Date()
	return t.Weekday() == time.Saturday || t.Weekday() == time.Sunday || month == time.December && d == 25 || month == time.January && d == 1
}

// number64 reads a number as it is written in Spanish.
func number64(text string) float64 {
	x, _ := strconv.ParseFloat(strings.NewReplacer(".", "", ",", ".").Replace(text), 64)
	return x
}

// scaled writes so many hundredths of a number, with a decimal at least.
func scaled(text string, hundredths int) string {
	_, part, _ := strings.Cut(text, ",")
	return decimals(number64(text)*float64(hundredths)/100, max(1, len(part)))
}

// decimals writes a number that is not negative with so many decimals.
func decimals(x float64, places int) string {
	whole, part, _ := strings.Cut(strconv.FormatFloat(x, 'f', places, 64), ".")
	n, _ := strconv.ParseInt(whole, 10, 64)
	return market.Grouped(n) + "," + part
}

func decimals1(x float64) string { return decimals(x, 1) }

var (
	places   = []string{"Valdebrisa", "Fuentelmirlo", "Torrealmena", "Campoluengo", "Sotohondo", "Montecárdeno"}
	women    = []string{"Leonor", "Beatriz", "Inés", "Mercedes", "Elvira", "Nuria", "Amaya", "Rocío", "Teresa", "Olalla"}
	men      = []string{"Gonzalo", "Álvaro", "Íñigo", "Rodrigo", "Tomás", "Jaime", "Ramón", "Andrés", "Julián", "Mateo"}
	surnames = []string{"Castaño", "Pardo", "Crespo", "Lozano", "Vidal", "Arias", "Serrano", "Molina", "Gil", "Navarro"}
)
