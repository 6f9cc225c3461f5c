package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/exchange"
)

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

// due reports whether the details are to be asked for: they are not known, or
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
		_ = json.Unmarshal([]byte(r.s.Coverage.Value(all[n].memo())), &all[n].listing) // else it is asked for
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
		if err := s.Coverage.SetValue(ctx, s.lease, l.memo(), string(text)); err != nil {
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
