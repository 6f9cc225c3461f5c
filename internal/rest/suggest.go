package rest

import (
	"net/http"

	"pregon/internal/catalog"
	"pregon/internal/query"
)

// suggestion is a completion of the text typed so far.
type suggestion struct {
	Kind   string  `json:"kind"` // issuer or category
	Text   string  `json:"text"`
	ID     *string `json:"id"`     // of an issuer
	Ticker *string `json:"ticker"` // of an issuer
	Total  *int    `json:"total"`  // reports under a category
}

func (a *API) getSuggestions(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.listParams(r)
	typed := p.LimitedText("q", query.MaxSearch)
	limit := p.Integer("limit", query.DefaultLimit, 1, query.MaxLimit)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := s.Suggest(r.Context(), typed, limit)
	if err != nil {
		return response{}, err
	}
	list := make([]suggestion, 0, limit)
	for _, e := range found.Issuers {
		list = append(list, suggestion{
			Kind:   "issuer",
			Text:   e.Issuer.Name,
			ID:     &e.Issuer.ID,
			Ticker: query.OrNull(e.Issuer.Ticker),
		})
	}
	for _, c := range found.Categories {
		list = append(list, suggestion{Kind: "category", Text: c.Category, Total: &c.Total})
	}
	return encode(map[string]any{"data": list})
}
