package ingest

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/exchange"
	"pregon/internal/fault"
	"pregon/internal/pace"
	"pregon/internal/regulator"
	"pregon/internal/store"
	"pregon/internal/watch"
)

const (
	directoryEvery = 24 * time.Hour
	directoryRetry = 10 * time.Minute    // after the first failure; it doubles with each
	directorySlow  = 6 * time.Hour       // the longest wait after a failure
	detailsEvery   = 30 * 24 * time.Hour // for shares whose line in the list did not change
	mostAway       = 5                   // shares in a row that fail before the exchange counts as away
)

// part is something of the directory that is read by itself: what fails is
// tried again without the rest.
type part struct {
	name string // of the clock that tells when it was last read to its end
	read func(context.Context, *roll) error
}

// setback is what is remembered of a part that failed.
type setback struct {
	Tries int       `json:"tries"` // in a row
	At    time.Time `json:"at"`
	Why   string    `json:"why"` // as it may be told
}

// lacking is the failure of single rows of what was otherwise read to its end.
type lacking struct{ error }

func (l lacking) Unwrap() error { return l.error }

func lackingRows(err error) error {
	if partly(err) {
		return lacking{err}
	}
	return err
}

// refreshDirectory reads registers and exchange once a day. What they fail to
// show stays: only new words change an issuer.
func (s *session) refreshDirectory(ctx context.Context) error {
	s.recall(watch.Register, s.registers())
	s.recall(watch.Exchange, s.exchange())
	for {
		s.refreshAll(ctx)
		if err := pause(ctx, time.Minute); err != nil {
			return err
		}
	}
}

// recall tells the board what failed in an earlier term and is not yet tried
// again.
func (s *session) recall(surface string, parts []part) {
	var worst setback
	for _, p := range parts {
		if last := s.setback(p); last.Tries > worst.Tries {
			worst = last
		}
	}
	if worst.Tries > 0 {
		s.board.Fail(surface, worst.Why, worst.Tries > 1)
	}
}

// refreshAll reads what is due of registers and exchange.
func (s *session) refreshAll(ctx context.Context) {
	s.directory.Lock()
	defer s.directory.Unlock()
	r := s.newRoll()
	s.refresh(ctx, r, watch.Register, s.registers())
	s.refresh(ctx, r, watch.Exchange, s.exchange())
}

// registers are the lists of managers and funds, which give NIF and register
// number, and then the open data, which give ISINs by register number.
func (s *session) registers() []part {
	client := s.Regulator.For(pace.Registers)
	parts := []part{{watch.Register + "/managers", func(ctx context.Context, r *roll) error {
		return r.register(ctx, "the managers", func(ctx context.Context, _ int) (regulator.Entities, error) { return client.Managers(ctx) })
	}}}
	for _, register := range regulator.FundRegisters {
		name := fmt.Sprintf("%s-%d", register.Name, register.List)
		parts = append(parts, part{watch.Register + "/" + name, func(ctx context.Context, r *roll) error {
			return r.register(ctx, name, func(ctx context.Context, page int) (regulator.Entities, error) {
				return client.Funds(ctx, register, page)
			})
		}})
	}
	return append(parts, part{watch.Register + "/opendata", func(ctx context.Context, r *roll) error { return r.openData(ctx, client) }})
}

// exchange is one part: it remembers every share by itself.
func (s *session) exchange() []part {
	if s.Exchange == nil {
		return nil
	}
	return []part{{watch.Exchange, func(ctx context.Context, r *roll) error { return r.exchange(ctx) }}}
}

// refresh reads the parts of a surface that are due. The surface is well when
// all of them are; its clock tells when the last of them was read to its end.
func (s *session) refresh(ctx context.Context, r *roll, surface string, parts []part) {
	var failed error
	tried, whole, well := false, true, true
	began := time.Now()
	for _, p := range parts {
		if s.due(p) {
			tried = true
			err := s.try(ctx, r, p)
			if ctx.Err() != nil || lost(err) {
				return
			}
			failed = cmp.Or(failed, err)
		}
		last, done := s.setback(p), s.Ledger.Clock(p.name)
		well = well && last.Tries == 0
		whole = whole && !done.IsZero() && !done.Before(last.At)
	}
	if !tried {
		return
	}
	if failed != nil || well { // else what failed before waits to be tried again
		_ = s.note(ctx, surface, failed)
	}
	if whole {
		_ = s.Ledger.SetClock(ctx, s.lease, surface, began) // else after the next reading
	}
	if failed == nil {
		s.Logger.Info("directory refreshed", "surface", surface, "took", time.Since(began))
	}
}

// due tells whether a part is to be read: daily, and after a failure sooner.
func (s *session) due(p part) bool {
	if last := s.setback(p); last.Tries > 0 {
		return time.Since(last.At) >= last.wait()
	}
	return time.Since(s.Ledger.Clock(p.name)) >= directoryEvery
}

// wait doubles with every failure.
func (b setback) wait() time.Duration {
	return min(directoryRetry<<min(max(b.Tries-1, 0), 10), directorySlow)
}

func (p part) memo() string { return p.name + "/failed" }

// setback returns how a part failed; no tries mean that it did not.
func (s *session) setback(p part) (last setback) {
	_ = json.Unmarshal([]byte(s.Ledger.Memo(p.memo())), &last) // nothing is no setback
	return last
}

// try reads a part and remembers how that went. If it cannot be remembered it
// is done again, which does no harm.
func (s *session) try(ctx context.Context, r *roll, p part) error {
	err := p.read(ctx, r)
	if ctx.Err() != nil {
		return ctx.Err() // which says nothing of the source
	}
	now := time.Now().UTC().Truncate(time.Second) // as clocks are kept
	if last := s.setback(p); err != nil {
		s.Logger.Warn("the directory could not be refreshed", "part", p.name, "tries", last.Tries+1, "err", err)
		text, _ := json.Marshal(setback{Tries: last.Tries + 1, At: now, Why: trouble(err)})
		_ = s.Ledger.SetMemo(ctx, s.lease, p.memo(), string(text))
	} else if last.Tries > 0 {
		_ = s.Ledger.SetMemo(ctx, s.lease, p.memo(), "")
	}
	if _, rows := errors.AsType[lacking](err); err == nil || rows {
		_ = s.Ledger.SetClock(ctx, s.lease, p.name, now)
	}
	return err
}

// roll joins what several registers tell of the same issuer. The catalogue may
// not yet show what this refresh appended.
type roll struct {
	s     *session
	at    map[string]disclosure.Issuer // by every key
	named map[string]string            // names that registers told, by id
}

func (s *session) newRoll() *roll {
	return &roll{s: s, at: map[string]disclosure.Issuer{}, named: map[string]string{}}
}

// find returns the issuer that one of the keys names.
func (r *roll) find(keys ...string) (disclosure.Issuer, bool) {
	for _, key := range keys {
		if key = disclosure.IssuerKey(key); key == "" {
			continue
		}
		if i, ok := r.at[key]; ok {
			return i, true
		}
		if i, ok := r.s.known.Issuer(key); ok {
			return i, true
		}
	}
	return disclosure.Issuer{}, false
}

// append keeps issuers and remembers them.
func (r *roll) append(ctx context.Context, issuers []disclosure.Issuer) error {
	var good []disclosure.Issuer
	for _, i := range issuers {
		if err := i.Validate(); err != nil {
			r.s.Logger.Warn("a register tells something odd", "err", err)
			continue
		}
		good = append(good, i)
	}
	if len(good) == 0 {
		return nil
	}
	err := r.s.claim(ctx)
	if err == nil {
		_, err = r.s.Store.Append(ctx, store.Batch{Issuers: good, Lease: r.s.lease})
	}
	if err := r.s.note(ctx, watch.Store, notKept(err)); err != nil {
		return fmt.Errorf("keeping %d issuers: %w", len(good), err)
	}
	for _, i := range good {
		all := i
		if known, ok := r.find(i.ID); ok && known.ID == i.ID {
			all, _ = known.Merge(i)
		}
		for _, key := range all.Keys() {
			r.at[key] = all
		}
	}
	return nil
}

// register reads a register page by page. Rows that cannot be read do not hide
// those behind them.
func (r *roll) register(ctx context.Context, name string, read func(context.Context, int) (regulator.Entities, error)) error {
	var broken error // the first trouble with rows
	seen := map[string]bool{}
	pages := 1
	for page := 0; page < min(pages, mostPages); page++ {
		list, err := read(ctx, page)
		var fresh []regulator.Entity
		for _, e := range list.Entities {
			if key := e.Name + e.NIF; !seen[key] {
				seen[key] = true
				fresh = append(fresh, e)
			}
		}
		if kept := r.entities(ctx, fresh); kept != nil {
			return kept
		}
		pages = max(pages, list.Pages)
		if err != nil && (!partly(err) || len(fresh) == 0 && page+1 < pages) {
			return fmt.Errorf("%s, page %d: %w", name, page+1, err)
		}
		broken = cmp.Or(broken, err)
		if len(fresh) == 0 {
			break // past its end a list may go on for ever
		}
	}
	return lackingRows(broken)
}

// entities keeps what a register tells. An issuer that is known under another
// of its identifiers keeps its id. Where two rows name it differently, the
// first counts: else each refresh would rename it twice.
func (r *roll) entities(ctx context.Context, entities []regulator.Entity) error {
	var out []disclosure.Issuer
	for n := range entities {
		i := entities[n].Issuer()
		if known, ok := r.find(i.Keys()...); ok && known.ID != i.ID {
			i.Aliases = append(i.Aliases, i.ID)
			i.ID = known.ID
		}
		if name, ok := r.named[i.ID]; ok {
			i.Name, i.Kind = name, ""
		}
		r.named[i.ID] = i.Name
		out = append(out, i)
	}
	return r.append(ctx, out)
}

// openData reads the newest package of the funds' register if it is another
// than last time.
func (r *roll) openData(ctx context.Context, client *regulator.Client) error {
	const memo = "opendata"
	year := time.Now().In(disclosure.Madrid).Year()
	packages, err := client.OpenData(ctx, year)
	if err == nil && len(packages) == 0 {
		packages, err = client.OpenData(ctx, year-1) // in January
	}
	if err != nil || len(packages) == 0 {
		return err
	}
	newest := packages[0]
	for _, p := range packages {
		if p.Month > newest.Month {
			newest = p
		}
	}
	label := fmt.Sprintf("%d-%02d %s", newest.Year, newest.Month, newest.Link)
	before := r.s.Ledger.Memo(memo)
	if strings.HasPrefix(before, label) {
		return nil
	}
	records, digest, broken := client.FundRecords(ctx, newest)
	if broken != nil && len(records) == 0 {
		return broken
	}
	if err := r.append(ctx, r.funds(records)); err != nil {
		return err
	}
	if broken != nil {
		return lackingRows(broken)
	}
	return notKept(r.s.Ledger.SetMemo(ctx, r.s.lease, memo, label+" "+hex.EncodeToString(digest[:8])))
}

// funds returns what records tell: ISINs, and funds that no list shows.
func (r *roll) funds(records []regulator.FundRecord) []disclosure.Issuer {
	var out []disclosure.Issuer
	for _, record := range records {
		key := fmt.Sprintf("%s-%d", record.Register, record.Number)
		i, ok := r.find(key)
		switch {
		case ok:
			i = disclosure.Issuer{ID: i.ID, Name: i.Name, ISINs: record.ISINs, Aliases: []string{key}}
			if i.ID == key {
				i.Aliases = nil
			}
		case record.Gone:
			continue
		default:
			i = disclosure.Issuer{ID: key, Name: record.Name, Kind: disclosure.Fund, ISINs: record.ISINs}
		}
		out = append(out, i)
	}
	return out
}

// listing is what is remembered of a share, to ask for its details seldom.
type listing struct {
	Row    string    `json:"row"`
	Ticker string    `json:"ticker,omitempty"`
	NIF    string    `json:"nif,omitempty"`
	At     time.Time `json:"at"`              // zero before the details were told
	Failed time.Time `json:"failed,omitzero"` // when they were asked for in vain, since then
}

// listed is a share with its details.
type listed struct {
	exchange.Share
	listing
	issuer *disclosure.Issuer // whose it is, if that is known
}

func (l *listed) memo() string { return "exchange/" + l.ISIN }

// due tells whether the details are to be asked for: they are not known, or
// the share's line has changed, or it is long ago.
func (l *listed) due() bool {
	return l.Row != l.Fingerprint() || !l.Failed.IsZero() || time.Since(l.At) >= detailsEvery
}

// exchange reads what is listed, and the details of what is new there. What it
// learns before it has to give up counts.
func (r *roll) exchange(ctx context.Context) error {
	shares, err := r.s.Exchange.Listed(ctx)
	if err != nil {
		return err
	}
	all := make([]listed, len(shares))
	for n, share := range shares {
		all[n].Share = share
		_ = json.Unmarshal([]byte(r.s.Ledger.Memo(all[n].memo())), &all[n].listing) // else it is asked for
	}
	failed := r.s.details(ctx, all)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var out []disclosure.Issuer
	for _, c := range r.companies(all) {
		if i, ok := c.issuer(); ok {
			out = append(out, i)
		}
	}
	if err := r.append(ctx, out); err != nil {
		return err
	}
	return failed
}

// details asks for the details that are due. Single shares that fail are passed
// over; it gives up when the exchange forbids it to go on, or is away.
func (s *session) details(ctx context.Context, all []listed) error {
	var ask []*listed
	for n := range all {
		if all[n].due() {
			ask = append(ask, &all[n])
		}
	}
	// What failed last time comes last: it cannot keep us from the others.
	slices.SortStableFunc(ask, func(a, b *listed) int { return a.Failed.Compare(b.Failed) })
	nifs := map[string]string{} // by company: classes of shares have the same
	var first error
	failures, inRow := 0, 0
	for _, l := range ask {
		before := l.Failed
		err := s.detail(ctx, l, nifs)
		if ctx.Err() != nil || fault.KindOf(err) == fault.RateLimited {
			return err
		}
		text, _ := json.Marshal(l.listing)
		if err := s.Ledger.SetMemo(ctx, s.lease, l.memo(), string(text)); err != nil {
			return notKept(err)
		}
		if err == nil {
			inRow = 0
			continue
		}
		s.Logger.Debug("a share's details cannot be had", "isin", l.ISIN, "err", err)
		first = cmp.Or(first, err)
		if failures++; before.IsZero() { // others say nothing of the exchange as a whole
			inRow++
		}
		if inRow == mostAway {
			return fault.Wrap(fault.Unavailable, err, "the details of %d shares in a row cannot be had: %s", inRow, trouble(err))
		}
	}
	if failures == 0 {
		return nil
	}
	return lacking{fault.Wrap(fault.Unavailable, first, "the details of %d of %d shares cannot be had: %s", failures, len(all), trouble(first))}
}

// detail asks for the details of a share. What is known of it stays when they
// cannot be had.
func (s *session) detail(ctx context.Context, l *listed, nifs map[string]string) error {
	now := time.Now().UTC()
	l.Failed = now
	ticker, err := s.Exchange.Ticker(ctx, l.ISIN)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	nif, known := nifs[l.CompanyKey]
	if !known && l.CompanyKey != "" {
		if nif, err = s.Exchange.NIF(ctx, l.CompanyKey); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		nifs[l.CompanyKey] = nif
	}
	l.listing = listing{Row: l.Fingerprint(), Ticker: ticker, NIF: nif, At: now}
	return nil
}

// company is the shares of one issuer, which has one for each class.
type company []listed

// companies joins the shares of every issuer, in the order of the list.
func (r *roll) companies(all []listed) []company {
	var out []company
	at := map[string]int{} // where the company is, by all that names it
	for _, l := range all {
		if i, ok := r.issuerOf(&l); ok {
			l.issuer = &i
		}
		keys := l.keys()
		to := len(out)
		for _, key := range keys {
			if n, ok := at[key]; ok {
				to = min(to, n)
			}
		}
		if to == len(out) {
			out = append(out, nil)
		}
		for _, key := range keys {
			if from, ok := at[key]; ok && from != to { // one and the same after all
				out[to], out[from] = append(out[to], out[from]...), nil
				for k, n := range at {
					if n == from {
						at[k] = to
					}
				}
			}
			at[key] = to
		}
		out[to] = append(out[to], l)
	}
	return slices.DeleteFunc(out, func(c company) bool { return len(c) == 0 })
}

// issuerOf returns the issuer of a share as it is known.
func (r *roll) issuerOf(l *listed) (disclosure.Issuer, bool) {
	if i, ok := r.find(l.NIF, l.ISIN, l.id()); ok || l.At.IsZero() {
		return i, ok
	}
	i, ok := r.s.known.Named(l.Name)
	return i, ok && (l.NIF == "" || i.NIF == "") // else it is another of that name
}

// id is what an issuer without a NIF is kept under.
func (l *listed) id() string { return "exchange-" + cmp.Or(l.CompanyKey, l.ISIN) }

// keys are what two shares of one issuer may have in common. Names count only
// where there are no numbers.
func (l *listed) keys() []string {
	keys := []string{l.id()}
	if l.issuer != nil {
		keys = append(keys, "issuer "+l.issuer.ID)
	}
	switch {
	case l.NIF != "":
		keys = append(keys, "nif "+l.NIF)
	case !l.At.IsZero() && l.Name != "":
		keys = append(keys, "name "+strings.ToUpper(l.Name))
	}
	return keys
}

// issuer returns what the exchange tells of a company: its ISINs, and the
// ticker and market of its main share. Name, NIF and kind are the regulator's
// to tell: the exchange tells them of those who have none.
func (c company) issuer() (i disclosure.Issuer, ok bool) {
	var known disclosure.Issuer
	nif := ""
	for _, l := range c {
		nif = cmp.Or(nif, l.NIF)
		if l.issuer != nil && (known.ID == "" || nif != "" && known.CIF() != nif && l.issuer.CIF() == nif) {
			known = *l.issuer
		}
		i.ISINs = append(i.ISINs, l.ISIN)
	}
	share, sure := c.main(known.Ticker)
	if share.At.IsZero() {
		return i, false // of none of its shares anything is known
	}
	i.ID = cmp.Or(known.ID, nif, share.id())
	i.Name = cmp.Or(known.Name, share.Name)
	if known.NIF == "" {
		i.NIF = nif
	}
	if known.Kind == "" {
		i.Kind = disclosure.Company
	}
	if sure {
		i.Ticker, i.Market = share.Ticker, share.Market()
	}
	return i, true
}

// markets are where a company's main share is looked for, the first first.
var markets = []string{"SIBE", "Floor", "Latibex", "BME Growth", "BME Scaleup"}

// main returns the main share: the one under whose ticker the issuer is known,
// else the ordinary one, which has the better market or the shorter ticker.
// While the details of a share are not known, that may be another.
func (c company) main(ticker string) (main listed, sure bool) {
	rank := func(l listed) []int {
		first := func(yes bool) int {
			if yes {
				return 0
			}
			return 1
		}
		return []int{
			first(!l.At.IsZero()), first(l.Ticker != "" && l.Ticker == ticker), first(l.Ticker != ""),
			slices.Index(markets, l.Market()), len(l.Ticker),
		}
	}
	main = slices.MinFunc(c, func(a, b listed) int { return slices.Compare(rank(a), rank(b)) })
	lacks := slices.ContainsFunc(c, func(l listed) bool { return l.At.IsZero() })
	return main, !lacks || main.Ticker != "" && main.Ticker == ticker
}
