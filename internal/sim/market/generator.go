package market

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/disclosure"
)

// How many of each the market has.
const (
	companies      = 150
	trusts         = 120 // securitisation funds
	pools          = 180 // investment funds
	poolManagers   = 26
	equityManagers = 6 // of private equity
	trustManagers  = 8
)

// foundry makes issuers. Names, tickers and numbers are used once.
type foundry struct {
	dice
	made []*issuer
	used map[string]bool
}

func (f *foundry) with(r role) []*issuer {
	return slices.DeleteFunc(slices.Clone(f.made), func(i *issuer) bool { return i.role&r == 0 })
}

// claim reports whether a name was free, and takes it.
func (f *foundry) claim(name string) bool {
	key := plain(name)
	if f.used[key] {
		return false
	}
	f.used[key] = true
	return true
}

// add gives an issuer its tax number and puts it in the directory.
func (f *foundry) add(i *issuer, letter byte) *issuer {
	var nif disclosure.NIF
	for nif == "" || !f.claim(string(nif)) {
		nif = disclosure.MakeNIF(letter, fmt.Sprintf("69%05d", f.IntN(100_000))) // 69 is no province's
	}
	i.ID, i.NIF = string(nif), string(nif)
	switch {
	case f.percent(25): // the register spells the number in its own way for each entity
		i.NIF = i.NIF[:1] + "-" + i.NIF[1:]
	case f.percent(6):
		i.NIF = strings.ToLower(i.NIF)
	}
	if f.percent(40) {
		i.Name = plain(i.Name)
	}
	f.made = append(f.made, i)
	return i
}

// listings are the markets on which companies are listed.
var listings = func() (u urn[string]) {
	u.put("SIBE", 78)
	u.put("BME Growth", 34)
	u.put("BME Scaleup", 12)
	u.put("Latibex", 6)
	u.put("Floor", 5)
	u.put("", 15)
	return u
}()

func (f *foundry) companies() {
	var trades urn[*sector]
	for n := range sectors {
		trades.put(&sectors[n], sectors[n].weight)
	}
	for n := range companies {
		s, market := trades.draw(f.dice), listings.draw(f.dice)
		switch {
		case n < 9: // every market has banks
			s, market = &sectors[0], "SIBE"
		case market == "":
		case s.form == socimi:
			market = pick(f.dice, []string{"SIBE", "BME Growth", "BME Growth", "BME Scaleup"})
		case s.form == insurer || s == &sectors[0]:
			market = "SIBE"
		}
		i := &issuer{sector: s, role: listed}
		i.Kind, i.Market = disclosure.Company, market
		i.Name, i.place = f.companyName(s, market)
		i.large = market == "SIBE" && f.percent(60)
		i.price, i.shares = f.spread(0.6, 45), int(f.spread(4e6, 3e8))
		if i.large {
			i.shares *= 5
		}
		if f.percent(12) {
			former, _ := f.companyName(s, market)
			i.FormerNames = []string{former}
			i.renamed = epoch + disclosure.Day(f.between(200, 2400))
		}
		debt := market == "" || i.large && f.percent(40)
		if market == "" {
			i.role = private
		} else {
			i.Ticker = f.ticker(i.Name)
			i.ISINs = append(i.ISINs, makeISIN(shareISIN, n))
		}
		if debt {
			i.ISINs = append(i.ISINs, makeISIN(debtISIN, n))
		}
		if name, ok := strings.CutSuffix(i.Name, ", S.A."); ok && s.form == "" && n%50 == 23 { // a sign that pages forget to escape
			i.Name = name + " & CÍA., S.A."
		}
		f.add(i, 'A')
	}
}

func (f *foundry) companyName(s *sector, market string) (name, place string) {
	form := ", S.A."
	switch {
	case s.form != "":
		form = s.form
	case market == "" && f.percent(50):
		form = ", S.A.U."
	case f.percent(4):
		form = " S.A."
	}
	for {
		place = pick(f.dice, places)
		name = pick(f.dice, s.names) + " " + of(place)
		if len(s.brands) > 0 && f.percent(30) {
			name = bare(place) + " " + pick(f.dice, s.brands)
		}
		if name = strings.ToUpper(name); f.claim(name) {
			return name + form, place
		}
	}
}

func (f *foundry) managers() {
	for n, house := range houses[:poolManagers+equityManagers+trustManagers] {
		name := house + " Gestión de Activos, S.G.I.I.C., S.A."
		switch {
		case n >= poolManagers+equityManagers:
			name = house + " de Titulización, S.G.F.T., S.A."
		case n >= poolManagers:
			name = house + " Capital Privado, S.G.E.I.C., S.A."
		case n%3 == 1:
			name = "Gestora " + house + ", S.G.I.I.C., S.A."
		}
		i := &issuer{role: manager}
		i.Kind, i.Name = disclosure.Manager, strings.ToUpper(name)
		f.add(i, 'A')
	}
}

func (f *foundry) funds() {
	managers := f.with(manager)
	lenders := slices.DeleteFunc(f.with(listed), func(i *issuer) bool { return !i.lends() })
	for n := range trusts {
		i := &issuer{role: trust, manager: pick(f.dice, managers[poolManagers+equityManagers:]), banker: pick(f.dice, lenders)}
		i.Kind, i.Name = disclosure.Fund, f.trustName(i.banker)
		for tranche := range f.between(1, 4) {
			i.ISINs = append(i.ISINs, makeISIN(trustISIN, n*4+tranche))
		}
		f.add(i, 'V')
	}
	for n := range pools {
		house := n % poolManagers
		i := &issuer{role: pool, manager: managers[house], banker: pick(f.dice, lenders)}
		i.Kind, i.Name = disclosure.Fund, f.poolName(houses[house])
		if f.percent(8) {
			i.FormerNames = []string{f.poolName(houses[house])}
			i.renamed = epoch + disclosure.Day(f.between(200, 2400))
		}
		i.ISINs = []string{makeISIN(poolISIN, n)}
		f.add(i, 'V')
	}
}

// trustName names a securitisation fund after the bank's place and the loans.
func (f *foundry) trustName(bank *issuer) string {
	s := pick(f.dice, securities)
	for number := 1; ; number++ {
		name := strings.ToUpper(bare(bank.place) + " " + s.line + " " + strconv.Itoa(number))
		if f.claim(name) {
			return name + ", " + strings.ToUpper(s.form)
		}
	}
}

func (f *foundry) poolName(house string) string {
	for {
		name := strings.ToUpper(house + " " + pick(f.dice, policies))
		if f.claim(name) {
			if f.percent(6) {
				return name + ", FIL"
			}
			return name + ", FI"
		}
	}
}

// ticker makes a ticker of the letters of a name: ALVA of ALMAZARAS DE VALDEBRISA.
func (f *foundry) ticker(name string) string {
	name, _, _ = strings.Cut(strings.ReplaceAll(plain(name), "Ñ", "N"), ",")
	words := strings.Fields(strings.TrimSuffix(name, " S.A."))
	first, last := words[0], words[len(words)-1]
	for _, cut := range [][2]int{{2, 2}, {1, 2}, {1, 3}, {2, 3}, {3, 1}, {3, 2}, {2, 1}, {1, 4}} {
		if t := first[:cut[0]] + last[:cut[1]]; f.claim(t) {
			return t
		}
	}
	for {
		t := first[:1] + last[:1] + string(rune('A'+f.IntN(26))) + string(rune('A'+f.IntN(26)))
		if f.claim(t) {
			return t
		}
	}
}

// What an ISIN begins with; no real one has these letters there.
const (
	shareISIN = "ES01SIM"
	debtISIN  = "ES02SIM"
	trustISIN = "ES03SIM"
	poolISIN  = "ES04SIM"
)

// makeISIN completes a stem and a number with the check digit: Luhn's, with
// letters written as the numbers from 10 on.
func makeISIN(stem string, n int) string {
	isin := fmt.Sprintf("%s%04d", stem, n)
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

// of puts the preposition before a place: de Valdebrisa, del Alto Breñal.
func of(place string) string {
	if rest, ok := strings.CutPrefix(place, "el "); ok {
		return "del " + rest
	}
	return "de " + place
}

// bare takes the article off a place.
func bare(place string) string { return place[strings.Index(place, " ")+1:] }

// plain takes the accents off, as half of the register does; Ñ stays.
func plain(s string) string { return unaccented.Replace(s) }

var unaccented = strings.NewReplacer("Á", "A", "É", "E", "Í", "I", "Ó", "O", "Ú", "U", "Ü", "U")
