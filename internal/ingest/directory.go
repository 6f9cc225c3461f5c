package ingest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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
	directoryRetry = 10 * time.Minute
	detailsEvery   = 30 * 24 * time.Hour // for shares whose line in the list did not change
)

// refreshDirectory reads registers and exchange once a day. What they fail to
// show stays: only new words change an issuer.
func (s *session) refreshDirectory(ctx context.Context) error {
	for {
		s.refresh(ctx, watch.Register, s.refreshRegisters)
		if s.Exchange != nil {
			s.refresh(ctx, watch.Exchange, s.refreshExchange)
		}
		if err := pause(ctx, time.Minute); err != nil {
			return err
		}
	}
}

// refresh does one of them when it is due.
func (s *session) refresh(ctx context.Context, surface string, do func(context.Context) error) {
	s.directory.Lock()
	defer s.directory.Unlock()
	tried := surface + "/tried"
	if time.Since(s.Ledger.Clock(surface)) < directoryEvery || time.Since(s.Ledger.Clock(tried)) < directoryRetry {
		return
	}
	began := time.Now()
	err := s.note(ctx, surface, do(ctx))
	clock := surface
	if err != nil {
		clock = tried
		if ctx.Err() == nil {
			s.Logger.Warn("the directory could not be refreshed", "surface", surface, "err", err)
		}
	} else {
		s.Logger.Info("directory refreshed", "surface", surface, "took", time.Since(began))
	}
	_ = s.Ledger.SetClock(ctx, s.lease, clock, began) // else it is done again, which does no harm
}

// roll joins what several registers tell of the same issuer. The catalogue may
// not yet show what this refresh appended.
type roll struct {
	s  *session
	at map[string]disclosure.Issuer // by every key
}

func (s *session) newRoll() *roll { return &roll{s: s, at: map[string]disclosure.Issuer{}} }

// find returns the issuer that one of the keys names.
func (r *roll) find(keys ...string) (disclosure.Issuer, bool) {
	for _, key := range keys {
		if key = disclosure.IssuerKey(key); key == "" {
			continue
		}
		if i, ok := r.at[key]; ok {
			return i, true
		}
		if i, ok := r.s.Known.Issuer(key); ok {
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
	if err := r.s.claim(ctx); err != nil {
		return err
	}
	if _, err := r.s.Store.Append(ctx, store.Batch{Issuers: good, Lease: r.s.lease}); r.s.note(ctx, watch.Store, err) != nil {
		return fmt.Errorf("keeping %d issuers: %w", len(good), err)
	}
	for _, i := range good {
		for _, key := range i.Keys() {
			r.at[key] = i
		}
	}
	return nil
}

// refreshRegisters reads the lists of managers and funds, which give NIF and
// register number, and then the open data, which give ISINs by register number.
func (s *session) refreshRegisters(ctx context.Context) error {
	r := s.newRoll()
	client := s.Regulator.For(pace.Registers)
	managers, err := client.Managers(ctx)
	failed := errors.Join(err, r.entities(ctx, managers.Entities))
	for _, register := range regulator.FundRegisters {
		failed = errors.Join(failed, r.register(ctx, client, register))
	}
	return errors.Join(failed, r.openData(ctx, client))
}

// register reads a register page by page.
func (r *roll) register(ctx context.Context, client *regulator.Client, register regulator.Register) error {
	seen := map[string]bool{}
	for page := 0; page < mostPages; page++ {
		list, err := client.Funds(ctx, register, page)
		var fresh []regulator.Entity
		for _, e := range list.Entities {
			if key := e.Name + e.NIF; !seen[key] {
				seen[key] = true
				fresh = append(fresh, e)
			}
		}
		if err := errors.Join(err, r.entities(ctx, fresh)); err != nil {
			return fmt.Errorf("register %s, list %d, page %d: %w", register.Name, register.List, page, err)
		}
		if len(fresh) == 0 || page+1 >= list.Pages {
			return nil
		}
	}
	return nil
}

// entities keeps what a register tells. An issuer that is known under another
// of its identifiers keeps its id.
func (r *roll) entities(ctx context.Context, entities []regulator.Entity) error {
	var out []disclosure.Issuer
	for n := range entities {
		i := entities[n].Issuer()
		if known, ok := r.find(i.Keys()...); ok && known.ID != i.ID {
			i.Aliases = append(i.Aliases, i.ID)
			i.ID = known.ID
		}
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
	records, digest, err := client.FundRecords(ctx, newest)
	if err != nil {
		return err
	}
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
	if err := r.append(ctx, out); err != nil {
		return err
	}
	return r.s.Ledger.SetMemo(ctx, r.s.lease, memo, label+" "+hex.EncodeToString(digest[:8]))
}

// listing is what is remembered of a share, to ask for its details seldom.
type listing struct {
	Row    string    `json:"row"`
	Ticker string    `json:"ticker,omitempty"`
	NIF    string    `json:"nif,omitempty"`
	At     time.Time `json:"at"`
}

// refreshExchange reads what is listed, and the details of what is new there.
func (s *session) refreshExchange(ctx context.Context) error {
	shares, err := s.Exchange.Listed(ctx)
	if err != nil {
		return err
	}
	r := s.newRoll()
	for _, share := range shares {
		l, err := s.listing(ctx, share)
		if err != nil {
			return fmt.Errorf("share %s: %w", share.ISIN, err)
		}
		i := disclosure.Issuer{
			ID: l.NIF, Name: share.Name, NIF: l.NIF, Ticker: l.Ticker, Market: share.Market(),
			Kind: disclosure.Company, ISINs: []string{share.ISIN},
		}
		known, ok := r.find(l.NIF, share.ISIN)
		if !ok {
			known, ok = s.Known.Named(share.Name)
			ok = ok && (l.NIF == "" || known.NIF == "") // else it is another of that name
		}
		switch {
		case ok:
			i.ID, i.Name = known.ID, known.Name // the regulator spells it as it is
		case l.NIF == "":
			i.ID = "exchange-" + share.CompanyKey
		}
		if err := r.append(ctx, []disclosure.Issuer{i}); err != nil {
			return err
		}
	}
	return nil
}

// listing returns the details of a share, asking for them when they are not
// known, or the share's line has changed, or it is long ago.
func (s *session) listing(ctx context.Context, share exchange.Share) (listing, error) {
	memo := "exchange/" + share.ISIN
	var l listing
	if json.Unmarshal([]byte(s.Ledger.Memo(memo)), &l) == nil && l.Row == share.Fingerprint() && time.Since(l.At) < detailsEvery {
		return l, nil
	}
	l = listing{Row: share.Fingerprint(), At: time.Now().UTC()}
	var err error
	if l.Ticker, err = s.Exchange.Ticker(ctx, share.ISIN); err != nil && fault.KindOf(err) != fault.NotFound {
		return l, err
	}
	if l.NIF, err = s.Exchange.NIF(ctx, share.CompanyKey); err != nil && fault.KindOf(err) != fault.NotFound {
		return l, err
	}
	text, err := json.Marshal(l)
	if err != nil {
		return l, err
	}
	return l, s.Ledger.SetMemo(ctx, s.lease, memo, string(text))
}
