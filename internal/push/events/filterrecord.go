package events

import "pregon/internal/disclosure"

// FilterRecord is a filter as webhooks, alerts and watchlists store it.
type FilterRecord struct {
	Search   string          `json:"search,omitempty"`
	Type     disclosure.Type `json:"type,omitempty"`
	Issuer   string          `json:"issuer,omitempty"`
	From     disclosure.Day  `json:"from,omitempty"`
	To       disclosure.Day  `json:"to,omitempty"`
	Category string          `json:"category,omitempty"`
	// Records from before there were words have no mark, and mean the whole name.
	CategoryWords bool            `json:"category_words,omitempty"`
	Kind          disclosure.Kind `json:"kind,omitempty"`
	Market        string          `json:"market,omitempty"`
	MarketWords   bool            `json:"market_words,omitempty"`
	Sector        string          `json:"sector,omitempty"`
	SectorWords   bool            `json:"sector_words,omitempty"`

	NoSecuritisation bool `json:"no_securitisation,omitempty"`
	NoRoutine        bool `json:"no_routine,omitempty"`
	InDocument       bool `json:"in_document,omitempty"`
	Widen            bool `json:"widen,omitempty"`

	Fact      disclosure.FactKind `json:"fact,omitempty"`
	MinAmount string              `json:"min_amount,omitempty"`
	Currency  string              `json:"currency,omitempty"`

	Positions  disclosure.PositionSet `json:"position,omitempty"`
	HeldBy     string                 `json:"holder,omitempty"`
	MinPercent string                 `json:"min_percent,omitempty"`
	Side       disclosure.Side        `json:"side,omitempty"`

	Watchlist string              `json:"watchlist,omitempty"`
	Entries   *disclosure.Entries `json:"-"`
}
