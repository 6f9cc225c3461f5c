package market

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
)

// titleFiller fills the blanks of the title of one report. A value may have
// blanks itself.
type titleFiller struct {
	filler.Filler
	market *Market
	issuer *issuer
	name   string // of the issuer on the day
}

func (m *Market) titleFiller(rng filler.Random, day disclosure.Day, i *issuer) *titleFiller {
	f := &titleFiller{market: m, issuer: i, name: i.nameOn(day)}
	f.Filler = filler.Filler{Random: rng, Day: day.Start(), Value: f.value, Decimal: filler.ShortDecimal}
	return f
}

func (f *titleFiller) value(name string) string {
	for _, value := range []func(string) string{f.Common, f.amount, f.date, f.period, f.party, f.finance} {
		if s := value(name); s != "" {
			return s
		}
	}
	panic("market: unknown blank " + name) // a bug in data/*.json
}

// amount fills a blank with a number.
func (f *titleFiller) amount(name string) string {
	i := f.issuer
	switch name {
	case "importe": // millions of euros
		if i.large {
			return filler.Grouped(int64(f.LogUniform(40, 1800)/5) * 5)
		}
		return f.Decimal(f.LogUniform(1.5, 90), 1)
	case "acciones": // bought back in a week
		return filler.Grouped(int64(float64(i.shares) * f.LogUniform(0.0001, 0.002)))
	case "bloque": // issued or placed at once
		return filler.Grouped(int64(float64(i.shares)*f.LogUniform(0.03, 0.15)) / 1000 * 1000)
	case "capital":
		return filler.Grouped(int64(i.shares))
	case "precio":
		return f.Decimal(i.price*(0.85+0.3*f.Float64()), 3)
	case "dividendo":
		return f.Decimal(max(0.01, i.price*(0.01+0.04*f.Float64())), 3)
	case "mayoria":
		return f.Decimal(50.5+f.Float64()*48, 1)
	case "minoria":
		return f.Decimal(3+f.Float64()*26, 1)
	case "canje":
		return f.Decimal(0.3+f.Float64()*1.4, 6)
	}
	return ""
}

// date fills a blank with a day.
func (f *titleFiller) date(name string) string {
	switch name {
	case "reciente":
		return filler.LongDate(f.workday(-f.Between(1, 9)))
	case "reciente/":
		return f.workday(-f.Between(1, 9)).Format("02/01/2006")
	case "pago":
		return filler.LongDate(f.workday(f.Between(6, 25)))
	case "pago/":
		return f.workday(f.Between(2, 9)).Format("02/01/2006")
	case "junta":
		first := f.workday(f.Between(31, 45))
		return filler.LongDate(first) + " en primera convocatoria y, en su caso, al día siguiente en segunda"
	case "semana": // the last one that has ended
		weekday := (int(f.Day.Weekday()) + 6) % 7 // from 0 for Monday
		monday := f.Day.AddDate(0, 0, -weekday)
		if weekday < 5 {
			monday = monday.AddDate(0, 0, -7)
		}
		return "entre el " + dateRange(monday, monday.AddDate(0, 0, 4))
	}
	return ""
}

// workday returns the day so many days away, or the next working day after it in
// the same direction.
func (f *titleFiller) workday(days int) time.Time {
	step := 1
	if days < 0 {
		step = -1
	}
	t := f.Day.AddDate(0, 0, days)
	for closed(disclosure.DayOf(t)) {
		t = t.AddDate(0, 0, step)
	}
	return t
}

// period fills a blank with years, a quarter, a month or a meeting.
func (f *titleFiller) period(name string) string {
	y, month := f.Day.Year(), f.Day.Month()
	year, lastYear := strconv.Itoa(y), strconv.Itoa(y-1)
	switch name {
	case "plan":
		return fmt.Sprintf("%d-%d", y+1, y+f.Between(3, 5))
	case "campana":
		return lastYear + "/" + year
	case "mes":
		last := f.Day.AddDate(0, 0, -f.Day.Day())
		return filler.MonthOfYear(last.Month(), last.Year())
	case "trimestre":
		last := (int(month)-1)/3 - 1
		if last < 0 {
			last, year = 3, lastYear
		}
		return [...]string{"primer", "segundo", "tercer", "cuarto"}[last] + " trimestre de " + year
	case "delsemestre":
		if month <= time.June {
			return "del segundo semestre de " + lastYear
		}
		return "del primer semestre de " + year
	case "alperiodo", "delperiodo":
		s := [...]string{
			"l ejercicio " + lastYear, "l primer trimestre de " + year,
			"l primer semestre de " + year, " los nueve primeros meses de " + year,
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
func (f *titleFiller) party(name string) string {
	texts := f.market.texts
	switch name {
	case "nombre":
		return f.name
	case "persona":
		post := filler.Pick(f.Random, texts.Posts)
		person, woman := f.Person(&texts.People)
		if woman {
			return person + " como " + post.Woman
		}
		return person + " como " + post.Man
	case "empresa":
		return f.other(func(i *issuer) bool { return i.role == listed })
	case "colega":
		return f.other(func(i *issuer) bool { return i.role == listed && i.sector == f.issuer.sector })
	case "unbanco":
		return f.other((*issuer).isBank)
	case "filial":
		return withoutArticle(f.pick(texts.Places)) + " " + f.pick([]string{"Servicios", "Industrial", "Desarrollos", "Internacional"}) + ", S.L."
	case "lugar":
		return f.pick(texts.Places)
	case "delugar":
		return of(f.pick(texts.Places))
	case "negocio":
		return f.Fill(f.pick(f.issuer.sector.News))
	case "agencia":
		return f.pick(texts.Agencies)
	case "intermediario":
		return f.pick(texts.Brokers)
	case "auditor":
		return f.pick(texts.Auditors)
	case "serie": // one for each ISIN
		return string(rune('A' + f.IntN(len(f.issuer.ISINs))))
	case "clase":
		return f.pick([]string{"A", "B", "C", "Institucional", "Cartera"})
	case "fase":
		return f.pick([]string{"I", "II", "IIb", "III"})
	case "codigo":
		return strings.ToUpper(withoutAccents(f.name))[:2] + "-" + strconv.Itoa(f.Between(101, 990))
	}
	return ""
}

func (f *titleFiller) pick(from []string) string { return filler.Pick(f.Random, from) }

// finance fills a blank with a manager, a depositary, a fund or a rating.
func (f *titleFiller) finance(name string) string {
	grades := f.market.texts.Grades
	switch name {
	case "gestora":
		return f.issuer.manager.Name
	case "otragestora":
		return f.other(func(i *issuer) bool { return strings.Contains(i.Name, "S.G.I.I.C.") && i != f.issuer.manager })
	case "banco":
		return f.issuer.bank.nameOn(disclosure.DayOf(f.Day))
	case "absorbido": // a fund of the same house that has left the directory, the same one all day
		house, _, _ := strings.Cut(f.name, " ")
		number, _ := strconv.Atoi(f.issuer.ID[1:])
		daily := filler.NewRandom(uint64(number), uint64(disclosure.DayOf(f.Day)))
		policy := strings.ToUpper(filler.Pick(daily, f.market.texts.Policies))
		return house + " " + policy + filler.Pick(daily, []string{" II", " III", " PLUS", " PREMIUM"}) + ", FI"
	case "rating":
		return f.pick(grades[3:12])
	case "perspectiva":
		return f.pick([]string{"estable", "estable", "positiva", "negativa"})
	case "sube":
		n := f.Between(2, len(grades)-1)
		return "de " + grades[n] + " a " + grades[n-f.Between(1, 2)]
	case "baja":
		n := f.Between(0, len(grades)-3)
		return "de " + grades[n] + " a " + grades[n+f.Between(1, 2)]
	}
	return ""
}

// other returns the name of another issuer that matches, or of a company outside
// the market if a match is too rare.
func (f *titleFiller) other(matches func(*issuer) bool) string {
	for range 1000 {
		if i := filler.Pick(f.Random, f.market.issuers); i != f.issuer && matches(i) {
			return i.nameOn(disclosure.DayOf(f.Day))
		}
	}
	return f.party("filial")
}

// dateRange returns two dates without repeating the month and the year that they
// share.
func dateRange(from, to time.Time) string {
	begin := strconv.Itoa(from.Day())
	if from.Month() != to.Month() {
		begin += " de " + filler.Months[from.Month()-1]
	}
	if from.Year() != to.Year() {
		begin += " de " + strconv.Itoa(from.Year())
	}
	return begin + " y el " + filler.LongDate(to)
}
