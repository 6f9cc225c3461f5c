package market

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
)

// The number of issuers of each kind.
const (
	companies       = 150
	securitisations = 120
	funds           = 180 // investment funds
	fundManagers    = 26
	equityManagers  = 6 // of private equity
	trustees        = 8 // managers of securitisation funds
)

// generator makes issuers. Names, tickers and tax numbers are used once.
type generator struct {
	filler.Random
	texts   *texts
	issuers []*issuer
	used    map[string]bool
}

// generateIssuers returns the directory of the market.
func (m *Market) generateIssuers() []*issuer {
	g := generator{Random: m.random(forIssuers, 0, 0), texts: m.texts, used: map[string]bool{}}
	for _, ticker := range m.texts.ReservedTickers {
		g.used[ticker] = true
	}
	g.companies()
	g.managers()
	g.funds()
	return g.issuers
}

func (g *generator) with(r role) []*issuer {
	return slices.DeleteFunc(slices.Clone(g.issuers), func(i *issuer) bool { return i.role&r == 0 })
}

func (g *generator) pick(from []string) string { return filler.Pick(g.Random, from) }

// claim takes a name and reports whether it was free.
func (g *generator) claim(name string) bool {
	key := withoutAccents(name)
	free := !g.used[key]
	g.used[key] = true
	return free
}

// add gives an issuer its tax number and adds it to the directory.
func (g *generator) add(i *issuer, letter byte) *issuer {
	var nif disclosure.NIF
	for nif == "" || !g.claim(string(nif)) {
		nif = disclosure.MakeNIF(letter, fmt.Sprintf("69%05d", g.IntN(100_000))) // 69 is not a province
	}
	i.ID, i.NIF = string(nif), string(nif)
	switch {
	case g.Percent(25): // the register spells the number in its own way for each issuer
		i.NIF = i.NIF[:1] + "-" + i.NIF[1:]
	case g.Percent(6):
		i.NIF = strings.ToLower(i.NIF)
	}
	if g.Percent(40) {
		i.Name = withoutAccents(i.Name)
	}
	g.issuers = append(g.issuers, i)
	return i
}

// listings are the markets on which companies are listed.
var listings = weighted[string]{
	items: []string{"SIBE", "BME Growth", "BME Scaleup", "Latibex", "Floor", ""},
	sums:  []int{78, 112, 124, 130, 135, 150},
}

// Legal forms that are listed on some markets only.
const (
	socimi  = ", SOCIMI, S.A."
	insurer = ", S.A., COMPAÑÍA DE SEGUROS Y REASEGUROS"
)

func (g *generator) companies() {
	var sectors weighted[*sector]
	for n := range g.texts.sectors {
		s := &g.texts.sectors[n]
		sectors.add(s, s.Weight)
	}
	for n := range companies {
		s, market := sectors.pick(g.Random), listings.pick(g.Random)
		switch {
		case n < 9: // every market has banks
			s, market = sectors.items[0], "SIBE"
		case market == "":
		case s.Form == socimi:
			market = g.pick([]string{"SIBE", "BME Growth", "BME Growth", "BME Scaleup"})
		case s.Form == insurer || s.Bank:
			market = "SIBE"
		}
		i := &issuer{sector: s, role: listed}
		i.Kind, i.Market = disclosure.Company, market
		i.Name, i.place = g.companyName(s, market)
		i.large = market == "SIBE" && g.Percent(60)
		i.price, i.shares = g.LogUniform(0.6, 45), int(g.LogUniform(4e6, 3e8))
		if i.large {
			i.shares *= 5
		}
		if g.Percent(12) {
			former, _ := g.companyName(s, market)
			i.FormerNames = []string{former}
			i.renamed = Epoch + disclosure.Day(g.Between(200, 2400))
		}
		debt := market == "" || i.large && g.Percent(40)
		if market == "" {
			i.role = private
		} else {
			i.Ticker = g.ticker(i.Name)
			i.ISINs = append(i.ISINs, makeISIN(shareISIN, n))
		}
		if debt {
			i.ISINs = append(i.ISINs, makeISIN(debtISIN, n))
		}
		// pages of the register do not escape it
		if name, ok := strings.CutSuffix(i.Name, ", S.A."); ok && s.Form == "" && n%50 == 23 {
			i.Name = name + " & CÍA., S.A."
		}
		g.add(i, 'A')
	}
}

func (g *generator) companyName(s *sector, market string) (name, place string) {
	form := ", S.A."
	switch {
	case s.Form != "":
		form = s.Form
	case market == "" && g.Percent(50):
		form = ", S.A.U."
	case g.Percent(4):
		form = " S.A."
	}
	for {
		place = g.pick(g.texts.Places)
		name = g.pick(s.Names) + " " + of(place)
		if len(s.Brands) > 0 && g.Percent(30) {
			name = withoutArticle(place) + " " + g.pick(s.Brands)
		}
		if name = strings.ToUpper(name); g.claim(name) {
			return name + form, place
		}
	}
}

func (g *generator) managers() {
	for n, house := range g.texts.Houses[:fundManagers+equityManagers+trustees] {
		name := house + " Gestión de Activos, S.G.I.I.C., S.A."
		switch {
		case n >= fundManagers+equityManagers:
			name = house + " de Titulización, S.G.F.T., S.A."
		case n >= fundManagers:
			name = house + " Capital Privado, S.G.E.I.C., S.A."
		case n%3 == 1:
			name = "Gestora " + house + ", S.G.I.I.C., S.A."
		}
		i := &issuer{role: manager}
		i.Kind, i.Name = disclosure.Manager, strings.ToUpper(name)
		g.add(i, 'A')
	}
}

func (g *generator) funds() {
	managers := g.with(manager)
	banks := slices.DeleteFunc(g.with(listed), func(i *issuer) bool { return !i.isBank() })
	for n := range securitisations {
		i := &issuer{role: securitisation}
		i.manager, i.bank = filler.Pick(g.Random, managers[fundManagers+equityManagers:]), filler.Pick(g.Random, banks)
		i.Kind, i.Name = disclosure.Fund, g.securitisationName(i.bank)
		for tranche := range g.Between(1, 4) {
			i.ISINs = append(i.ISINs, makeISIN(securitisationISIN, n*4+tranche))
		}
		g.add(i, 'V')
	}
	for n := range funds {
		house := n % fundManagers
		i := &issuer{role: fund, manager: managers[house], bank: filler.Pick(g.Random, banks)}
		i.Kind, i.Name = disclosure.Fund, g.fundName(g.texts.Houses[house])
		if g.Percent(8) {
			i.FormerNames = []string{g.fundName(g.texts.Houses[house])}
			i.renamed = Epoch + disclosure.Day(g.Between(200, 2400))
		}
		i.ISINs = []string{makeISIN(fundISIN, n)}
		g.add(i, 'V')
	}
}

// securitisationName returns a name made of the bank's place and the kind of loans.
func (g *generator) securitisationName(bank *issuer) string {
	s := filler.Pick(g.Random, g.texts.Securities)
	for number := 1; ; number++ {
		name := strings.ToUpper(withoutArticle(bank.place) + " " + s.Line + " " + strconv.Itoa(number))
		if g.claim(name) {
			return name + ", " + strings.ToUpper(s.Form)
		}
	}
}

func (g *generator) fundName(house string) string {
	for {
		name := strings.ToUpper(house + " " + g.pick(g.texts.Policies))
		if g.claim(name) {
			if g.Percent(6) {
				return name + ", FIL"
			}
			return name + ", FI"
		}
	}
}

// ticker returns a ticker made of the letters of a name: ALVA of ALMAZARAS DE VALDEBRISA.
func (g *generator) ticker(name string) string {
	name, _, _ = strings.Cut(strings.ReplaceAll(withoutAccents(name), "Ñ", "N"), ",")
	words := strings.Fields(strings.TrimSuffix(name, " S.A."))
	first, last := words[0], words[len(words)-1]
	for _, cut := range [][2]int{{2, 2}, {1, 2}, {1, 3}, {2, 3}, {3, 1}, {3, 2}, {2, 1}, {1, 4}} {
		if t := first[:cut[0]] + last[:cut[1]]; g.claim(t) {
			return t
		}
	}
	for {
		t := first[:1] + last[:1] + string(rune('A'+g.IntN(26))) + string(rune('A'+g.IntN(26)))
		if g.claim(t) {
			return t
		}
	}
}

// The beginnings of ISINs. Real ones do not have these letters.
const (
	shareISIN          = "ES01SIM"
	debtISIN           = "ES02SIM"
	securitisationISIN = "ES03SIM"
	fundISIN           = "ES04SIM"
)

// makeISIN returns a prefix and a number with the check digit: Luhn's, with letters
// written as the numbers from 10.
func makeISIN(prefix string, n int) string {
	isin := fmt.Sprintf("%s%04d", prefix, n)
	var digits []int
	for _, c := range isin {
		if c >= 'A' {
			digits = append(digits, int(c-'A'+10)/10, int(c-'A'+10)%10)
		} else {
			digits = append(digits, int(c-'0'))
		}
	}
	sum := 0
	for n, d := range slices.Backward(digits) {
		if (len(digits)-n)%2 == 1 {
			d *= 2
		}
		sum += d/10 + d%10
	}
	return isin + strconv.Itoa((10-sum%10)%10)
}

// of returns a place with the preposition: de Valdebrisa, del Alto Breñal.
func of(place string) string {
	if rest, ok := strings.CutPrefix(place, "el "); ok {
		return "del " + rest
	}
	return "de " + place
}

// withoutArticle returns a place without its article.
func withoutArticle(place string) string { return place[strings.Index(place, " ")+1:] }

// withoutAccents returns capitals without accents, as half of the register writes
// them. Ñ stays.
func withoutAccents(s string) string { return unaccented.Replace(s) }

var unaccented = strings.NewReplacer("Á", "A", "É", "E", "Í", "I", "Ó", "O", "Ú", "U", "Ü", "U")
