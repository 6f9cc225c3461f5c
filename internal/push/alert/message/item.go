package message

import (
	"cmp"
	"net/url"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/disclosure/headline"
)

// SimulatedPrefix begins the titles of simulated reports, in both languages.
const SimulatedPrefix = "[Simulación] "

// Writer makes items from changes.
type Writer struct {
	BaseURL string // of the service, without a final slash
}

// Item returns the item of a change of a report or position. issuer is what the directory
// has of its issuer, or nil. It returns false for other changes.
func (w Writer) Item(c *disclosure.Change, issuer *disclosure.Issuer, language string) (Item, bool) {
	switch c.Of() {
	case disclosure.OfReport:
		return w.report(c, issuer, language), true
	case disclosure.OfPosition:
		return w.position(c, issuer, language), true
	}
	return Item{}, false
}

func (w Writer) report(c *disclosure.Change, issuer *disclosure.Issuer, language string) Item {
	r := c.Report
	title, simulated := strings.CutPrefix(r.Title, SimulatedPrefix)
	item := Item{
		Event:   c.Event,
		Subject: r.ID,
		Issuer: Issuer{
			ID:     r.IssuerKey(),
			Name:   r.CompanyName,
			Ticker: r.Ticker,
		},
		Label:     typeInWords(r.Type, language),
		Title:     title,
		Facts:     headline.Line(r.Facts, language),
		At:        r.ListedAt(),
		Exact:     true,
		URL:       w.link("/reports/"+url.PathEscape(r.ID), nil, language),
		Simulated: simulated || isSimulatedLink(r.SourceURL),
	}
	if issuer != nil {
		item.Issuer.ID = issuer.ID
		item.Issuer.Ticker = cmp.Or(item.Issuer.Ticker, issuer.Ticker)
	}
	if r.CorrectedBy != "" {
		item.Note = say(language, "La corrige ", "Corrected by ") + strings.ToUpper(r.CorrectedBy)
	}
	return item
}

// position does not name natural persons: messages keep what they said, also after a name
// was erased here.
func (w Writer) position(c *disclosure.Change, issuer *disclosure.Issuer, language string) Item {
	p := c.Position
	item := Item{
		Event:   c.Event,
		Subject: p.ID,
		Issuer: Issuer{
			ID:   p.Issuer,
			Name: cmp.Or(p.IssuerName, p.ISIN, p.LEI, p.NIF),
		},
		Label:     registerInWords(p.Kind, language),
		URL:       w.link(registerPath(p.Kind), url.Values{"issuer": {p.Issuer}}, language) + "#" + p.ID,
		Simulated: isSimulatedLink(p.SourceURL),
	}
	if day, ok := disclosure.ParseDay(p.Day()); ok {
		item.At = day.Start()
	}
	if issuer != nil {
		item.Issuer.ID = issuer.ID
		item.Issuer.Name = issuer.Name
		item.Issuer.Ticker = issuer.Ticker
	}
	item.Title = positionTitle(p, language)
	item.Facts = positionLine(p, language)
	if c.Event == disclosure.PositionUpdated {
		item.Note = say(language, "Actualización", "Update")
	}
	return item
}

// link returns the address of a page in a language.
func (w Writer) link(path string, query url.Values, language string) string {
	values := url.Values{"lang": {say(language, Spanish, English)}}
	for name, v := range query {
		if v[0] != "" {
			values[name] = v
		}
	}
	return w.BaseURL + path + "?" + values.Encode()
}

func isSimulatedLink(address string) bool {
	return strings.HasPrefix(address, disclosure.SimulatedOrigin+"/")
}

// positionTitle says what a position is and whose, if that is not a natural person.
func positionTitle(p *disclosure.Position, language string) string {
	name := ""
	if !p.Natural && p.Kind != disclosure.OwnShares {
		name = strings.ReplaceAll(p.Name, " ,", ",")
	}
	title := map[disclosure.PositionKind]string{
		disclosure.Short:     say(language, "Posición corta neta", "Net short position"),
		disclosure.Holding:   say(language, "Participación significativa", "Significant holding"),
		disclosure.OwnShares: say(language, "Autocartera", "Own shares"),
		disclosure.Dealing:   say(language, "Operación de un directivo", "Manager’s dealing"),
	}[p.Kind]
	if p.Kind == disclosure.Dealing && p.Relation == disclosure.RelationAssociated {
		title = say(language, "Operación de una persona vinculada a un directivo",
			"Dealing of a person closely associated with a manager")
	}
	if name == "" {
		return title
	}
	return title + ": " + name
}

// positionLine says the figures of a position.
func positionLine(p *disclosure.Position, language string) string {
	var parts []string
	if p.Percent != "" {
		parts = append(parts, percentage(p.Percent, language))
	}
	for _, side := range disclosure.Sides {
		amount, currency := p.AmountOf(side)
		if amount == "" {
			continue
		}
		parts = append(parts, sideInWords(side, language)+" "+money(amount, currency, language))
	}
	if state := stateInWords(p.State, language); state != "" {
		parts = append(parts, state)
	}
	return strings.Join(parts, " · ")
}

// percentage writes a decimal as headline writes one.
func percentage(decimal, language string) string {
	const field = "acceptance"
	return headline.ShortValue(disclosure.Fact{
		Kind:   disclosure.Takeover,
		Fields: map[string]string{field: decimal},
	}, field, language)
}

// money writes an amount as headline writes one.
func money(amount, currency, language string) string {
	const field = "amount"
	return headline.ShortValue(disclosure.Fact{
		Kind:   disclosure.BuybackTrades,
		Fields: map[string]string{field: amount, "currency": currency},
	}, field, language)
}
