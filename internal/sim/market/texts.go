package market

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
)

// The texts of the market are kept in files, so that they can be written without
// knowing Go. Names in braces are blanks: see titleFiller.
//
// Nothing in them is real. The places are invented, so that no combination of a
// trade and a place can be the name of a company, and the second surname of every
// person is invented too.
//
//go:embed data/*.json
var dataFiles embed.FS

// texts are the texts of which the market is made.
type texts struct {
	Places     []string // name companies and say where things happen
	Houses     []string // the brands of managers and of their funds
	Securities []struct{ Line, Form string }
	Policies   []string // what investment funds invest in
	filler.People
	Posts           []struct{ Woman, Man string }
	Lists           map[string][]string // that fill a blank
	Grades          []string            // ratings, the best first
	ReservedTickers []string            `json:"reserved_tickers"` // belong to real shares, or are unsuitable words

	sectors []sector
	topics  []topic
}

// sector is a trade: the names of its companies and their news.
type sector struct {
	Label  string // in the register of the regulator
	Weight int
	Bank   bool     // its companies own the loans of the securitisation funds
	Names  []string // followed by the place: Bodegas de Valdebrisa
	Brands []string // preceded by the place: Valdebrisa Alimentación
	Form   string   // the legal form, if it is not the usual one
	News   []string // what follows "la sociedad informa sobre"
}

// topic is a kind of report, in one category of the register. The categories are
// spelt as the register spells them, with stray spaces.
type topic struct {
	Type     disclosure.Type
	Category string
	Also     string // a second category that some of its reports carry
	Filers   role
	Weight   int    // in an ordinary month, among the topics of its type
	Months   string // a digit for each month's frequency, 4 being ordinary; "" is ordinary all year
	Periodic bool   // its reports cause the rush at the end of some months
	Story    string // topics of one story may be filed in a row
	Sequence int    // so many of its first subjects may be filed in a row
	Page     bool   // the link leads to a page of the register, never to a document
	Subjects []string
}

const ordinaryMonth = 4

// weightIn returns the weight of the topic in a month, from 0 for January.
func (t *topic) weightIn(month int) int {
	if t.Months == "" {
		return t.Weight * ordinaryMonth
	}
	return t.Weight * int(t.Months[month]-'0')
}

// UnmarshalText parses a set of roles: "listed private".
func (r *role) UnmarshalText(text []byte) error {
	for name := range strings.FieldsSeq(string(text)) {
		one, ok := roles[name]
		if !ok {
			return fmt.Errorf("unknown role %q", name)
		}
		*r |= one
	}
	return nil
}

var roles = map[string]role{
	"listed": listed, "private": private, "securitisation": securitisation, "fund": fund, "manager": manager,
}

// readTexts parses the files once. They are part of the program, so that an
// error in them is a bug.
var readTexts = sync.OnceValue(func() *texts {
	t := &texts{}
	for name, into := range map[string]any{"names": t, "sectors": &t.sectors, "topics": &t.topics} {
		raw, err := dataFiles.ReadFile("data/" + name + ".json")
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			panic(fmt.Sprintf("market: reading %s: %v", name, err))
		}
	}
	return t
})

// unspecific are topics for issuers of any role, in the order of
// disclosure.Types.
var unspecific = [3]topic{
	{Category: "Sobre negocio y situación financiera", Subjects: []string{"Comunicación de {nombre}"}},
	{Category: "Otros hechos relevantes", Subjects: []string{"Comunicación de {nombre}"}},
	{Category: "Otra información relevante", Subjects: []string{"Comunicación de {nombre}"}},
}
