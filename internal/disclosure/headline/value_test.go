package headline_test

import (
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/disclosure/headline"
)

// Every value is written in the notation of a language, or stays as it is.
func TestValue(t *testing.T) {
	for _, c := range []struct {
		kind                   disclosure.FactKind
		fields, field, es, eng string
	}{
		{"dividend", "gross_per_share=0.25; currency=EUR", "gross_per_share", "0,25 euros", "€0.25"},
		{"dividend", "gross_per_share=1234.5", "gross_per_share", "1.234,5", "1,234.5"},
		{"dividend", "gross_per_share=<b>; currency=EUR", "gross_per_share", "<b>", "<b>"},
		{"dividend", "form=scrip", "form", "en acciones (scrip)", "shares (scrip)"},
		{"dividend", "form=gold", "form", "gold", "gold"},
		{"dividend", "ex_date=2026-12-15", "ex_date", "15 de diciembre de 2026", "15 December 2026"},
		{"dividend", "ex_date=2026-13-15", "ex_date", "2026-13-15", "2026-13-15"},
		{"dividend", "currency=EUR", "currency", "EUR", "EUR"},
		{"meeting", "first_call=2026-12-15T12:30", "first_call", "15 de diciembre de 2026 a las 12:30", "15 December 2026 at 12:30"},
		{"meeting", "meeting_kind=ordinary", "meeting_kind", "junta general ordinaria", "ordinary general meeting"},
		{"results", "period=2026-H1", "period", "primer semestre de 2026", "first half of 2026"},
		{"results", "period=2026", "period", "2026", "2026"},
		{"results", "period=2026-X", "period", "2026-X", "2026-X"},
		{"results", "net_profit=-5000000; currency=EUR", "net_profit", "-5 millones de euros", "-€5 million"},
		{"voting_rights", "shares=4500000", "shares", "4.500.000", "4,500,000"},
		{"takeover", "acceptance=85.2", "acceptance", "85,2 %", "85.2%"},
		{"takeover", "action=withdrawn", "action", "retirada", "withdrawn"},
		{"rating", "outlook=stable", "outlook", "estable", "stable"},
		{"board", "role=consejera delegada", "role", "consejera delegada", "chief executive officer"},
		{"board", "person=Julia Arce", "person", "Julia Arce", "Julia Arce"},
		{"unheard_of", "thing=x", "thing", "x", "x"},
		{"unheard_of", "thing=x", "missing", "", ""},
	} {
		f := fact(c.kind, c.fields)
		if got := headline.Value(f, c.field, "es"); got != c.es {
			t.Errorf("%s of %s: got %q, want %q", c.field, c.fields, got, c.es)
		}
		if got := headline.Value(f, c.field, "en"); got != c.eng {
			t.Errorf("%s of %s: got %q, want %q", c.field, c.fields, got, c.eng)
		}
	}
	trade := fact("buyback_trades", "date=2026-12-15; price=12.3; currency=EUR")
	if got := headline.ShortValue(trade, "date", "es") + ", " + headline.ShortValue(trade, "price", "es"); got != "15 dic 2026, 12,30 €" {
		t.Errorf("the short values are %s", got)
	}
}

// A kind with a currency has amounts that are written with it.
func TestAmounts(t *testing.T) {
	for _, kind := range disclosure.FactKinds() {
		amounts := headline.Amounts(kind)
		for _, field := range kind.Fields() {
			if field == "currency" && len(amounts) == 0 {
				t.Errorf("%s has a currency and no amount", kind)
			}
		}
	}
}
