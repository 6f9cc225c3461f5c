// Package querytest provides a small market for the tests of the surfaces.
package querytest

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract"
	"pregon/internal/store"
)

// Instant parses a time in RFC 3339.
func Instant(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

// Report returns a report with a type, number and time.
func Report(t disclosure.Type, number int64, at string) disclosure.Report {
	return disclosure.Report{
		Type:        t,
		Number:      number,
		CompanyName: "ACEROS DE NAVALBRUMA, S.A.",
		Title:       "[Simulación] Otros",
		PublishedAt: Instant(at),
	}
}

// Market is the fixture of most tests: four issuers and their reports, oldest
// first. Nothing in it is real.
func Market() store.Batch {
	return store.Batch{
		Issuers: []disclosure.Issuer{
			{
				NIF:         "A-69000016",
				Name:        "BODEGAS DE VALDEBRISA, S.A.",
				Ticker:      "BVB",
				Market:      "SIBE",
				Kind:        disclosure.Company,
				ISINs:       []string{"ES0SIM000010"},
				FormerNames: []string{"VIÑEDOS DEL ÑANDÚ, S.A."},

				LEI:            LEI,
				Sector:         "ALIMENTACIÓN Y BEBIDAS",
				Capital:        "12500000.50",
				VotingRights:   "25000001",
				VotingRightsOn: "2025-06-30",
			},
			{
				NIF:    "A69000024",
				Name:   "ACEROS DE NAVALBRUMA, S.A.",
				Ticker: "ANB",
				Market: "BME Growth",
				Sector: "METÁLICAS BÁSICAS",
				Kind:   disclosure.Company,
			},
			{
				ID:      "fi-4720",
				Name:    "ARDAZUL RENTA FIJA, FI",
				Kind:    disclosure.Fund,
				Aliases: []string{"V69000107"},
			},
			{
				ID:   "sgiic-194",
				Name: "ARDAZUL GESTIÓN, SGIIC, S.A.",
				NIF:  "0194",
				Kind: disclosure.Manager,
			},
		},
		Reports: []disclosure.Report{
			{
				Type:        disclosure.HR,
				Number:      256057,
				CompanyName: "ARDAZUL RENTA FIJA, FI",
				NIF:         "V69000107",
				Title:       "[Simulación] Fusión de IIC: el fondo absorbe a otro",
				PublishedAt: Instant("2026-03-02T11:00:00Z"),
				Category:    "Fusión de IIC",
			},
			{
				Type:        disclosure.IP,
				Number:      3123,
				CompanyName: "Aceros de Navalbruma SA", // no NIF: known by its name
				Title:       "[Simulación] Resultados del primer trimestre",
				PublishedAt: Instant("2026-04-21T05:30:00Z"),
				Category:    "Sobre resultados ",
			},
			{
				Type:        disclosure.OIR,
				Number:      40374,
				CompanyName: "BODEGAS DE VALDEBRISA, S.A.",
				NIF:         "A-69000016",
				Title:       "[Simulación] Pago de \"dividendos\" & otros\tacuerdos de la Junta General",
				Summary:     "Pagará 0,15 euros por acción.",
				PublishedAt: Instant("2026-04-22T08:00:33Z"),
				Category:    "Sobre dividendos -  Sobre negocio y situación financiera",
				PDFURL:      "https://regulator.example/webservices/verdocumento/ver?t=%7bd0c%7d",
				SourceURL:   "https://regulator.example/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=40374",
			},
			{
				Type:        disclosure.OIR,
				Number:      40375,
				CompanyName: "CARTONAJES DE URDANABE, S.L.",
				NIF:         "B69000032",
				Ticker:      "CUR", // not in the directory
				Title:       "[Simulación] Convocatoria de Junta General Extraordinaria",
				PublishedAt: Instant("2026-04-22T22:30:00.5Z"), // the 23rd in Madrid
			},
		},
	}
}

// Append writes a batch and loads it into the catalogue.
func Append(t testing.TB, db store.Log, c *catalog.Catalog, b store.Batch) {
	t.Helper()
	for i := range b.Reports {
		if err := b.Reports[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range b.Issuers {
		if err := b.Issuers[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range b.Positions {
		if err := b.Positions[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// typed is a document reader that returns fixed pages.
type typed []string

func (typed) Warm(context.Context) error { return nil }

func (d typed) Read(context.Context, []byte) (*extract.Text, error) {
	t := &extract.Text{
		Type:     extract.PDF,
		Method:   extract.ByText,
		Language: "es",
		Outline:  []extract.Heading{{Title: "Principio", Page: 1, Level: 1}},
	}
	for _, text := range d {
		t.Pages = append(t.Pages, extract.Page{Text: text, Method: extract.ByText})
	}
	return t, nil
}

// Document stores a document with these pages for a report, and returns the
// report with that document, for the caller to append.
func Document(t testing.TB, db store.Store, id string, pages ...string) disclosure.Report {
	t.Helper()
	known, err := db.Reports(t.Context(), id)
	if err != nil || len(known) != 1 {
		t.Fatal(known, err)
	}
	k := document.NewKeeper(document.Options{
		Store:   db,
		Readers: []document.Reader{typed(pages)},
		Logger:  slog.New(slog.DiscardHandler),
	})
	kept, err := k.Keep(t.Context(), []byte(strings.Join(pages, "\f")))
	if err != nil {
		t.Fatal(err)
	}
	return document.TextReady(&known[0], kept)
}
