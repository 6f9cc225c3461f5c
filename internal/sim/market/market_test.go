package market_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
)

func TestDirectory(t *testing.T) {
	kinds := map[disclosure.Kind]int{}
	markets := map[string]int{}
	seen := map[string]string{}
	once := func(what, value, name string) {
		t.Helper()
		if other, ok := seen[what+value]; ok {
			t.Errorf("%s %s belongs to %s and to %s", what, value, other, name)
		}
		seen[what+value] = name
	}
	for _, i := range market.New(1).Issuers() {
		kinds[i.Kind]++
		markets[i.Market]++
		if err := i.Validate(); err != nil {
			t.Errorf("%s: %v", i.Name, err)
		}
		nif, ok := disclosure.ParseNIF(i.NIF)
		if !ok || !nif.Checks() || string(nif) != i.ID {
			t.Errorf("%s: NIF %q, id %q", i.Name, i.NIF, i.ID)
		}
		if letter := map[disclosure.Kind]string{disclosure.Company: "A", disclosure.Fund: "V", disclosure.Manager: "A"}[i.Kind]; i.ID[:1] != letter {
			t.Errorf("%s: %s is not the NIF of a %s", i.Name, i.ID, i.Kind)
		}
		once("NIF", i.ID, i.Name)
		for _, name := range append([]string{i.Name}, i.FormerNames...) {
			once("name", fold(name), i.Name)
		}
		for _, isin := range i.ISINs {
			once("ISIN", isin, i.Name)
			if !disclosure.IsISIN(isin) || !luhn(isin) || !strings.HasPrefix(isin, "ES") {
				t.Errorf("%s: ISIN %s does not check", i.Name, isin)
			}
		}
		if (i.Ticker != "") != (i.Market != "") || i.Ticker != "" && i.Kind != disclosure.Company {
			t.Errorf("%s: a %s on %q has the ticker %q", i.Name, i.Kind, i.Market, i.Ticker)
		}
		if i.Ticker != "" {
			once("ticker", i.Ticker, i.Name)
			if len(i.Ticker) < 2 || len(i.Ticker) > 5 || strings.Trim(i.Ticker, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
				t.Errorf("%s: ticker %q", i.Name, i.Ticker)
			}
		}
	}
	want := map[disclosure.Kind]int{disclosure.Company: 150, disclosure.Fund: 300, disclosure.Manager: 40}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	for _, market := range []string{"SIBE", "BME Growth", "BME Scaleup", "Latibex", "Floor", ""} {
		if markets[market] == 0 {
			t.Errorf("no issuer is on the market %q", market)
		}
	}
}

// Words in the names of real issuers. No fictional name may have one.
var realWords = strings.Fields(`
	SANTANDER BBVA BILBAO VIZCAYA SABADELL BANKINTER CAIXA UNICAJA IBERCAJA KUTXA ABANCA IBERDROLA ENDESA NATURGY ENAGAS REDEIA
	REPSOL MOEVE CEPSA TELEFONICA CELLNEX INDITEX AMADEUS AENA FERROVIAL ACCIONA ACS SACYR OHL FCC MAPFRE CATALANA GRIFOLS ALMIRALL
	ROVI FAES MERLIN COLONIAL NEINOR MELIA EBRO DEOLEO VISCOFAN VIDRALA ACERINOX TUBACEX TALGO CAF INDRA PROSEGUR ATRESMEDIA
	PRISA FLUIDRA GESTAMP ELECNOR ERCROS ENCE IBERPAPEL SOLARIA AZKOYEN LOGISTA PUIG BESTINVER COBAS MAGALLANES AZVALOR AMUNDI KUTXABANK
	RENTA4 MUTUACTIVOS TDA EUROPEA HAYA TITULIZADORA SANTALUCIA JILOCA DUERO RIOJA MADRID BARCELONA VALENCIA SEVILLA ZARAGOZA
`)

func TestNamesAreFictional(t *testing.T) {
	for seed := range uint64(20) {
		for _, i := range market.New(seed).Issuers() {
			for _, name := range append([]string{i.Name}, i.FormerNames...) {
				for _, word := range strings.FieldsFunc(fold(name), func(c rune) bool { return strings.ContainsRune(" ,.", c) }) {
					if slices.Contains(realWords, word) {
						t.Errorf("seed %d: %s has %s in it", seed, name, word)
					}
				}
			}
		}
	}
}

func TestSameSeedSameDirectory(t *testing.T) {
	if diff := cmp.Diff(market.New(3).Issuers(), market.New(3).Issuers()); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(market.New(3).Issuers(), market.New(4).Issuers()) {
		t.Error("two seeds give the same directory")
	}
}

func TestDirectoryIsACopy(t *testing.T) {
	m := market.New(1)
	mine := m.Issuers()
	mine[0].Name, mine[0].ISINs[0] = "X", "X"
	if i := m.Issuers()[0]; i.Name == "X" || i.ISINs[0] == "X" {
		t.Error("changing the copy changed the market")
	}
}

// fold normalizes a name as the service does.
func fold(name string) string { return folding.Replace(strings.ToUpper(name)) }

var folding = strings.NewReplacer("Á", "A", "É", "E", "Í", "I", "Ó", "O", "Ú", "U", "Ü", "U", "Ñ", "N")

// luhn checks an ISIN from the left: the digits of letters count as two.
func luhn(isin string) bool {
	var digits string
	for _, c := range isin {
		if c >= 'A' {
			digits += string('0'+(c-'A'+10)/10) + string('0'+(c-'A'+10)%10)
		} else {
			digits += string(c)
		}
	}
	sum := 0
	for n, c := range digits {
		d := int(c - '0')
		if (len(digits)-n)%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

func TestSector(t *testing.T) {
	m := market.New(1)
	seen := map[string]bool{}
	for _, i := range m.Issuers() {
		label := m.Sector(i.ID)
		if (label != "") != (i.Kind == disclosure.Company) {
			t.Errorf("%s is a %s in the sector %q", i.Name, i.Kind, label)
		}
		seen[label] = true
	}
	if len(seen) < 10 {
		t.Errorf("the market has %d sectors, want most of fourteen", len(seen))
	}
	if m.Sector("A00000000") != "" {
		t.Error("an unknown issuer has a sector")
	}
}
