package mcpserver_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/extract"
	"pregon/internal/store"
)

// filing makes a report of a day on which nothing depends.
func filing(t disclosure.Type, number int64, at string) disclosure.Report {
	return disclosure.Report{
		Type: t, Number: number, CompanyName: "ACEROS DE NAVALBRUMA, S.A.", Title: "[Simulación] Otros", PublishedAt: instant(at),
	}
}

// market is the fixture of most tests: four issuers and their filings, oldest
// first. Nothing in it is real.
func market() store.Batch {
	return store.Batch{
		Issuers: []disclosure.Issuer{
			{
				NIF: "A-69000016", Name: "BODEGAS DE VALDEBRISA, S.A.", Ticker: "BVB", Market: "SIBE", Kind: disclosure.Company,
				ISINs: []string{"ES0SIM000010"}, FormerNames: []string{"VIÑEDOS DEL ÑANDÚ, S.A."},
			},
			{NIF: "A69000024", Name: "ACEROS DE NAVALBRUMA, S.A.", Ticker: "ANB", Market: "BME Growth", Kind: disclosure.Company},
			{ID: "fi-4720", Name: "ARDAZUL RENTA FIJA, FI", Kind: disclosure.Fund, Aliases: []string{"V69000107"}},
			{ID: "sgiic-194", Name: "ARDAZUL GESTIÓN, SGIIC, S.A.", NIF: "0194", Kind: disclosure.Manager},
		},
		Reports: []disclosure.Report{
			{
				Type: disclosure.HR, Number: 256057, CompanyName: "ARDAZUL RENTA FIJA, FI", NIF: "V69000107",
				Title: "[Simulación] Fusión de IIC: el fondo absorbe a otro", PublishedAt: instant("2026-03-02T11:00:00Z"), Category: "Fusión de IIC",
			},
			{
				Type: disclosure.IP, Number: 3123, CompanyName: "Aceros de Navalbruma SA", // no NIF: known by its name
				Title: "[Simulación] Resultados del primer trimestre", PublishedAt: instant("2026-04-21T05:30:00Z"), Category: "Sobre resultados ",
			},
			{
				Type: disclosure.OIR, Number: 40374, CompanyName: "BODEGAS DE VALDEBRISA, S.A.", NIF: "A-69000016",
				Title:   "[Simulación] Pago de \"dividendos\" & otros\tacuerdos de la Junta General",
				Summary: "Pagará 0,15 euros por acción.", PublishedAt: instant("2026-04-22T08:00:33Z"),
				Category:  "Sobre dividendos -  Sobre negocio y situación financiera",
				PDFURL:    "https://regulator.example/webservices/verdocumento/ver?t=%7bd0c%7d",
				SourceURL: "https://regulator.example/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=40374",
			},
			{
				Type: disclosure.OIR, Number: 40375, CompanyName: "CARTONAJES DE URDANABE, S.L.", NIF: "B69000032", Ticker: "CUR", // not in the directory
				Title: "[Simulación] Convocatoria de Junta General Extraordinaria", PublishedAt: instant("2026-04-22T22:30:00.5Z"), // the 23rd in Madrid
			},
		},
	}
}

// busy is a market of many filings, with titles of all lengths up to most.
func busy(n, most int, seed uint64) store.Batch {
	random := rand.New(rand.NewPCG(seed, 1))
	b := market()
	words := strings.Fields("dividendo junta ampliación resultados \"fusión\" acuerdo ñandú pago de la sobre capital 😀")
	text := func(length int) string {
		var t strings.Builder
		t.WriteString("[Simulación]")
		for t.Len() < length {
			t.WriteString(" " + words[random.IntN(len(words))])
		}
		return t.String()
	}
	at := instant("2026-05-04T07:00:00Z")
	for i := range n {
		of := b.Issuers[random.IntN(len(b.Issuers))]
		at = at.Add(time.Duration(random.IntN(7000)) * time.Second)
		r := disclosure.Report{
			Type: disclosure.Types[random.IntN(len(disclosure.Types))], Number: 500000 + int64(i), CompanyName: of.Name, NIF: of.NIF,
			Title: text(random.IntN(most)), PublishedAt: at, Category: []string{"Sobre resultados", "Sobre dividendos", "Otros"}[random.IntN(3)],
		}
		if random.IntN(2) == 0 {
			r.Summary = text(random.IntN(most))
		}
		b.Reports = append(b.Reports, r)
	}
	return b
}

// typed is a document whose text is known: how it is read is told elsewhere.
type typed []string

func (typed) Warm(context.Context) error { return nil }

func (d typed) Read(context.Context, []byte) (*extract.Text, error) {
	t := &extract.Text{Type: extract.PDF, Method: extract.ByText, Language: "es"}
	for _, text := range d {
		t.Pages = append(t.Pages, extract.Page{Text: text, Method: extract.ByText})
	}
	return t, nil
}

// document gives a filing a document with these pages.
func (s *service) document(id string, pages ...string) {
	s.t.Helper()
	known, err := s.store.Reports(s.t.Context(), id)
	if err != nil || len(known) != 1 {
		s.t.Fatal(known, err)
	}
	k := document.NewKeeper(document.Options{Store: s.store, Readers: []document.Reader{typed(pages)}, Logger: slog.New(slog.DiscardHandler)})
	kept, err := k.Keep(s.t.Context(), []byte(strings.Join(pages, "\f")))
	if err != nil {
		s.t.Fatal(err)
	}
	s.append(store.Batch{Aside: []disclosure.Report{document.Told(&known[0], kept)}})
}

// hidden stands in the one document that most tests have.
const hidden = "reestructuración confidencialísima"

// startWithDocument serves the market, in which one filing has a document.
func startWithDocument(t interface{ Helper() }, s *service) *service {
	t.Helper()
	s.document("oir-40374", "La Junta aprobó una "+hidden+".", fmt.Sprintf("Segunda página, con %s.", hidden))
	return s
}
