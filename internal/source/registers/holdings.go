package registers

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// follower follows the registers of holdings and own shares, which have a page for each
// issuer.
type follower struct {
	*Reader
	changed map[string]regulator.ChangedIssuer // by key of the issuer: those to be read soon
	failed  map[string]failure                 // by key of the issuer
	unknown map[string]failure                 // the same, of general data
	former  map[string]time.Time               // when histories of former holders were read
	// whole is the time until which the registers are known, by the page of the last days;
	// zero before the first.
	whole time.Time

	readChanged bool // the last read was of an issuer that had changed
}

// failure is when an issuer could not be read.
type failure struct {
	tries int
	at    time.Time
}

func (r *Reader) newFollower() *follower {
	return &follower{
		Reader:  r,
		changed: map[string]regulator.ChangedIssuer{},
		failed:  map[string]failure{},
		unknown: map[string]failure{},
		former:  map[string]time.Time{},
	}
}

// followHoldings reads which issuers have changed, and reads these issuers, and in between
// all others from time to time.
func (r *Reader) followHoldings(ctx context.Context) error {
	f := r.newFollower()
	changes := make(chan regulator.LastDays, 1)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		every := func(time.Time) time.Duration { return r.intervals.lastDays }
		return r.repeat(ctx, health.Holdings, every, func(ctx context.Context) error {
			page, err := r.Regulator.For(throttle.Registers).LastDays(ctx)
			if err != nil {
				return err
			}
			select {
			case changes <- page:
			case <-ctx.Done():
				return ctx.Err()
			default: // the page before was not used yet: this one comes again
			}
			return nil
		})
	})
	g.Go(func() error { return f.run(ctx, changes) })
	return g.Wait()
}

// run reads one issuer after the other.
func (f *follower) run(ctx context.Context, changes <-chan regulator.LastDays) error {
	for {
		select {
		case page := <-changes:
			f.note(page)
		default:
		}
		key, priority, ok := f.next()
		// Also beside a change, as an issuer may change again while it is read.
		if !ok || priority == throttle.Registers {
			if err := f.recordWhole(ctx); err != nil && ctx.Err() == nil {
				f.Logger.Debug("the state of the registers was not stored", "err", err)
			}
		}
		if !ok {
			if err := f.await(ctx, changes); err != nil {
				return err
			}
			continue
		}
		f.readChanged = priority == throttle.Registers
		start := time.Now()
		err := f.RecordRead(ctx, health.Holdings, start, f.readIssuer(ctx, key, priority))
		if err != nil && ctx.Err() == nil {
			f.Logger.Debug("the holdings of an issuer were not read", "issuer", key, "err", err, "cause", regulator.Cause(err))
			f.failed[key] = failure{tries: f.failed[key].tries + 1, at: time.Now()}
		} else {
			delete(f.failed, key)
			delete(f.changed, key)
		}
		if err := retry.Sleep(ctx, f.intervals.pause); err != nil {
			return err
		}
	}
}

// await waits for changes, or until another issuer may be due.
func (f *follower) await(ctx context.Context, changes <-chan regulator.LastDays) error {
	timer := time.NewTimer(f.intervals.next)
	defer timer.Stop()
	select {
	case page := <-changes:
		f.note(page)
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// note queues the issuers with notices since they were read last. The page names days only,
// so that an issuer with a notice of this day is read again from time to time. Until then
// the registers are known to be whole until it was read.
func (f *follower) note(page regulator.LastDays) {
	f.whole = page.Received
	for _, i := range page.Issuers {
		key := disclosure.IssuerKey(i.NIF)
		read := f.Coverage.Time(issuerClock(key))
		newer := read.IsZero() || i.Day == 0 || disclosure.DayOf(read) <= i.Day
		switch {
		case newer && coverage.Elapsed(read, f.intervals.soon):
			f.changed[key] = i
		case newer && read.Before(f.whole):
			f.whole = read
		}
	}
}

// issuerClock is the clock of the last read of the register of an issuer.
func issuerClock(key string) string { return "holdings/" + key }

// identityClock is that of its general data.
func identityClock(key string) string { return "identity/" + key }

// next returns the issuer that is to be read next: by turns one that has changed and one
// that is due, so that issuers that change again while they are read do not keep the others
// from being read.
func (f *follower) next() (key string, priority throttle.Priority, ok bool) {
	changed, ok := f.oldestChanged()
	if ok && !f.readChanged {
		return changed, throttle.Registers, true
	}
	if key, due := f.due(); due {
		return key, throttle.Refresh, true
	}
	return changed, throttle.Registers, ok
}

// oldestChanged returns the issuer that was read longest ago of those that have changed.
func (f *follower) oldestChanged() (key string, ok bool) {
	var oldest time.Time
	for candidate := range f.changed {
		read := f.Coverage.Time(issuerClock(candidate))
		if f.mayTry(candidate) && (!ok || read.Before(oldest)) {
			key = candidate
			oldest = read
			ok = true
		}
	}
	return key, ok
}

// due returns the issuer that was read longest ago, if it is to be read again.
func (f *follower) due() (key string, ok bool) {
	var oldest time.Time
	for _, i := range f.Known.Issuers(disclosure.Company) {
		if !isListed(&i) || !f.mayTry(disclosure.IssuerKey(i.NIF)) {
			continue
		}
		read := f.Coverage.Time(issuerClock(disclosure.IssuerKey(i.NIF)))
		if coverage.Elapsed(read, f.intervals.issuer) && (!ok || read.Before(oldest)) {
			key = disclosure.IssuerKey(i.NIF)
			oldest = read
			ok = true
		}
	}
	return key, ok
}

// isListed reports whether an issuer has shares on a market, so that the registers may have
// entries about it.
func isListed(i *disclosure.Issuer) bool {
	return i.CIF() != "" && (i.Ticker != "" || i.Market != "")
}

// mayTry reports whether the last failure of an issuer is long enough ago.
func (f *follower) mayTry(key string) bool {
	return f.mayRetry(f.failed[key])
}

// mayRetry reports the same of any failure; the zero value is none.
func (f *follower) mayRetry(last failure) bool {
	if last.tries == 0 {
		return true
	}
	return coverage.Elapsed(last.at, retry.Backoff(last.tries-1, f.intervals.firstRetry, f.intervals.longestRetry))
}

// recordWhole records until when the registers are whole, once every issuer was read: until
// the page of the last days, or the earliest read of an issuer that has changed since.
func (f *follower) recordWhole(ctx context.Context) error {
	whole := f.whole
	for key := range f.changed {
		if read := f.Coverage.Time(issuerClock(key)); read.Before(whole) {
			whole = read
		}
	}
	if _, due := f.due(); due || whole.IsZero() || len(f.failed) > 0 {
		return nil
	}
	for name, kind := range map[string]disclosure.PositionKind{
		string(Holdings):             disclosure.Holding,
		string(disclosure.OwnShares): disclosure.OwnShares,
	} {
		if before, ok := f.Coverage.Register(name); ok && !whole.After(before.WholeUntil) {
			continue
		}
		if err := f.setRegister(ctx, name, whole, f.Known.CountPositions(kind)); err != nil {
			return err
		}
	}
	return nil
}

// readIssuer reads the registers of one issuer, and its general data if they are due.
func (f *follower) readIssuer(ctx context.Context, key string, priority throttle.Priority) error {
	if err := f.Known.CatchUp(ctx); err != nil {
		return err
	}
	nif := key
	if i, ok := f.Known.Issuer(key); ok && i.NIF != "" {
		nif = i.NIF
	}
	start := time.Now()
	b := f.newBook(key)
	b.former = f.former
	b.hasChanged = priority == throttle.Registers
	found, err := f.Regulator.For(priority).Holdings(ctx, nif, b.wantsHistory)
	switch {
	case fault.KindOf(err) == fault.NotFound: // the register does not have the issuer
	case err != nil:
		return err
	case b.isHollow(&found) && f.failed[key].tries < mostHollow:
		return &regulator.MarkupError{Surface: "register of holdings", Detail: "it shows none of the holdings that it had"}
	default:
		if err := f.takeHoldings(ctx, b, &found); err != nil {
			return err
		}
	}
	if err := f.readIdentity(ctx, key, nif); err != nil {
		return err
	}
	return store.Unavailable(f.Coverage.SetTime(ctx, f.Lease, issuerClock(key), start))
}

// mostHollow is how often an issuer without any of its holdings is not believed.
const mostHollow = 3

// readIdentity reads the general data of an issuer of the directory, if they are due. If
// they cannot be read, this is recorded and tried again another time: the holdings do not
// depend on them.
func (f *follower) readIdentity(ctx context.Context, key, nif string) error {
	known, ok := f.Known.Issuer(key)
	due := coverage.Elapsed(f.Coverage.Time(identityClock(key)), f.intervals.identity)
	if !ok || !due || !f.mayRetry(f.unknown[key]) {
		return nil
	}
	start := time.Now()
	found, err := f.Regulator.For(throttle.Refresh).Identity(ctx, nif)
	if fault.KindOf(err) == fault.NotFound { // the site does not have the issuer
		err = nil
	}
	if err := f.RecordRead(ctx, health.Identity, start, err); err != nil {
		f.unknown[key] = failure{tries: f.unknown[key].tries + 1, at: time.Now()}
		if !regulator.IsPartial(err) {
			return ctx.Err()
		}
	}
	learnt := observed(&known)
	learnt.LEI = found.LEI
	learnt.Sector = found.Sector
	learnt.Capital = found.Capital
	if err := f.appendIssuers(ctx, []disclosure.Issuer{learnt}); err != nil {
		return err
	}
	if err != nil {
		return nil // it is tried again
	}
	delete(f.unknown, key)
	return store.Unavailable(f.Coverage.SetTime(ctx, f.Lease, identityClock(key), start))
}

// takeHoldings stores what the registers show of an issuer.
func (f *follower) takeHoldings(ctx context.Context, b *book, found *regulator.Holdings) error {
	b.read(found)
	var history, news []disclosure.Position
	for _, p := range b.changes {
		before := b.known[p.ID]
		if before == nil && dayOf(p.RegisteredOn) < b.newsFrom {
			history = append(history, p)
		} else {
			news = append(news, p)
		}
	}
	if err := f.append(ctx, disclosure.Backfilled, history); err != nil {
		return err
	}
	if err := f.append(ctx, disclosure.Published, news); err != nil {
		return err
	}
	for name := range b.formerRead {
		f.former[b.key+"\x00"+name] = time.Now()
	}
	known, ok := f.Known.Issuer(b.key)
	if !ok || found.Rights.Total == "" {
		return nil
	}
	learnt := observed(&known)
	learnt.VotingRights = found.Rights.Total
	if found.Rights.ModifiedOn > 0 {
		learnt.VotingRightsOn = found.Rights.ModifiedOn.String()
	}
	return f.appendIssuers(ctx, []disclosure.Issuer{learnt})
}
