package directory

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/coverage"
	"pregon/internal/source/exchange"
	"pregon/internal/source/regulator"
	"pregon/internal/store"
)

// details are the stored details of a share, which are seldom read again.
type details struct {
	Row    string    `json:"row"` // fingerprint of the row in the list
	Ticker string    `json:"ticker,omitempty"`
	NIF    string    `json:"nif,omitempty"`
	At     time.Time `json:"at"`              // when they were read; zero for never
	Failed time.Time `json:"failed,omitzero"` // when reading them failed since then
}

// listed is a share with its details.
type listed struct {
	exchange.Share
	details
	issuer *disclosure.Issuer // nil while it is not known
}

// detailsKey is the key under which the details are stored.
func (l *listed) detailsKey() string { return "exchange/" + l.ISIN }

// due reports whether the details are to be read: the row in the list changed,
// the last try failed, or they are old.
func (l *listed) due() bool {
	return l.Row != l.Fingerprint() || !l.Failed.IsZero() || coverage.Elapsed(l.At, detailsEvery)
}

// exchange reads the list of shares and the details of those that changed. The
// issuers of details that were read before a failure are appended.
func (j *joiner) exchange(ctx context.Context) error {
	shares, err := j.Exchange.Listed(ctx)
	if err != nil {
		return err
	}
	all := make([]listed, len(shares))
	for n, share := range shares {
		all[n].Share = share
		// without a value they are due
		_ = json.Unmarshal([]byte(j.Coverage.Value(all[n].detailsKey())), &all[n].details)
	}
	failed := j.readDetails(ctx, all)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var out []disclosure.Issuer
	for _, c := range j.companies(all) {
		if i, ok := c.issuer(); ok {
			out = append(out, i)
		}
	}
	if err := j.append(ctx, out); err != nil {
		return err
	}
	return failed
}

// readDetails reads the details that are due. It skips single shares that fail.
// It stops when the exchange asks for no more requests or is unavailable.
func (j *joiner) readDetails(ctx context.Context, all []listed) error {
	var due []*listed
	for n := range all {
		if all[n].due() {
			due = append(due, &all[n])
		}
	}
	// Shares that failed before come last, so that they do not block the others.
	slices.SortStableFunc(due, func(a, b *listed) int { return a.Failed.Compare(b.Failed) })
	nifs := map[string]string{} // by company: classes of shares have the same
	var first error
	failures, inRow := 0, 0
	for _, l := range due {
		before := l.Failed
		err := j.readShare(ctx, l, nifs)
		if ctx.Err() != nil || fault.KindOf(err) == fault.RateLimited {
			return err
		}
		text, _ := json.Marshal(l.details)
		if err := j.Coverage.SetValue(ctx, j.Lease, l.detailsKey(), string(text)); err != nil {
			return store.Unavailable(err)
		}
		if err == nil {
			inRow = 0
			continue
		}
		j.Logger.Debug("the details of a share cannot be read", "isin", l.ISIN, "err", err)
		first = cmp.Or(first, err)
		if failures++; before.IsZero() { // one that failed before says nothing about the exchange
			inRow++
		}
		if inRow == mostFailures {
			return fault.Wrap(fault.Unavailable, err, "the details of %d shares in a row cannot be read: %s",
				inRow, regulator.Reason(err))
		}
	}
	if failures == 0 {
		return nil
	}
	return rowsError{fault.Wrap(fault.Unavailable, first, "the details of %d of %d shares cannot be read: %s",
		failures, len(all), regulator.Reason(first))}
}

// readShare reads the details of a share. If that fails, the known ones stay.
func (j *joiner) readShare(ctx context.Context, l *listed, nifs map[string]string) error {
	now := time.Now().UTC()
	l.Failed = now
	ticker, err := j.Exchange.Ticker(ctx, l.ISIN)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	nif, known := nifs[l.CompanyKey]
	if !known && l.CompanyKey != "" {
		if nif, err = j.Exchange.NIF(ctx, l.CompanyKey); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		nifs[l.CompanyKey] = nif
	}
	l.details = details{
		Row:    l.Fingerprint(),
		Ticker: ticker,
		NIF:    nif,
		At:     now,
	}
	return nil
}

// company is the shares of one issuer, one of each class.
type company []listed

// companies groups the shares by issuer, in the order of the list.
func (j *joiner) companies(all []listed) []company {
	var out []company
	at := map[string]int{} // index in out, by every key of the company
	for _, l := range all {
		if i, ok := j.issuerOf(&l); ok {
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
			if from, ok := at[key]; ok && from != to { // this share joins two groups
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

// issuerOf returns the known issuer of a share. A name alone decides only while
// the share or the issuer has no NIF.
func (j *joiner) issuerOf(l *listed) (disclosure.Issuer, bool) {
	if i, ok := j.find(l.NIF, l.ISIN, l.id()); ok || l.At.IsZero() {
		return i, ok
	}
	i, ok := j.Known.Named(l.Name)
	return i, ok && (l.NIF == "" || i.NIF == "")
}

// id returns the id of an issuer without a NIF.
func (l *listed) id() string { return "exchange-" + cmp.Or(l.CompanyKey, l.ISIN) }

// keys returns what two shares of one issuer have in common. The name is a key
// only of a share without a NIF.
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

// issuer returns the issuer of a company with its ISINs and the ticker and market
// of its main share. The exchange sets name, NIF and kind only where the
// regulator gave none. ok is false while no share has details.
func (c company) issuer() (i disclosure.Issuer, ok bool) {
	var known disclosure.Issuer
	nif := ""
	for _, l := range c {
		nif = cmp.Or(nif, l.NIF)
		if l.issuer != nil {
			isBetter := nif != "" && known.CIF() != nif && l.issuer.CIF() == nif
			if known.ID == "" || isBetter {
				known = *l.issuer
			}
		}
		i.ISINs = append(i.ISINs, l.ISIN)
	}
	share, sure := c.main(known.Ticker)
	if share.At.IsZero() {
		return i, false
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

// main returns the main share: the one with the known ticker of the issuer, or
// else the ordinary one, which has the better market or the shorter ticker. sure
// is false while a share without details may be the main one.
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
			slices.Index(disclosure.Markets, l.Market()), len(l.Ticker),
		}
	}
	main = slices.MinFunc(c, func(a, b listed) int { return slices.Compare(rank(a), rank(b)) })
	lacks := slices.ContainsFunc(c, func(l listed) bool { return l.At.IsZero() })
	return main, !lacks || main.Ticker != "" && main.Ticker == ticker
}
