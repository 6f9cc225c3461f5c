package site

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/search"
	"pregon/internal/site/chart"
	"pregon/internal/site/render"
	"pregon/internal/text"
)

const (
	issuerRows     = 20
	activityMonths = 24
	maxIssuerName  = 200 // bytes of an identifier in an address
	maxSimilar     = 8
)

// issuerPage is the page of an issuer.
type issuerPage struct {
	*listing
	disclosure.Issuer
	Kind                string // in the language of the page
	CIF                 string
	Manager, Depositary *render.Link
	Funds               string // address of the funds of a manager, or ""
	Activity            *chart.Chart
	Dates               []calendarEntry // the next ones
	Calendar            string          // address of its calendar
	Alerts              string          // address at which an account makes an alert, or ""
	JSON                string          // address, or "" if it is not in the directory
	Capital             string          // with its currency, or ""
	Votes               string          // the total number of voting rights, or ""
	VotesOn             string          // since when it has been so, or ""
	Dossier             *dossier        // nil on further pages of its reports, and without positions
	Whole               bool            // the page is the first of all its reports
}

// choicesPage lists issuers for an address that is not that of exactly one.
type choicesPage struct {
	Heading, Text string
	Entries       []directoryEntry
}

// issuer is the page of an issuer. Other identifiers and tickers lead to that of
// its id.
func (s *Site) issuer(q *request) (*render.Page, error) {
	named, other, err := q.findIssuer()
	if named == nil {
		return other, err
	}
	out, err := s.newIssuerPage(q, named)
	if err != nil {
		return nil, err
	}
	title := named.Name
	if named.Ticker != "" {
		title += " (" + named.Ticker + ")"
	}
	p := &render.Page{
		Template:    "issuer",
		Title:       title,
		Description: q.edition.Text("issuer.description", named.Name),
		Data:        out,
		Kind:        "profile",
		NoIndex:     out.Dossier != nil && out.Dossier.Shown,
		Linked:      linkedIssuer(named, s.BaseURL+issuerPath(named.ID)),
	}
	if out.JSON != "" {
		p.Head = append(p.Head, render.HeadLink{Rel: "alternate", Type: "application/json", URL: out.JSON})
	}
	return p, nil
}

// issuerMonths is the activity of an issuer as CSV.
func (s *Site) issuerMonths(q *request) (*render.Page, error) {
	named, other, err := q.findIssuer()
	if named == nil {
		return other, err
	}
	activity, err := q.activity(named.ID)
	if err != nil {
		return nil, err
	}
	return q.csvPage(activity.Table)
}

// findIssuer returns the issuer in the address, or the page that is shown instead.
func (q *request) findIssuer() (*disclosure.Issuer, *render.Page, error) {
	name := q.PathValue("id")
	if len(name) > maxIssuerName {
		p, err := q.noIssuer("")
		return nil, p, err
	}
	found := q.snapshot.Lookup(name)
	var issuer *disclosure.Issuer
	switch {
	case len(found) > 1:
		return nil, q.severalIssuers(name, found), nil
	case len(found) == 1:
		issuer = found[0].Issuer
	default:
		if id, ok := query.RegisteredIssuer(q.snapshot, name); ok {
			return nil, &render.Page{Redirect: q.redirectTo(id)}, nil
		}
		issuer = q.unlisted(disclosure.IssuerKey(name))
	}
	if issuer == nil {
		p, err := q.noIssuer(name)
		return nil, p, err
	}
	if issuer.ID != name {
		return nil, &render.Page{Redirect: q.redirectTo(issuer.ID)}, nil
	}
	return issuer, nil, nil
}

// redirectTo returns the address of the request with another id.
func (q *request) redirectTo(id string) string {
	address := issuerPath(id)
	if strings.HasSuffix(q.URL.Path, monthsFile) {
		address += monthsFile
	}
	if q.URL.RawQuery != "" {
		address += "?" + q.URL.RawQuery
	}
	return address
}

// monthsFile is the end of the path of the activity as CSV.
const monthsFile = "/months.csv"

// unlisted returns an issuer that has reports but is not in the directory, or nil.
func (q *request) unlisted(key string) *disclosure.Issuer {
	if key == "" || !q.snapshot.KnowsIssuer(key) {
		return nil
	}
	newest := q.snapshot.Newest(disclosure.Filter{Issuer: key}, 1)
	if newest.Total == 0 {
		return nil
	}
	r := newest.Reports[0]
	return &disclosure.Issuer{
		ID:     key,
		Name:   r.CompanyName(),
		NIF:    key,
		Ticker: r.Ticker(),
	}
}

// severalIssuers lists the issuers with a ticker.
func (q *request) severalIssuers(ticker string, found []*search.Issuer) *render.Page {
	out := &choicesPage{Heading: q.edition.Text("issuer.several", ticker), Text: q.edition.Text("issuer.several.text")}
	for _, e := range found[:min(len(found), directoryRows)] {
		out.Entries = append(out.Entries, q.newEntry(e))
	}
	return &render.Page{
		Template: "issuer-choices",
		Status:   http.StatusMultipleChoices,
		Title:    out.Heading,
		Data:     out,
		NoIndex:  true,
	}
}

// noIssuer lists issuers with a similar name.
func (q *request) noIssuer(name string) (*render.Page, error) {
	out := &choicesPage{Heading: q.edition.Text("issuer.none"), Text: q.edition.Text("issuer.none.text")}
	if words := text.Words(name); len(words) > 0 {
		similar, err := q.snapshot.Issuers(q.Context(), strings.Join(words, " "), "", maxSimilar)
		if err != nil {
			return nil, err
		}
		for _, e := range similar {
			out.Entries = append(out.Entries, q.newEntry(e))
		}
	}
	return &render.Page{
		Template: "issuer-choices",
		Status:   http.StatusNotFound,
		Title:    out.Heading,
		Data:     out,
		NoIndex:  true,
	}, nil
}

func (s *Site) newIssuerPage(q *request, i *disclosure.Issuer) (*issuerPage, error) {
	reports, err := s.issuerReports(q, i)
	if err != nil {
		return nil, err
	}
	out := &issuerPage{
		listing:    reports,
		Issuer:     *i,
		Kind:       q.edition.kindText(i.Kind),
		CIF:        i.CIF(),
		Manager:    q.party(i.Manager),
		Depositary: q.party(i.Depositary),
		Calendar:   q.edition.calendarOf(i.ID),
	}
	if len(s.Parts) > 0 { // there are accounts
		out.Alerts = q.edition.Link("/account/alerts" + queryOf("issuer", i.ID))
	}
	if out.Dates, err = s.nextDates(q, i.ID); err != nil {
		return nil, err
	}
	if _, listed := q.snapshot.Issuer(i.ID); listed {
		out.JSON = "/api/v1" + issuerPath(i.ID)
	}
	if i.Kind == disclosure.Manager {
		out.Funds = q.edition.Link("/issuers?" +
			url.Values{"kind": {string(disclosure.Fund)}, "search": {`"` + i.Name + `"`}}.Encode())
	}
	q.addIdentity(out)
	if out.Activity, err = q.activity(i.ID); err != nil {
		return nil, err
	}
	out.Whole = out.Page == 1 && len(out.Form.Active) == 0 && q.values.Get("type")+q.values.Get("search") == ""
	if out.Whole {
		out.Dossier, err = s.dossier(q, i.ID)
	}
	return out, err
}

// addIdentity adds what the registers state about the issuer itself.
func (q *request) addIdentity(out *issuerPage) {
	out.ISINs = query.ISINs(q.snapshot, out.ID, out.ISINs)
	if out.Issuer.Capital != "" {
		out.Capital = q.edition.money(out.Issuer.Capital, "EUR")
	}
	out.Votes = q.edition.decimal(out.VotingRights)
	if day, ok := disclosure.ParseDay(out.VotingRightsOn); ok {
		out.VotesOn = q.edition.date(day)
	}
}

// issuerReports returns the reports of an issuer by the filter of the request. The
// issuer is in the path, not in the parameters.
func (s *Site) issuerReports(q *request, i *disclosure.Issuer) (*listing, error) {
	q.values.Del("issuer")
	q.values.Del("in") // documents are searched at /search
	values := maps.Clone(q.values)
	values.Set("issuer", i.ID)
	q.params = s.Query.NewParams(values).For(q.principal)
	out, err := s.list(q, issuerRows)
	if err != nil {
		return nil, err
	}
	out.Form.Kinds, out.Form.Without = nil, choice{} // these are properties of the issuer
	for _, d := range out.Days {
		d.omit(i.Name)
	}
	if out.Form.Save != "" {
		out.Form.Save = q.edition.Link("/account/watchlists/save" + q.parameters("issuer", i.ID))
	}
	out.feedURL, out.CSV = q.parameters("issuer", i.ID), "/api/v1/reports.csv"+q.parameters("issuer", i.ID)
	return out, nil
}

// omit removes what all reports of an issuer have in common. Other names than its
// present one stay.
func (d *dayRows) omit(name string) {
	for _, g := range d.Groups {
		for n := range g.Rows {
			r := &g.Rows[n]
			r.Issuer = ""
			r.IssuerURL = ""
			r.Ticker = ""
			if compareFolded(r.Company, name) == 0 {
				r.Company = ""
			}
		}
	}
}

// party returns a manager or depositary, with the address of its page if exactly one
// issuer has the name, or nil.
func (q *request) party(name string) *render.Link {
	if name == "" {
		return nil
	}
	out := &render.Link{Text: name}
	if e, ok := q.snapshot.Named(name); ok {
		out.URL = q.edition.Link(issuerPath(e.Issuer.ID))
	}
	return out
}

// activity returns the chart of the reports of an issuer by month.
func (q *request) activity(id string) (*chart.Chart, error) {
	found, err := q.snapshot.Months(q.Context(), disclosure.Filter{Issuer: id}, activityMonths)
	if err != nil {
		return nil, err
	}
	list := func(from, to string) string {
		return q.edition.Link("/" + queryOf("issuer", id, "from", from, "to", to))
	}
	c := q.typeChart("activity", issuerPath(id)+monthsFile, q.monthsTable(found, list))
	c.SetBars(q.typeBars(q.monthSlots(found, list), ""))
	return c, nil
}

// monthSlots returns a bar for each month, with the names of some.
func (q *request) monthSlots(found []catalog.Monthly, list func(from, to string) string) []chart.Slot {
	e := q.edition
	every := time.Month(3) // month has a name
	if len(found) > 3*activityMonths/2 {
		every = 12
	}
	out := make([]chart.Slot, len(found))
	for i, m := range found {
		out[i] = chart.Slot{Values: valuesOf(m.Counts), URL: listOfMonth(m, list)}
		if start, err := time.Parse("2006-01", m.Month); err == nil {
			out[i].Title = e.figuresText(e.Month(start.Month())+" "+m.Month[:4], m.Total, m.Counts)
			if start.Month()%every == 1 {
				out[i].Label = e.monthLabel(start.Year(), start.Month())
			}
		}
	}
	return out
}

// listOfMonth returns the address of the list of the reports of a month, "" if there are none:
// list returns that of a period.
func listOfMonth(month catalog.Monthly, list func(from, to string) string) string {
	start, err := time.ParseInLocation("2006-01", month.Month, disclosure.Madrid)
	if err != nil || month.Total == 0 {
		return ""
	}
	return list(start.Format(time.DateOnly), start.AddDate(0, 1, -1).Format(time.DateOnly))
}

// monthsTable returns months, the newest first.
func (q *request) monthsTable(found []catalog.Monthly, list func(from, to string) string) *chart.Table {
	e := q.edition
	t := &chart.Table{Columns: e.typeColumns(chart.Column{Name: "month", Text: e.Text("chart.month")})}
	for i := len(found) - 1; i >= 0; i-- {
		m := found[i]
		month := chart.TextCell(m.Month)
		month.URL = listOfMonth(m, list)
		t.Rows = append(t.Rows, e.typeCells(month, m.Total, m.Counts))
	}
	return t
}

// linkedIssuer returns an issuer as an organization of schema.org.
func linkedIssuer(i *disclosure.Issuer, address string) map[string]any {
	out := map[string]any{
		"@context": "https://schema.org", "@type": "Organization", "@id": address,
		"name": i.Name, "url": address, "identifier": i.ID,
	}
	if cif := i.CIF(); cif != "" {
		out["taxID"] = cif
	}
	if i.Ticker != "" {
		out["@type"], out["tickerSymbol"] = "Corporation", i.Ticker
	}
	if i.LEI != "" {
		out["leiCode"] = i.LEI
	}
	if len(i.FormerNames) > 0 {
		out["alternateName"] = i.FormerNames
	}
	return out
}
