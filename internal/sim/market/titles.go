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
	f.Filler = filler.Filler{
		Random:  rng,
		Day:     day.Start(),
		Value:   f.value,
		Decimal: filler.ShortDecimal,
	}
	return f
}

func (f *titleFiller) value(name string) string {
	if list := f.market.texts.Lists[name]; list != nil {
		return f.pick(list)
	}
	if value := blanks[name]; value != nil {
		return value(f)
	}
	if s := f.Common(name); s != "" {
		return s
	}
	panic("market: unknown blank " + name) // a bug in data/*.json
}

// blanks fill the blanks that titles have besides those of filler.Filler and of the
// lists in names.json.
var blanks = map[string]func(*titleFiller) string{
	// Amounts.
	"importe": (*titleFiller).millions,
	"acciones": func(f *titleFiller) string { // bought back in a week
		return filler.Grouped(int64(float64(f.issuer.shares) * f.LogUniform(0.0001, 0.002)))
	},
	"bloque": func(f *titleFiller) string { // issued or placed at once
		return filler.Grouped(int64(float64(f.issuer.shares)*f.LogUniform(0.03, 0.15)) / 1000 * 1000)
	},
	"capital":   func(f *titleFiller) string { return filler.Grouped(int64(f.issuer.shares)) },
	"precio":    func(f *titleFiller) string { return f.Decimal(f.issuer.price*(0.85+0.3*f.Float64()), 3) },
	"dividendo": func(f *titleFiller) string { return f.Decimal(max(0.01, f.issuer.price*(0.01+0.04*f.Float64())), 3) },
	"mayoria":   func(f *titleFiller) string { return f.Decimal(50.5+f.Float64()*48, 1) },
	"minoria":   func(f *titleFiller) string { return f.Decimal(3+f.Float64()*26, 1) },
	"canje":     func(f *titleFiller) string { return f.Decimal(0.3+f.Float64()*1.4, 6) },

	// Days.
	"reciente":  func(f *titleFiller) string { return filler.LongDate(f.workday(-f.Between(1, 9))) },
	"reciente/": func(f *titleFiller) string { return f.workday(-f.Between(1, 9)).Format("02/01/2006") },
	"pago":      func(f *titleFiller) string { return filler.LongDate(f.workday(f.Between(6, 25))) },
	"pago/":     func(f *titleFiller) string { return f.workday(f.Between(2, 9)).Format("02/01/2006") },
	"junta": func(f *titleFiller) string {
		return filler.LongDate(f.workday(f.Between(31, 45))) +
			" en primera convocatoria y, en su caso, al día siguiente en segunda"
	},
	"semana": (*titleFiller).week,

	// Periods and meetings.
	"plan": func(f *titleFiller) string {
		return fmt.Sprintf("%d-%d", f.Day.Year()+1,
			f.Day.Year()+f.Between(3, 5))
	},
	"campana": func(f *titleFiller) string { return fmt.Sprintf("%d/%d", f.Day.Year()-1, f.Day.Year()) },
	"mes": func(f *titleFiller) string {
		last := f.Day.AddDate(0, 0, -f.Day.Day())
		return filler.MonthOfYear(last.Month(), last.Year())
	},
	"trimestre":   (*titleFiller).quarter,
	"delsemestre": (*titleFiller).halfYear,
	"alperiodo":   func(f *titleFiller) string { return "a" + f.period() },
	"delperiodo":  func(f *titleFiller) string { return "de" + f.period() },
	"Junta":       (*titleFiller).meeting,

	// Persons, companies, places and things.
	"nombre":  func(f *titleFiller) string { return f.name },
	"persona": (*titleFiller).person,
	"empresa": func(f *titleFiller) string { return f.other(func(i *issuer) bool { return i.role == listed }) },
	"colega": func(f *titleFiller) string {
		return f.other(func(i *issuer) bool { return i.role == listed && i.sector == f.issuer.sector })
	},
	"unbanco": func(f *titleFiller) string { return f.other((*issuer).isBank) },
	"filial":  (*titleFiller).subsidiary,
	"lugar":   func(f *titleFiller) string { return f.pick(f.market.texts.Places) },
	"delugar": func(f *titleFiller) string { return of(f.pick(f.market.texts.Places)) },
	"negocio": func(f *titleFiller) string { return f.Fill(f.pick(f.issuer.sector.News)) },
	// one for each ISIN
	"serie": func(f *titleFiller) string { return string(rune('A' + f.IntN(len(f.issuer.ISINs)))) },
	"codigo": func(f *titleFiller) string {
		return strings.ToUpper(withoutAccents(f.name))[:2] + "-" + strconv.Itoa(f.Between(101, 990))
	},

	// Managers, depositaries, funds and ratings.
	"gestora": func(f *titleFiller) string { return f.issuer.manager.Name },
	"otragestora": func(f *titleFiller) string {
		return f.other(func(i *issuer) bool { return strings.Contains(i.Name, "S.G.I.I.C.") && i != f.issuer.manager })
	},
	"banco":     func(f *titleFiller) string { return f.issuer.bank.nameOn(disclosure.DayOf(f.Day)) },
	"absorbido": (*titleFiller).absorbed,
	"rating":    func(f *titleFiller) string { return f.pick(f.market.texts.Grades[3:12]) },
	"sube": func(f *titleFiller) string {
		grades := f.market.texts.Grades
		n := f.Between(2, len(grades)-1)
		return "de " + grades[n] + " a " + grades[n-f.Between(1, 2)]
	},
	"baja": func(f *titleFiller) string {
		grades := f.market.texts.Grades
		n := f.Between(0, len(grades)-3)
		return "de " + grades[n] + " a " + grades[n+f.Between(1, 2)]
	},
}

// millions returns an amount in millions of euros.
func (f *titleFiller) millions() string {
	if f.issuer.large {
		return filler.Grouped(int64(f.LogUniform(40, 1800)/5) * 5)
	}
	return f.Decimal(f.LogUniform(1.5, 90), 1)
}

// week returns the last week that has ended.
func (f *titleFiller) week() string {
	weekday := (int(f.Day.Weekday()) + 6) % 7 // from 0 for Monday
	monday := f.Day.AddDate(0, 0, -weekday)
	if weekday < 5 {
		monday = monday.AddDate(0, 0, -7)
	}
	return "entre el " + dateRange(monday, monday.AddDate(0, 0, 4))
}

// workday returns the day so many days away, or the next working day after it in
// the same direction.
func (f *titleFiller) workday(days int) time.Time {
	step := 1
	if days < 0 {
		step = -1
	}
	t := f.Day.AddDate(0, 0, days)
	for IsClosed(disclosure.DayOf(t)) {
		t = t.AddDate(0, 0, step)
	}
	return t
}

// quarter returns the last quarter that has ended.
func (f *titleFiller) quarter() string {
	end := f.Day.AddDate(0, -(int(f.Day.Month())-1)%3, -f.Day.Day())
	return [...]string{"primer", "segundo", "tercer", "cuarto"}[(end.Month()-1)/3] + " trimestre de " +
		strconv.Itoa(end.Year())
}

func (f *titleFiller) halfYear() string {
	if f.Day.Month() <= time.June {
		return "del segundo semestre de " + strconv.Itoa(f.Day.Year()-1)
	}
	return "del primer semestre de " + strconv.Itoa(f.Day.Year())
}

// period returns what is reported in a quarter, after "a" or "de".
func (f *titleFiller) period() string {
	if f.Day.Month() <= time.March {
		return "l ejercicio " + strconv.Itoa(f.Day.Year()-1)
	}
	names := [...]string{"l primer trimestre de ", "l primer semestre de ", " los nueve primeros meses de "}
	return names[(f.Day.Month()-4)/3] + strconv.Itoa(f.Day.Year())
}

func (f *titleFiller) meeting() string {
	if month := f.Day.Month(); month >= time.March && month <= time.July {
		return "Junta General Ordinaria de Accionistas"
	}
	return "Junta General Extraordinaria de Accionistas"
}

// person returns a person and a post.
func (f *titleFiller) person() string {
	post := filler.Pick(f.Random, f.market.texts.Posts)
	person, woman := f.Person(&f.market.texts.People)
	if woman {
		return person + " como " + post.Woman
	}
	return person + " como " + post.Man
}

func (f *titleFiller) subsidiary() string {
	kinds := []string{"Servicios", "Industrial", "Desarrollos", "Internacional"}
	return withoutArticle(f.pick(f.market.texts.Places)) + " " + f.pick(kinds) + ", S.L."
}

// absorbed returns a fund of the same house that has left the directory, the same
// one all day.
func (f *titleFiller) absorbed() string {
	house, _, _ := strings.Cut(f.name, " ")
	number, _ := strconv.Atoi(f.issuer.ID[1:])
	daily := filler.NewRandom(uint64(number), uint64(disclosure.DayOf(f.Day)))
	policy := strings.ToUpper(filler.Pick(daily, f.market.texts.Policies))
	return house + " " + policy + filler.Pick(daily, []string{" II", " III", " PLUS", " PREMIUM"}) + ", FI"
}

func (f *titleFiller) pick(from []string) string { return filler.Pick(f.Random, from) }

// other returns the name of another issuer that matches, or of a company outside
// the market if a match is too rare.
func (f *titleFiller) other(matches func(*issuer) bool) string {
	for range 1000 {
		if i := filler.Pick(f.Random, f.market.issuers); i != f.issuer && matches(i) {
			return i.nameOn(disclosure.DayOf(f.Day))
		}
	}
	return f.subsidiary()
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
