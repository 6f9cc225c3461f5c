package market

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// pen writes the subject of one report.
type pen struct {
	dice
	market *Market
	day    time.Time // in Madrid
	who    *issuer
	name   string // of the issuer, on that day
}

// fill writes a subject and fills its blanks, the words in braces. What fills
// a blank may have blanks itself.
func (p *pen) fill(subject string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(subject, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		blank, rest, _ := strings.Cut(rest, "}")
		out.WriteString(p.blank(blank))
		subject = rest
	}
}

// blank fills one blank. Its name may be a range: {20-180}.
func (p *pen) blank(name string) string {
	if low, high, ok := strings.Cut(name, "-"); ok {
		from, _ := strconv.Atoi(low)
		to, _ := strconv.Atoi(high)
		return Grouped(int64(p.between(from, to)))
	}
	for _, fill := range []func(string) string{p.amount, p.date, p.period, p.party} {
		if s := fill(name); s != "" {
			return s
		}
	}
	panic("sim: no such blank: " + name) // a slip in a table of this package
}

// amount fills a blank with a number.
func (p *pen) amount(name string) string {
	switch name {
	case "importe": // millions of euros
		if p.who.large {
			return Grouped(int64(p.spread(40, 1800)/5) * 5)
		}
		return decimal(p.spread(1.5, 90), 1)
	case "euros":
		return decimal(p.spread(2e5, 4e7), 2)
	case "acciones": // bought back in a week
		return Grouped(int64(float64(p.who.shares) * p.spread(0.0001, 0.002)))
	case "bloque": // issued or placed at once
		return Grouped(int64(float64(p.who.shares)*p.spread(0.03, 0.15)) / 1000 * 1000)
	case "capital":
		return Grouped(int64(p.who.shares))
	case "precio":
		return decimal(p.who.price*(0.85+0.3*p.Float64()), 3)
	case "dividendo":
		return decimal(max(0.01, p.who.price*(0.01+0.04*p.Float64())), 3)
	case "pct":
		return decimal(1.2+p.Float64()*17, 1)
	case "mayoria":
		return decimal(50.5+p.Float64()*48, 1)
	case "minoria":
		return decimal(3+p.Float64()*26, 1)
	case "tipo":
		return decimal(2+p.Float64()*4, 3)
	case "mora":
		return decimal(0.3+p.Float64()*4, 2)
	case "canje":
		return decimal(0.3+p.Float64()*1.4, 6)
	}
	return ""
}

// date fills a blank with a day.
func (p *pen) date(name string) string {
	switch name {
	case "reciente":
		return LongDate(p.workday(-p.between(1, 9)))
	case "reciente/":
		return p.workday(-p.between(1, 9)).Format("02/01/2006")
	case "pago":
		return LongDate(p.workday(p.between(6, 25)))
	case "pago/":
		return p.workday(p.between(2, 9)).Format("02/01/2006")
	case "junta":
		first := p.workday(p.between(31, 45))
		return LongDate(first) + " en primera convocatoria y, en su caso, al día siguiente en segunda"
	case "vencimiento":
		return Months[p.IntN(12)] + " de " + strconv.Itoa(p.day.Year()+p.between(3, 12))
	case "semana": // the last that has ended
		weekday := (int(p.day.Weekday()) + 6) % 7 // from Monday on
		monday := p.day.AddDate(0, 0, -weekday)
		if weekday < 5 {
			monday = monday.AddDate(0, 0, -7)
		}
		return "entre el " + span(monday, monday.AddDate(0, 0, 4))
	}
	return ""
}

// workday returns the day so many days away, or the next on which people work.
func (p *pen) workday(days int) time.Time {
	step := 1
	if days < 0 {
		step = -1
	}
	t := p.day.AddDate(0, 0, days)
	for closed(disclosure.DayOf(t)) {
		t = t.AddDate(0, 0, step)
	}
	return t
}

// period fills a blank with a year, a quarter, a month or what follows from it.
func (p *pen) period(name string) string {
	y, month := p.day.Year(), p.day.Month()
	switch name {
	case "ano":
		return strconv.Itoa(y)
	case "ejercicio": // the last that has ended
		return strconv.Itoa(y - 1)
	case "proximo":
		return strconv.Itoa(y + 1)
	case "plan":
		return fmt.Sprintf("%d-%d", y+1, y+p.between(3, 5))
	case "campana":
		return fmt.Sprintf("%d/%d", y-1, y)
	case "mes":
		last := p.day.AddDate(0, 0, -p.day.Day())
		return Months[last.Month()-1] + " de " + strconv.Itoa(last.Year())
	case "trimestre":
		last := (int(month)-1)/3 - 1
		if last < 0 {
			last, y = 3, y-1
		}
		return ordinals[last] + " trimestre de " + strconv.Itoa(y)
	case "delsemestre":
		if month <= time.June {
			return "del segundo semestre de " + strconv.Itoa(y-1)
		}
		return "del primer semestre de " + strconv.Itoa(y)
	case "alperiodo", "delperiodo":
		s := [...]string{
			"l ejercicio " + strconv.Itoa(y-1), "l primer trimestre de " + strconv.Itoa(y),
			"l primer semestre de " + strconv.Itoa(y), " los nueve primeros meses de " + strconv.Itoa(y),
		}[(month-1)/3]
		return strings.TrimSuffix(name, "lperiodo") + s
	case "Junta":
		if month >= time.March && month <= time.July {
			return "Junta General Ordinaria de Accionistas"
		}
		return "Junta General Extraordinaria de Accionistas"
	}
	return ""
}

// party fills a blank with a person, a company, a place or a thing.
func (p *pen) party(name string) string {
	switch name {
	case "nombre":
		return p.name
	case "persona":
		post := pick(p.dice, posts)
		family := pick(p.dice, surnames) + " " + pick(p.dice, second)
		if p.percent(45) {
			return "D.ª " + pick(p.dice, women) + " " + family + " como " + post.woman
		}
		return "D. " + pick(p.dice, men) + " " + family + " como " + post.man
	case "empresa":
		return p.another(func(i *issuer) bool { return i.role == listed })
	case "colega":
		return p.another(func(i *issuer) bool { return i.role == listed && i.sector == p.who.sector })
	case "unbanco":
		return p.another((*issuer).lends)
	case "filial":
		return bare(pick(p.dice, places)) + " " + pick(p.dice, []string{"Servicios", "Industrial", "Desarrollos", "Internacional"}) + ", S.L."
	case "lugar":
		return pick(p.dice, places)
	case "delugar":
		return of(pick(p.dice, places))
	case "negocio":
		return p.fill(pick(p.dice, p.who.sector.news))
	case "agencia":
		return pick(p.dice, agencies)
	case "intermediario":
		return pick(p.dice, brokers)
	case "auditor":
		return pick(p.dice, auditors)
	case "serie": // one for each ISIN
		return string(rune('A' + p.IntN(len(p.who.ISINs))))
	case "clase":
		return pick(p.dice, []string{"A", "B", "C", "Institucional", "Cartera"})
	case "fase":
		return pick(p.dice, []string{"I", "II", "IIb", "III"})
	case "codigo":
		return strings.ToUpper(plain(p.name))[:2] + "-" + strconv.Itoa(p.between(101, 990))
	}
	return p.finance(name)
}

// finance fills a blank with a manager, a depositary, a fund or a rating.
func (p *pen) finance(name string) string {
	switch name {
	case "gestora":
		return p.who.manager.Name
	case "otragestora":
		return p.another(func(i *issuer) bool { return strings.Contains(i.Name, "S.G.I.I.C.") && i != p.who.manager })
	case "banco":
		return p.who.banker.nameOn(disclosure.DayOf(p.day))
	case "absorbido": // a fund of the same house that is in no directory any more, the same one all day
		house, _, _ := strings.Cut(p.name, " ")
		number, _ := strconv.Atoi(p.who.ID[1:])
		today := dice{rand.New(rand.NewPCG(uint64(number), uint64(disclosure.DayOf(p.day))))}
		return house + " " + strings.ToUpper(pick(today, policies)) + pick(today, []string{" II", " III", " PLUS", " PREMIUM"}) + ", FI"
	case "rating":
		return pick(p.dice, grades[3:12])
	case "perspectiva":
		return pick(p.dice, []string{"estable", "estable", "positiva", "negativa"})
	case "sube":
		n := p.between(2, len(grades)-1)
		return "de " + grades[n] + " a " + grades[n-p.between(1, 2)]
	case "baja":
		n := p.between(0, len(grades)-3)
		return "de " + grades[n] + " a " + grades[n+p.between(1, 2)]
	}
	return ""
}

// another returns the name of an issuer of some sort that is not the report
// one, or of a company outside the market when the sort is too rare.
func (p *pen) another(sort func(*issuer) bool) string {
	for range 1000 {
		if i := pick(p.dice, p.market.issuers); i != p.who && sort(i) {
			return i.nameOn(disclosure.DayOf(p.day))
		}
	}
	return p.party("filial")
}

var ordinals = [...]string{"primer", "segundo", "tercer", "cuarto"}

// span writes two dates and says once what they share.
func span(from, to time.Time) string {
	begin := strconv.Itoa(from.Day())
	if from.Month() != to.Month() {
		begin += " de " + Months[from.Month()-1]
	}
	if from.Year() != to.Year() {
		begin += " de " + strconv.Itoa(from.Year())
	}
	return begin + " y el " + LongDate(to)
}

// decimal writes a number with a comma before its decimals; none when they
// are all zero.
func decimal(x float64, places int) string {
	scale := math.Pow10(places)
	whole, part := math.Modf(math.Round(x*scale) / scale)
	n := int(math.Round(part * scale))
	if n == 0 {
		return Grouped(int64(whole))
	}
	return fmt.Sprintf("%s,%0*d", Grouped(int64(whole)), places, n)
}
