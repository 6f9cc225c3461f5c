package statement

import "slices"

// kind is a kind of fact.
type kind struct {
	name      string
	category  string   // of its reports, as the register spells it
	fields    []string // that a document may state
	rowFields []string // of its rows
	money     []string // the fields that are amounts of money
	draw      func(*draw)
}

// kinds are the kinds of facts. The function of a kind draws the values of a fact.
var kinds []kind

func init() { // not a literal: drawing needs kinds
	kinds = []kind{
		{
			name:     "dividend",
			category: "Sobre instrumentos financieros",
			fields:   []string{"gross_per_share", "form", "ex_date", "record_date", "payment_date"},
			money:    []string{"gross_per_share"},
			draw:     drawDividend,
		},
		{
			name:     "meeting",
			category: "Convocatoria de Junta o Asamblea",
			fields:   []string{"meeting_kind", "first_call", "second_call"},
			draw:     drawMeeting,
		},
		{
			name:     "results",
			category: "Sobre resultados ",
			fields:   []string{"period", "revenue", "ebitda", "net_profit"},
			money:    []string{"revenue", "ebitda", "net_profit"},
			draw:     drawResults,
		},
		{
			name:     "buyback_programme",
			category: "Programas de recompra de acciones, estabilización y autocartera",
			fields:   []string{"event", "max_amount", "max_shares", "ends_on"},
			money:    []string{"max_amount"},
			draw:     drawProgramme,
		},
		{
			name:      "buyback_trades",
			category:  "Programas de recompra de acciones, estabilización y autocartera",
			fields:    []string{"from", "to", "shares", "amount"},
			rowFields: []string{"date", "venue", "shares", "price"},
			money:     []string{"amount"},
			draw:      drawTrades,
		},
		{
			name:     "voting_rights",
			category: "Total número de derechos de voto y de capital  ",
			fields:   []string{"shares", "voting_rights", "capital", "as_of"},
			money:    []string{"capital"},
			draw:     drawVotingRights,
		},
		{
			name:     "capital",
			category: "Sobre instrumentos financieros",
			fields:   []string{"action", "new_shares", "amount", "price", "capital_after"},
			money:    []string{"amount", "price", "capital_after"},
			draw:     drawCapital,
		},
		{
			name:     "suspension",
			category: "Sobre suspensiones, levantamientos y exclusiones de negociación",
			fields:   []string{"action", "at"},
			draw:     drawSuspension,
		},
		{
			name:     "board",
			category: "Sobre Gobierno corporativo",
			fields:   []string{"action", "person", "role", "effective"},
			draw:     drawBoard,
		},
		{
			name:     "rating",
			category: "Sobre calificaciones crediticias",
			fields:   []string{"agency", "action", "rating", "outlook"},
			draw:     drawRating,
		},
		{
			name:     "takeover",
			category: "Ofertas públicas de adquisición de acciones",
			fields:   []string{"action", "bidder", "target", "price", "acceptance"},
			money:    []string{"price"},
			draw:     drawTakeover,
		},
		{
			name:     "liquidity_contract",
			category: "Contratos de liquidez y contrapartida",
			fields:   []string{"from", "to", "bought", "sold", "balance_shares", "balance_cash"},
			money:    []string{"balance_cash"},
			draw:     drawLiquidity,
		},
		{
			name:      "securitisation_payment",
			category:  "Otra información relevante",
			fields:    []string{"payment_date"},
			rowFields: []string{"isin", "interest", "redemption"},
			draw:      drawSecuritisation,
		},
	}
}

func kindNamed(name string) *kind {
	n := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if n < 0 {
		panic("statement: unknown kind " + name) // a bug in texts
	}
	return &kinds[n]
}

// category returns the category of a report about a kind. Issuers do not always
// choose the most fitting one.
func (w *writer) category(kind string) string {
	if kind == None || w.Percent(12) {
		return "Otra información relevante"
	}
	return kindNamed(kind).category
}
