package querytest

import (
	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// What the registers of Positions have of the first issuer of Market, and of one that the
// directory does not have.
const (
	ISIN        = "ES0SIM000010"
	LEI         = "PREGONSIM000000BVB37"
	UnknownISIN = "ES0SIM000028"
	UnknownLEI  = "PREGONSIM000000QQQ20"
)

// Positions are the registers of the issuers of Market, with positions of all kinds.
// Nothing in them is real.
func Positions() store.Batch {
	return store.Batch{Positions: []disclosure.Position{
		Short(ISIN, "Fondo Imaginario Alfa LLP", "2026-02-02", "0.62", disclosure.StatePast, 1),
		Short(ISIN, "Fondo Imaginario Alfa LLP", "2026-03-04", "0.71", disclosure.StateCurrent, 1),
		Short(ISIN, "Fondo Imaginario Beta, Ltd.", "2026-03-04", "0.49", disclosure.StateCurrent, 2),
		Short(UnknownISIN, "Fondo Imaginario Beta, Ltd.", "2026-03-05", "1.5", disclosure.StateCurrent, 1),
		Holding("2026000101", "CARTERA IMAGINARIA , S.L.", "2025-11-10", "4.2", disclosure.StatePast),
		Holding("2026000102", "CARTERA IMAGINARIA , S.L.", "2026-01-15", "5.033", disclosure.StateCurrent),
		Holding("2026000103", "RUIZ SALVATIERRA , ELENA", "2026-01-16", "12.5", disclosure.StateCurrent),
		{
			ID:           "own-shares-2026000110",
			Kind:         disclosure.OwnShares,
			NIF:          "A-69000016",
			IssuerName:   "BODEGAS DE VALDEBRISA, S.A.",
			Name:         "BODEGAS DE VALDEBRISA, S.A.",
			Number:       "2026000110",
			RegisteredOn: "2026-02-01",
			Percent:      "1.02",
			State:        disclosure.StateCurrent,
		},
		Dealing("2026000121", "Elena Ruiz Salvatierra", "2026-02-10", disclosure.StateRectified,
			Trade("Compra", disclosure.Buy, "1000", "2.5", "EUR")),
		Dealing("2026000122", "Elena Ruiz Salvatierra", "2026-02-11", disclosure.StateCurrent,
			Trade("Compra", disclosure.Buy, "1000", "2.6", "EUR"),
			Trade("Otros", disclosure.OtherSide, "50", "0", "EUR")),
		Dealing("2026000123", "Inversiones Imaginarias, S.L.", "2026-03-01", disclosure.StateCurrent,
			Trade("Venta", disclosure.Sell, "20000", "2.7", "EUR")),
		Dealing("2026000124", "Elena Ruiz Salvatierra", "2026-03-02", disclosure.StateCurrent),
	}}
}

// Short returns a net short position in the first issuer of Market, by its ISIN, or in
// another one. n counts those of an ISIN and day.
func Short(isin, name, date, percent string, state disclosure.PositionState, n int) disclosure.Position {
	p := disclosure.Position{
		ID:         disclosure.ShortID(isin, date, n),
		Kind:       disclosure.Short,
		IssuerName: "BODEGAS DE VALDEBRISA, S.A.",
		LEI:        LEI,
		ISIN:       isin,
		Name:       name,
		Date:       date,
		Percent:    percent,
		State:      state,
		SourceURL:  "https://regulator.example/DocPortal/Posiciones-Cortas/NetShortPositions.xls",
	}
	if isin == UnknownISIN {
		p.IssuerName = "QUINTAS DE QUIMERALBA, S.A."
		p.LEI = UnknownLEI
	}
	return p
}

// Holding returns a significant holding in the first issuer of Market.
func Holding(number, name, registered, percent string, state disclosure.PositionState) disclosure.Position {
	return disclosure.Position{
		ID:                 disclosure.PositionID(disclosure.Holding, number, 1),
		Kind:               disclosure.Holding,
		NIF:                "A69000016",
		IssuerName:         "BODEGAS DE VALDEBRISA, S.A.",
		Name:               name,
		Number:             number,
		RegisteredOn:       registered,
		Percent:            percent,
		PercentShares:      percent,
		PercentDirect:      percent,
		PercentIndirect:    "0",
		PercentInstruments: "0",
		State:              state,
		SourceURL:          "https://regulator.example/portal/consultas/derechosvoto/ps_ac_ini.aspx?nif=A69000016",
		DocumentURL:        "https://regulator.example/webservices/verdocumento/ver?e=" + number,
	}
}

// Dealing returns a notice of dealings in the first issuer of Market. Without trades, its
// document was not read.
func Dealing(
	number, name, registered string,
	state disclosure.PositionState,
	trades ...disclosure.Trade,
) disclosure.Position {
	p := disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Dealing, number, 1),
		Kind:         disclosure.Dealing,
		NIF:          "A-69000016",
		IssuerName:   "BODEGAS DE VALDEBRISA, S.A.",
		Name:         name,
		Number:       number,
		RegisteredOn: registered,
		Relation:     disclosure.RelationManager,
		State:        state,
		DocumentURL:  "https://regulator.example/webservices/verdocumento/ver?e=" + number,
	}
	if len(trades) > 0 {
		p.DocumentStatus = disclosure.DocumentReady
		p.DocumentSHA256 = "00"
		p.Aggregates = disclosure.SumsAgree
		p.Trades = trades
	}
	return p
}

// Trade returns a trade of a notice of dealings.
func Trade(nature string, side disclosure.Side, volume, price, currency string) disclosure.Trade {
	return disclosure.Trade{
		ISIN:       ISIN,
		Instrument: "Acción",
		Nature:     nature,
		Side:       side,
		Date:       "2026-02-09",
		Venue:      "XMAD",
		Volume:     volume,
		Price:      price,
		Currency:   currency,
		Page:       1,
		Quote:      nature + " " + volume + " " + price + " " + currency,
	}
}
