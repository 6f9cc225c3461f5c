package search_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/text"
)

func directory(issuers ...disclosure.Issuer) *search.Directory {
	entities := make([]*search.Issuer, len(issuers))
	for i := range issuers {
		entities[i] = search.NewIssuer(&issuers[i])
	}
	return search.NewDirectory(entities)
}

func idsOf(entities []*search.Issuer) string {
	ids := make([]string, len(entities))
	for i, e := range entities {
		ids[i] = e.Issuer.ID
	}
	return strings.Join(ids, " ")
}

// finds checks the results of queries and their order.
func finds(t *testing.T, d *search.Directory, kind disclosure.Kind, limit int, want map[string]string) {
	t.Helper()
	for query, ids := range want {
		if got := idsOf(findIssuers(d, query, kind, limit)); got != ids {
			t.Errorf("%q (%s, %d) finds %q, want %q", query, kind, limit, got, ids)
		}
	}
}

// Matches of a whole identifier come first, then names that begin with the query,
// then names that have the words. Equal matches are ordered by name, then by id.
func TestIssuerRanking(t *testing.T) {
	d := directory(
		disclosure.Issuer{ID: "fi-1", Name: "ZARZA SOL, S.A.", Kind: disclosure.Company},
		disclosure.Issuer{ID: "fi-2", Name: "SOLAR DE URDANABE, S.A.", Kind: disclosure.Company},
		disclosure.Issuer{ID: "fi-3", Name: "VIENTOS, S.A.", Ticker: "SOL", Kind: disclosure.Company},
		disclosure.Issuer{ID: "fi-4", Name: "Sól de Benicarza", Kind: disclosure.Fund},
		disclosure.Issuer{ID: "fi-6", Name: "SOL DE BENICARZA", Kind: disclosure.Company},
		disclosure.Issuer{ID: "A69000016", NIF: "A-69000016", Name: "MINAS DE AZAFRÁN, S.A.", FormerNames: []string{"SOL Y SAL, S.A.", "CARBONES"}, ISINs: []string{"ES01SIM00018"}},
		disclosure.Issuer{ID: "sgiic-194", NIF: "0194", Name: "GESTORA", Aliases: []string{"V69000107"}, Ticker: "BO SI"},
	)
	finds(t, d, "", 50, map[string]string{
		"sol":              "fi-3 fi-4 fi-6 fi-2 A69000016 fi-1",
		"SOL,":             "fi-3 fi-4 fi-6 fi-2 A69000016 fi-1",
		`"sol"`:            "fi-3 fi-4 fi-6 A69000016 fi-1", // exact, so no prefix of another word
		"sol -zarza":       "fi-4 fi-6 fi-2 A69000016 fi-3", // with an exclusion it is more than a ticker
		"sol de":           "fi-4 fi-6 A69000016",
		"sol de benicarza": "fi-4 fi-6",
		"benicarza sol":    "fi-4 fi-6",
		"sol sa":           "fi-3 fi-4 fi-6 fi-2 A69000016 fi-1", // legal forms are ignored
		"solares":          "fi-2",
		"a69000016":        "A69000016",
		"A-69000016":       "A69000016",
		"es01sim00018":     "A69000016",
		"v-69000107":       "sgiic-194",
		"0194":             "sgiic-194",
		"SGIIC-194":        "sgiic-194",
		`"bo si"`:          "sgiic-194",
		"carbon":           "A69000016",
		"carbones minas":   "A69000016",
		`"carbones minas"`: "", // no phrase across names
		"-sol -de":         "sgiic-194",
		"":                 "sgiic-194 A69000016 fi-4 fi-6 fi-2 fi-3 fi-1",
		"***":              "",
		"A69000017":        "",
	})
	finds(t, d, "", 2, map[string]string{"sol": "fi-3 fi-4", "": "sgiic-194 A69000016", "minas": "A69000016"})
	finds(t, d, "", 0, map[string]string{"sol": ""})
	finds(t, d, disclosure.Fund, 50, map[string]string{"sol": "fi-4", "": "fi-4", "minas": ""})
	finds(t, d, disclosure.Company, 3, map[string]string{"sol": "fi-3 fi-6 fi-2"})
	finds(t, search.NewDirectory(nil), "", 50, map[string]string{"": "", "sol": "", "telefrica": "", "-sol": ""})
}

// An issuer whose name is all punctuation is found by its other fields, which do
// not rank as its name.
func TestIssuersWithoutWordsInTheirName(t *testing.T) {
	d := directory(
		disclosure.Issuer{ID: "fi-1", Name: "***", FormerNames: []string{"SALINAS DEL SUR"}},
		disclosure.Issuer{ID: "fi-2", Name: "SALINAS", Ticker: "SAL"},
		disclosure.Issuer{ID: "fi-3", Name: "..."},
	)
	finds(t, d, "", 50, map[string]string{"salinas": "fi-2 fi-1", "sal": "fi-2 fi-1", "": "fi-1 fi-3 fi-2", "fi-3": "fi-3", "-salinas": "fi-3"})
	nameless := disclosure.Report{ID: "ip-1", Type: disclosure.IP, Number: 1, CompanyName: "***", Title: "x"}
	one := directory(disclosure.Issuer{ID: "fi-1", Name: "---"})
	for _, d := range []*search.Directory{d, one} {
		if f := d.Analyze(&nameless); f.Issuer != nil {
			t.Errorf("a report whose company name has no words belongs to %s, want no issuer", f.Issuer.ID)
		}
	}
}

// One typing error in a word of five letters or more is tolerated if the query as
// typed finds nothing.
func TestIssuerTypingErrors(t *testing.T) {
	d := directory(
		disclosure.Issuer{ID: "fi-1", Name: "TELEFÉRICA DEL ÑANDÚ, S.A.", Kind: disclosure.Company},
		disclosure.Issuer{ID: "fi-2", Name: "CARTONAJES DE URDANABE", FormerNames: []string{"PAPELERA DEL TAJO"}},
		disclosure.Issuer{ID: "fi-3", Name: "BANCO ROJO", Kind: disclosure.Company},
		disclosure.Issuer{ID: "fi-4", Name: "BARCO AZUL", Kind: disclosure.Fund},
		disclosure.Issuer{ID: "fi-5", Name: "日本 SOL", Ticker: "TAJOS"},
	)
	finds(t, d, "", 50, map[string]string{
		"telefrica":   "fi-1", // a letter too few
		"teleferrica": "fi-1", // too many
		"telefarica":  "fi-1", // another
		"teleferiac":  "fi-1", // two exchanged
		"releferica":  "fi-1", // at its beginning
		"etleferica":  "fi-1",
		"eleferica":   "fi-1",
		"teleferic4":  "fi-1", // at its end
		"telefericas": "fi-1", // no error at all: a plural
		"telfrica":    "",     // two errors
		"telefreiac":  "",
		"nandy":       "fi-1", // five letters are enough

		// Only the last word may be a prefix.
		"cartpn":              "fi-2",
		"cratonaj":            "fi-2",
		"caertonaj":           "fi-2",
		"cartpn urdanabe":     "",
		"cartpnajes urdanabe": "fi-2",
		"urdanave cartonages": "fi-2", // one in each word
		"urdanave cartoxxges": "",
		"papelara tajo":       "fi-2",
		"papelara tejo":       "",     // four letters are not
		"papelara tajos":      "fi-2", // and a plural is no error
		"rijo":                "",
		"sool":                "",

		"banco": "fi-3", // found as typed: BARCO is not meant
		"barco": "fi-4",
		"baxco": "fi-3 fi-4",

		"baxco -azul":           "fi-3",
		"baxco -rojos -azul":    "",
		"baxco -fi-3":           "fi-4",
		`-"barco azul" baxco`:   "fi-3",
		`"baxco"`:               "", // exactly
		`"del tajo" papelara`:   "fi-2",
		`papelara "del tajo"`:   "fi-2",
		`papelara "del sol"`:    "",
		"fi-4 baxco":            "fi-4",
		"papelera -papelera":    "", // an excluded word is not tolerated as a typing error
		"日木":                    "", // two letters, however many bytes
		"baxco rojo telefarica": "",
	})
	finds(t, d, disclosure.Fund, 50, map[string]string{"baxco": "fi-4", "telefrica": ""})
	finds(t, d, "", 1, map[string]string{"baxco": "fi-3"})
}

// One random typing error in any word is always tolerated; two of them far apart
// never are.
func TestIssuerTypingErrorsAnywhere(t *testing.T) {
	const name = "fotovoltaica"
	d := directory(disclosure.Issuer{ID: "fi-1", Name: "LA " + name + " DEL SUR"}, disclosure.Issuer{ID: "fi-2", Name: "OTRA COSA"})
	mistype := func(i, kind int) string {
		switch kind {
		case 0:
			return name[:i] + name[i+1:]
		case 1:
			return name[:i] + "q" + name[i:]
		case 2:
			return name[:i] + "q" + name[i+1:]
		default:
			if i+1 == len(name) {
				return name
			}
			return name[:i] + name[i+1:i+2] + name[i:i+1] + name[i+2:]
		}
	}
	for i := range len(name) {
		for kind := range 4 {
			typed := mistype(i, kind)
			finds(t, d, "", 9, map[string]string{typed: "fi-1", typed + " sur": "fi-1", "la " + typed: "fi-1"})
			if i < 4 && typed != name {
				far := strings.Replace(typed, "ic", "xy", 1)
				finds(t, d, "", 9, map[string]string{far: "", far + " sur": ""})
			}
		}
	}
}

// An alias that is the id of another issuer is ignored in the directory, in
// searches and for reports.
func TestAliasThatIsAnothersID(t *testing.T) {
	issuers := []disclosure.Issuer{
		{ID: "fi-4720", Name: "ARDAZUL RENTA FIJA, FI", Aliases: []string{"V69000107", "sicav-9"}, Ticker: "ARD"},
		{ID: "V69000107", NIF: "V-69000107", Name: "ZUMELARRE RENTA FIJA, FI", Ticker: "ZUM"},
		{ID: "fi-2", Name: "MIXTA, FI", Aliases: []string{"sicav-9"}}, // an alias of two is of the first by name
	}
	for range 2 {
		d := directory(issuers...)
		for key, want := range map[string]string{
			"V69000107": "V69000107", "v-69000107": "V69000107", "fi-4720": "fi-4720", "FI-4720 ": "fi-4720", "sicav-9": "fi-4720", "fi-2": "fi-2",
		} {
			if e, ok := d.Find(key); !ok || e.Issuer.ID != want {
				t.Errorf("%q is %v, want %s", key, e, want)
			}
		}
		for _, key := range []string{"", " ", "ARD", "sicav-10", "\x00ardazul renta fija fi"} {
			if e, ok := d.Find(key); ok {
				t.Errorf("%q is %s", key, e.Issuer.ID)
			}
		}
		finds(t, d, "", 9, map[string]string{"V69000107": "V69000107", "sicav-9": "fi-4720 fi-2", "renta -zum": "fi-4720"})
		report := disclosure.Report{ID: "ip-1", Type: disclosure.IP, Number: 1, NIF: "V69000107", CompanyName: "X", Title: "y"}
		if f := d.Analyze(&report); f.Issuer == nil || f.Issuer.ID != "V69000107" || f.Ticker != "ZUM" {
			t.Errorf("its report is of %v", f.Issuer)
		}
		slices.Reverse(issuers) // the order of the issuers does not matter
	}
}

// A fund is found by its manager and its depositary too, behind those whose own
// name has the words.
func TestManagerAndDepositary(t *testing.T) {
	d := directory(
		disclosure.Issuer{ID: "fi-1", Name: "ALBA RENTA, FI", Manager: "GESTORA SOLANA, SGIIC, S.A.", Depositary: "BANCO SOLANA, S.A."},
		disclosure.Issuer{ID: "A69000016", Name: "BANCO SOLANA, S.A."},
		disclosure.Issuer{ID: "A69000024", Name: "GESTORA SOLANA, SGIIC, S.A."},
		disclosure.Issuer{ID: "fi-2", Name: "ZAHORA SOLANA, FI", Manager: "GESTORA OTRA, SGIIC, S.A."},
	)
	finds(t, d, "", 9, map[string]string{
		"gestora solana": "A69000024 fi-1 fi-2", "solana": "A69000016 A69000024 fi-2 fi-1", "alba": "fi-1", "gestora otra": "fi-2", "zahora otra": "fi-2",
	})
	if e, ok := d.Named("GESTORA OTRA, SGIIC, S.A."); ok {
		t.Errorf("the fund %s has the name of its manager", e.Issuer.ID)
	}
}

// A name that two issuers share does not identify the issuer of a report; searches
// find both.
func TestTwoIssuersOfOneName(t *testing.T) {
	d := directory(
		disclosure.Issuer{ID: "fi-2", Name: "SOL DE BENICARZA, S.A.", Ticker: "SDB"},
		disclosure.Issuer{ID: "fi-1", Name: "Sol de Benicarza S. A."},
		disclosure.Issuer{ID: "fi-3", Name: "SOL DE BENICARZA"},
	)
	finds(t, d, "", 9, map[string]string{"sol de benicarza": "fi-3 fi-1 fi-2", "sdb": "fi-2"})
	for name, want := range map[string]string{"SOL DE BENICARZA, S.A.": "", "sol de benicarza": "fi-3", "sol": ""} {
		got := ""
		if f := d.Analyze(&disclosure.Report{ID: "ip-1", Type: disclosure.IP, Number: 1, CompanyName: name, Title: "x"}); f.Issuer != nil {
			got = f.Issuer.ID
		}
		if got != want {
			t.Errorf("a report of %q is of %q, want %q", name, got, want)
		}
	}
}

// randomIssuers returns a directory with many clashes: names, tickers and aliases
// out of few words, so that every query has several answers.
func randomIssuers(rng *rand.Rand) []disclosure.Issuer {
	words := strings.Fields("sol sola solar soles SOLARES Ñandú nandu minas mina MINAS de del la S.A. S.L. banco bancos 日本 2025 fi 1 *** é A.B. fotovoltaica")
	name := func() string {
		var out []string
		for range 1 + rng.IntN(4) {
			out = append(out, pick(rng, words))
		}
		return strings.Join(out, []string{" ", ", ", " - "}[rng.IntN(3)])
	}
	issuers := make([]disclosure.Issuer, rng.IntN(40))
	for i := range issuers {
		issuers[i] = disclosure.Issuer{ID: fmt.Sprint("fi-", i+1), Name: name(), Kind: disclosure.Kinds[rng.IntN(4)]}
		if rng.IntN(3) == 0 {
			issuers[i].Ticker = pick(rng, []string{"SOL", "MIN", "BO SI", "sola", "***", "DE", "SA"})
		}
		if rng.IntN(3) == 0 {
			issuers[i].FormerNames = []string{name(), name()}[:1+rng.IntN(2)]
		}
		if rng.IntN(4) == 0 {
			issuers[i].Manager = name()
		}
		if rng.IntN(4) == 0 {
			issuers[i].Aliases = []string{pick(rng, []string{"sicav-9", "16086", "V69000107"})}
		}
		if rng.IntN(4) == 0 {
			issuers[i].ISINs = []string{pick(rng, []string{"ES01SIM00018", "ES01SIM00026"})}
		}
	}
	return issuers
}

// TestIssuersAgreeWithLoop compares directories with a plain loop over Query.Rank.
func TestIssuersAgreeWithLoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 15))
	terms := strings.Fields(`sol sola solares so s nandu ñandú MINAS mina min de del la sa S.L. banco ban 日本 2025 20 fi 1 fi-1 fi-7 FI-12 é a.b. ab
		"sol" "solar "sola -sol -de -"mina -fi-3 -sicav-9 sicav-9 16086 V-69000107 v69000107 es01sim00018 -ES01SIM00026 bo si "bo - ***  fotov`)
	answered := 0
	for range 150 {
		issuers := randomIssuers(rng)
		d := directory(issuers...)
		for range 20 {
			var parts []string
			for range rng.IntN(4) {
				parts = append(parts, pick(rng, terms))
			}
			text := strings.Join(parts, " ")
			kind, limit := disclosure.Kind(""), 1+rng.IntN(50)
			if rng.IntN(3) == 0 {
				kind = disclosure.Kinds[rng.IntN(4)]
			}
			want := rankByLoop(issuers, text, kind)
			if len(want) == 0 {
				continue // other tests cover typing errors
			}
			answered++
			if diff := gocmp.Diff(want[:min(limit, len(want))], strings.Fields(idsOf(findIssuers(d, text, kind, limit)))); diff != "" {
				t.Fatalf("%q %s %d: %s", text, kind, limit, diff)
			}
		}
	}
	if answered < 1000 {
		t.Errorf("only %d queries had a result", answered)
	}
}

func rankByLoop(issuers []disclosure.Issuer, query string, kind disclosure.Kind) []string {
	type answer struct {
		rank     search.Rank
		name, id string
	}
	q := search.Parse(query)
	var found []answer
	for i := range issuers {
		e := search.NewIssuer(&issuers[i])
		if rank := q.Rank(e); rank != search.NoMatch && (kind == "" || kind == issuers[i].Kind) {
			found = append(found, answer{rank, text.Fold(issuers[i].Name), issuers[i].ID})
		}
	}
	slices.SortFunc(found, func(a, b answer) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
	})
	ids := make([]string, len(found))
	for i, a := range found {
		ids[i] = a.id
	}
	return ids
}
