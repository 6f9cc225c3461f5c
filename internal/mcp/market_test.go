package mcp_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// The data of most tests.
var (
	instant   = querytest.Instant
	newReport = querytest.Report
	market    = querytest.Market
)

// busy returns a market of n reports with titles of up to most bytes.
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

// document stores a document with these pages for a report.
func (s *service) document(id string, pages ...string) {
	s.t.Helper()
	s.append(store.Batch{Aside: []disclosure.Report{querytest.Document(s.t, s.store, id, pages...)}})
}

// hidden is a phrase of the document that most tests use.
const hidden = "reestructuración confidencialísima"

// startWithDocument serves the market, in which one report has a document.
func startWithDocument(t interface{ Helper() }, s *service) *service {
	t.Helper()
	s.document("oir-40374", "La Junta aprobó una "+hidden+".", fmt.Sprintf("Segunda página, con %s.", hidden))
	return s
}
