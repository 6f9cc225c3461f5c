package regulator

import (
	"context"
	"net/url"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/text"
)

// Holdings is what the register of significant holdings shows of an issuer.
type Holdings struct {
	Name      string // of the issuer, as the site titles its pages
	NIF       string // the spelling that answered; to be asked for first the next time
	SourceURL string // public link of the issuer's page of the register
	Rights    VotingRights
	Holdings  []Holding // the present table
	// Agreements are the rows of the present table that are a label for shareholders
	// who act together. Nobody of that name holds anything.
	Agreements []Holding
	Former     []Holding          // who are not in the present table any more, without percentages
	OwnShares  []HoldingNotice    // the issuer's notices of its own shares
	Annulments []HoldingAnnulment // of the rows whose history was read
	Received   time.Time
	Unknown    []Defect // columns that are not read
}

// VotingRights are the totals above the table of holdings. Those that the page does not
// show are empty.
type VotingRights struct {
	Total      string // with those that loyalty gives
	Shares     string // those of the shares
	Loyalty    string
	ModifiedOn disclosure.Day // when the total last changed; 0 if it is not shown
}

// Holding is a row of the present table. Percentages have a point, and are empty if the
// cell is. Holdings must never be added up: the rows of a chain of control are the same
// votes.
type Holding struct {
	Name         string // of who holds it, as written
	Shares       string // % of votes of shares (A)
	Direct       string // % of A
	Indirect     string // % of A
	Instruments  string // % of votes through financial instruments (B)
	Total        string // % A + B
	RegisteredOn disclosure.Day
	DocumentURL  string // public link of the last notice
	HasHistory   bool   // the page links its history
	HasAnnulled  bool   // the page links annulments
	Former       bool   // it is in the list of other notices, not in the present table

	// History are the notices of the row, if they were asked for and the page links them.
	// The number of the present notice is that of the one with the same document or day.
	History []HoldingNotice

	history, annulled step
}

// HoldingNotice is a notice of a history.
type HoldingNotice struct {
	Number       int64
	RegisteredOn disclosure.Day
	Shares       string // % A
	Instruments  string // % B
	Total        string // % A + B
	DocumentURL  string
}

// HoldingAnnulment says that a notice annuls others, which vanish from all lists.
type HoldingAnnulment struct {
	By     int64
	Annuls []AnnulledNotice
}

// AnnulledNotice is a notice that was annulled.
type AnnulledNotice struct {
	Number       int64
	RegisteredOn disclosure.Day // 0 if it is not named
}

// holdingsPage is the path of the hub of an issuer, up to its NIF.
const holdingsPage = "/portal/consultas/derechosvoto/ps_ac_ini?nif="

// HoldingsURL is the public link of the page of the register for an issuer. It is
// stable, unlike the pages it leads to.
func (c *Client) HoldingsURL(nif string) string {
	return c.site().public + "/portal/consultas/derechosvoto/ps_ac_ini.aspx?nif=" + url.QueryEscape(nif)
}

// The pages that a walk visits, as the links of the hub name them.
const (
	presentPage   = "notificaciones-participaciones"
	historyPage   = "notificacionesanteriores"
	otherPage     = "personasotrasnotificaciones"
	annulledPage  = "notificacionesanuladas"
	ownSharesPage = "autocartera"
	ownNotices    = "notificacionesanterioresac"
)

// Holdings walks the register of significant holdings and own shares of an issuer, from
// its hub to the histories for which need is true. It takes at most six requests, and up
// to two more for each of these rows.
//
// The site shows the register for one spelling of the NIF only: nif is asked for first,
// then its other spelling. It returns a fault.NotFound if the site knows neither.
func (c *Client) Holdings(ctx context.Context, nif string, need func(Holding) bool) (Holdings, error) {
	return c.ExamineHoldings(ctx, nif, need, func(HoldingPage) {})
}

// HoldingPage is a page of a walk, as ExamineHoldings reports it.
type HoldingPage struct {
	Page    string // one of HoldingPages
	Rows    int
	Unknown []Defect // columns that are not read
	Err     error
}

// HoldingPages are the pages of a walk in the order of reading.
var HoldingPages = []string{
	"holdings", "holdings-present", "holdings-others", "holdings-history", "holdings-annulled", "own-shares",
	"own-shares-history",
}

const (
	hubRead = iota
	presentRead
	othersRead
	historyRead
	annulledRead
	ownSharesRead
	ownNoticesRead
)

// ExamineHoldings is Holdings, and calls seen after every page, or after both spellings
// of the first one.
func (c *Client) ExamineHoldings(
	ctx context.Context, nif string, need func(Holding) bool, seen func(HoldingPage),
) (Holdings, error) {
	w := walk{
		client: c,
		need:   need,
		seen:   seen,
	}
	return w.run(ctx, nif)
}

// walk is the visit of one issuer. It is all or nothing: a table without its histories
// would look like one that has none.
type walk struct {
	client *Client
	need   func(Holding) bool
	seen   func(HoldingPage)
	out    Holdings
}

func (w *walk) run(ctx context.Context, nif string) (Holdings, error) {
	h, err := w.hub(ctx, nif)
	w.saw(hubRead, len(h.steps), nil, err)
	if err != nil {
		return Holdings{}, err
	}
	w.out.Name = h.name
	w.out.NIF = h.nif
	w.out.SourceURL = w.client.HoldingsURL(h.nif)
	for _, visit := range []func(context.Context, hub) error{w.present, w.ownShares} {
		if err := visit(ctx, h); err != nil {
			return Holdings{}, err
		}
	}
	return w.out, nil
}

// saw reports a page and keeps its unknown columns.
func (w *walk) saw(page, rows int, s *sheet, err error) {
	p := HoldingPage{
		Page: HoldingPages[page],
		Rows: rows,
		Err:  err,
	}
	if s != nil {
		p.Unknown = s.unknown
		w.out.Unknown = append(w.out.Unknown, s.unknown...)
	}
	w.seen(p)
}

// hub is the first page of an issuer and what it links.
type hub struct {
	name  string
	nif   string
	steps map[string]step
}

// hub reads the hub with one spelling of the NIF, then with the other. A page that names
// the issuer and links nothing may be the one of the wrong spelling.
func (w *walk) hub(ctx context.Context, nif string) (hub, error) {
	spellings := []string{nif}
	if other, ok := disclosure.OtherSpelling(nif); ok {
		spellings = append(spellings, other)
	}
	named := hub{}
	for _, spelling := range spellings {
		a, err := w.client.get(ctx, holdingsPage+url.QueryEscape(spelling), w.client.limits.page)
		if err != nil {
			return hub{}, err
		}
		w.out.Received = a.received
		h, err := parseHub(a.body)
		if err := w.client.checkRedirects(&a, err); err != nil {
			return hub{}, err
		}
		h.nif = spelling
		if len(h.steps) > 0 {
			return h, nil
		}
		if h.name != "" && named.name == "" {
			named = h
		}
	}
	if named.name == "" {
		return hub{}, fault.New(fault.NotFound, "the regulator's register of holdings does not have the issuer %.40q", nif)
	}
	return named, nil
}

// page reads a page of the walk. It must be of the issuer of the hub: tokens lead to what
// a session looked at last.
func (w *walk) page(ctx context.Context, surface string, to step) (*sheet, error) {
	a, err := w.client.get(ctx, to.path(), w.client.limits.page)
	if err != nil {
		return nil, err
	}
	w.out.Received = a.received
	s, err := openSheet(surface, a.body)
	if err != nil {
		return nil, err
	}
	if s.entity != "" && text.Fold(s.entity) != text.Fold(w.out.Name) {
		s.defects.fail(0, "it is of %.80q instead of %.80q", s.entity, w.out.Name)
		return nil, s.defects.err()
	}
	return s, nil
}

// present reads the present table, and what its rows link.
func (w *walk) present(ctx context.Context, h hub) error {
	to, ok := h.steps[presentPage]
	if !ok {
		return nil
	}
	s, err := w.page(ctx, "table of holdings", to)
	var table presentTable
	if err == nil {
		table, err = s.present(w.client.site())
	}
	w.saw(presentRead, len(table.rows), s, err)
	if err != nil {
		return err
	}
	w.out.Rights = table.rights
	for _, row := range table.rows {
		if isAgreement(row.Name) {
			w.out.Agreements = append(w.out.Agreements, row)
		} else {
			w.out.Holdings = append(w.out.Holdings, row)
		}
	}
	if table.others.page != "" {
		if err := w.others(ctx, table.others); err != nil {
			return err
		}
	}
	return w.histories(ctx)
}

// others reads the list of those who are not in the present table any more.
func (w *walk) others(ctx context.Context, to step) error {
	s, err := w.page(ctx, "list of other holdings", to)
	if err == nil {
		w.out.Former, err = s.others()
	}
	w.saw(othersRead, len(w.out.Former), s, err)
	return err
}

// histories reads the histories and annulments of the rows that need them.
func (w *walk) histories(ctx context.Context) error {
	for _, rows := range [][]Holding{w.out.Holdings, w.out.Former} {
		for n := range rows {
			row := &rows[n]
			if !row.HasHistory && !row.HasAnnulled || !w.need(*row) {
				continue
			}
			if err := w.history(ctx, row); err != nil {
				return err
			}
			if err := w.annulments(ctx, row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) history(ctx context.Context, row *Holding) error {
	if !row.HasHistory {
		return nil
	}
	s, err := w.page(ctx, "history of a holding", row.history)
	if err == nil {
		row.History, err = s.history(row.Name, w.client.site())
	}
	w.saw(historyRead, len(row.History), s, err)
	return err
}

func (w *walk) annulments(ctx context.Context, row *Holding) error {
	if !row.HasAnnulled {
		return nil
	}
	s, err := w.page(ctx, "page of annulments", row.annulled)
	var found []HoldingAnnulment
	if err == nil {
		found, err = s.annulments()
	}
	w.saw(annulledRead, len(found), s, err)
	w.out.Annulments = append(w.out.Annulments, found...)
	return err
}

// ownShares reads the notices of own shares. Their history has a page of its own, or is
// on the page that leads to it.
func (w *walk) ownShares(ctx context.Context, h hub) error {
	to, ok := h.steps[ownSharesPage]
	if !ok {
		return nil
	}
	s, err := w.page(ctx, "page of own shares", to)
	if err != nil {
		w.saw(ownSharesRead, 0, nil, err)
		return err
	}
	if next, ok := steps(s.root)[ownNotices]; ok {
		w.saw(ownSharesRead, 1, s, nil)
		if s, err = w.page(ctx, "history of own shares", next); err == nil {
			w.out.OwnShares, err = s.history("", w.client.site())
		}
		w.saw(ownNoticesRead, len(w.out.OwnShares), s, err)
		return err
	}
	if s.find(historyGrid) == nil {
		err = s.noTable("history of own shares")
	} else {
		w.out.OwnShares, err = s.history("", w.client.site())
	}
	w.saw(ownSharesRead, len(w.out.OwnShares), s, err)
	return err
}
