package registers

import (
	"cmp"
	"context"
	"slices"
	"strings"
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
	"pregon/internal/text"
)

// follower follows the registers of holdings and own shares, which have a page for each
// issuer.
type follower struct {
	*Reader
	changed  map[string]regulator.ChangedIssuer // by key of the issuer: those to be read soon
	failed   map[string]failure                 // by key of the issuer
	unknown  map[string]failure                 // the same, of general data
	former   map[string]time.Time               // when histories of former holders were read
	lastRead time.Time                          // of the page of the last days; zero before the first
	waiting  bool                               // an issuer has changed and was read a short time ago
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
		if !ok {
			if err := f.recordWhole(ctx); err != nil && ctx.Err() == nil {
				f.Logger.Debug("the state of the registers was not stored", "err", err)
			}
			if err := f.await(ctx, changes); err != nil {
				return err
			}
			continue
		}
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
// so that an issuer with a notice of this day is read again from time to time.
func (f *follower) note(page regulator.LastDays) {
	f.lastRead = page.Received
	f.waiting = false
	for _, i := range page.Issuers {
		key := disclosure.IssuerKey(i.NIF)
		read := f.Coverage.Time(issuerClock(key))
		newer := read.IsZero() || i.Day == 0 || disclosure.DayOf(read) <= i.Day
		switch {
		case newer && coverage.Elapsed(read, f.intervals.soon):
			f.changed[key] = i
		case newer:
			f.waiting = true
		}
	}
}

// issuerClock is the clock of the last read of the register of an issuer.
func issuerClock(key string) string { return "holdings/" + key }

// identityClock is that of its general data.
func identityClock(key string) string { return "identity/" + key }

// next returns the issuer that is to be read next: one that has changed, else the one that
// was read longest ago, if it is due.
func (f *follower) next() (key string, priority throttle.Priority, ok bool) {
	for key := range f.changed {
		if f.mayTry(key) {
			return key, throttle.Registers, true
		}
	}
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
	return key, throttle.Refresh, ok
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

func (f *follower) mayRetry(last failure) bool {
	if last.tries == 0 {
		return true
	}
	return coverage.Elapsed(last.at, retry.Backoff(last.tries-1, f.intervals.firstRetry, f.intervals.longestRetry))
}

// recordWhole records that the registers are whole, once every issuer was read and all
// changes that the page of the last days named.
func (f *follower) recordWhole(ctx context.Context) error {
	if f.lastRead.IsZero() || f.waiting || len(f.failed) > 0 || len(f.changed) > 0 {
		return nil
	}
	for name, kind := range map[string]disclosure.PositionKind{
		string(Holdings):             disclosure.Holding,
		string(disclosure.OwnShares): disclosure.OwnShares,
	} {
		if before, ok := f.Coverage.Register(name); ok && !f.lastRead.After(before.WholeUntil) {
			continue
		}
		if err := f.setRegister(ctx, name, f.lastRead, f.Known.CountPositions(kind)); err != nil {
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
	learnt := disclosure.Issuer{
		ID:      known.ID,
		Name:    known.Name,
		NIF:     known.NIF,
		LEI:     found.LEI,
		Sector:  found.Sector,
		Capital: found.Capital,
	}
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
	learnt := disclosure.Issuer{
		ID:           known.ID,
		Name:         known.Name,
		NIF:          known.NIF,
		VotingRights: found.Rights.Total,
	}
	if found.Rights.ModifiedOn > 0 {
		learnt.VotingRightsOn = found.Rights.ModifiedOn.String()
	}
	return f.appendIssuers(ctx, []disclosure.Issuer{learnt})
}

// book is what is known of the holdings in one issuer, and what a walk changes.
type book struct {
	*Reader
	key      string
	issuer   string // its id in the directory, or empty
	newsFrom disclosure.Day
	known    map[string]*disclosure.Position // by id
	ordinals ordinals
	taken    map[string]bool      // ids that the walk has shown
	shown    map[string]bool      // folded names that the walk has shown
	former   map[string]time.Time // see follower
	// formerRead are the folded names of former holders whose history the walk has read.
	formerRead map[string]bool
	changes    []disclosure.Position
	found      *regulator.Holdings
}

// earlierNews is how many days before the last read of an issuer a notice may be
// registered that is news.
const earlierNews = 7

// never is later than all days.
const never = disclosure.Day(1 << 30)

func (r *Reader) newBook(key string) *book {
	b := &book{
		Reader:   r,
		key:      key,
		issuer:   r.issuerID(key),
		newsFrom: never,
		known:    map[string]*disclosure.Position{},
		ordinals: ordinals{},
		taken:    map[string]bool{},
		shown:    map[string]bool{},

		formerRead: map[string]bool{},
	}
	if read := r.Coverage.Time(issuerClock(key)); !read.IsZero() {
		b.newsFrom = disclosure.DayOf(read) - earlierNews
	}
	for _, kind := range []disclosure.PositionKind{disclosure.Holding, disclosure.OwnShares} {
		for p := range r.Known.PositionsOf(key, kind) {
			b.known[p.ID] = p
			b.ordinals.use(disclosure.PositionID(kind, b.numberFor(p), 1), p.ID)
		}
	}
	return b
}

// numberFor returns the number that the id of a position is made of: that of the register,
// or of the issuer and the day if the register did not show one.
func (b *book) numberFor(p *disclosure.Position) string {
	return cmp.Or(p.Number, strings.ToLower(b.key)+"-"+p.RegisteredOn)
}

// formerEvery is how often the history of someone who holds nothing any more is read.
const formerEvery = 30 * 24 * time.Hour

// wantsHistory reports whether the notices of a row must be read: its last one is not known
// by its number, or some are annulled. A name that was erased does not say which number is
// that of the row.
func (b *book) wantsHistory(h regulator.Holding) bool {
	known := b.named(h.Name)
	if h.Former {
		hasEnded := len(known) > 0 && !slices.ContainsFunc(known, (*disclosure.Position).IsCurrent)
		read, ok := b.former[b.key+"\x00"+text.Fold(h.Name)]
		return !hasEnded && (!ok || coverage.Elapsed(read, formerEvery))
	}
	if h.HasAnnulled {
		return true
	}
	on := h.RegisteredOn.String()
	return !slices.ContainsFunc(known, func(p *disclosure.Position) bool { return p.RegisteredOn == on })
}

// named returns the known holdings of a name that have a number.
func (b *book) named(name string) (out []*disclosure.Position) {
	folded := text.Fold(name)
	for _, p := range b.known {
		if p.Kind == disclosure.Holding && p.Number != "" && p.Name != "" && text.Fold(p.Name) == folded {
			out = append(out, p)
		}
	}
	return out
}

// isHollow reports whether a walk shows nobody, although there were holdings: the site has
// such pages when it cannot answer.
func (b *book) isHollow(found *regulator.Holdings) bool {
	if len(found.Holdings) > 0 || len(found.Former) > 0 {
		return false
	}
	for _, p := range b.known {
		if p.Kind == disclosure.Holding && p.IsCurrent() {
			return true
		}
	}
	return false
}

// isOf reports whether a known position may be that of a name. One whose name was erased
// may be that of any natural person.
func (b *book) isOf(p *disclosure.Position, name string) bool {
	if p.NameErased() {
		return !disclosure.IsLegalEntity(name)
	}
	return text.Fold(p.Name) == text.Fold(name)
}

// read compares a walk with what is known.
func (b *book) read(found *regulator.Holdings) {
	b.found = found
	for _, rows := range [][]regulator.Holding{found.Holdings, found.Former} {
		for n := range rows {
			b.shown[text.Fold(rows[n].Name)] = true
		}
	}
	for n := range found.Holdings {
		row := &found.Holdings[n]
		b.take(b.present(row))
		b.past(row, b.presentNotice(row), disclosure.StatePast)
	}
	for n := range found.Former {
		row := &found.Former[n]
		last := newest(row.History)
		if last != nil {
			b.take(b.notice(row, last, disclosure.StateEnded))
		}
		b.past(row, last, disclosure.StatePast)
		if last != nil {
			b.formerRead[text.Fold(row.Name)] = true
		}
	}
	b.ownShares()
	b.annul()
	b.endOthers()
}

// present returns the position of a row of the present table.
func (b *book) present(row *regulator.Holding) disclosure.Position {
	p := b.position(disclosure.Holding, row.Name)
	p.State = disclosure.StateCurrent
	p.Percent = row.Total
	p.PercentShares = row.Shares
	p.PercentDirect = row.Direct
	p.PercentIndirect = row.Indirect
	p.PercentInstruments = row.Instruments
	p.DocumentURL = row.DocumentURL
	p.RegisteredOn = row.RegisteredOn.String()
	if last := b.presentNotice(row); last != nil {
		p.Number = numberOf(last.Number)
		return p
	}
	for _, known := range b.named(row.Name) { // its history was not read: the number is known
		if known.RegisteredOn == p.RegisteredOn && !b.taken[known.ID] && (p.Number == "" || known.Number < p.Number) {
			p.Number = known.Number
		}
	}
	return p
}

// presentNotice returns the notice of the history that the row of the present table is of,
// or nil.
func (b *book) presentNotice(row *regulator.Holding) *regulator.HoldingNotice {
	for n := range row.History {
		if row.DocumentURL != "" && row.History[n].DocumentURL == row.DocumentURL {
			return &row.History[n]
		}
	}
	for n := range row.History {
		if row.History[n].RegisteredOn == row.RegisteredOn {
			return &row.History[n]
		}
	}
	return nil
}

// newest returns the newest notice, or nil if there is none.
func newest(notices []regulator.HoldingNotice) *regulator.HoldingNotice {
	if len(notices) == 0 {
		return nil
	}
	last := slices.MaxFunc(notices, func(a, b regulator.HoldingNotice) int {
		return cmp.Or(cmp.Compare(a.RegisteredOn, b.RegisteredOn), cmp.Compare(a.Number, b.Number))
	})
	return &last
}

// past takes the notices of a row but one.
func (b *book) past(row *regulator.Holding, but *regulator.HoldingNotice, state disclosure.PositionState) {
	for n := range row.History {
		if but == nil || row.History[n].Number != but.Number {
			b.take(b.notice(row, &row.History[n], state))
		}
	}
}

// notice returns the position of a notice of a history.
func (b *book) notice(
	row *regulator.Holding,
	n *regulator.HoldingNotice,
	state disclosure.PositionState,
) disclosure.Position {
	p := b.position(disclosure.Holding, row.Name)
	p.State = state
	setNotice(&p, n)
	return p
}

func setNotice(p *disclosure.Position, n *regulator.HoldingNotice) {
	p.Number = numberOf(n.Number)
	p.RegisteredOn = n.RegisteredOn.String()
	p.Percent = cmp.Or(n.Total, n.Shares)
	p.PercentShares = n.Shares
	p.PercentInstruments = n.Instruments
	p.DocumentURL = n.DocumentURL
}

// position returns a position of a name, without what a row or a notice states.
func (b *book) position(kind disclosure.PositionKind, name string) disclosure.Position {
	return disclosure.Position{
		Kind:       kind,
		Issuer:     b.issuer,
		IssuerName: b.found.Name,
		NIF:        b.found.NIF,
		Name:       name,
		SourceURL:  b.found.SourceURL,
	}
}

// ownShares takes the notices of the issuer's own shares, of which the newest is current.
// One that is not in the list any more was annulled.
func (b *book) ownShares() {
	last := newest(b.found.OwnShares)
	listed := map[string]bool{}
	for n := range b.found.OwnShares {
		notice := &b.found.OwnShares[n]
		p := b.position(disclosure.OwnShares, b.found.Name)
		p.State = disclosure.StatePast
		if notice.Number == last.Number {
			p.State = disclosure.StateCurrent
		}
		setNotice(&p, notice)
		listed[p.Number] = true
		b.take(p)
	}
	if len(listed) == 0 {
		return
	}
	for _, p := range b.known {
		if p.Kind == disclosure.OwnShares && !listed[p.Number] {
			b.mark(p, disclosure.StateAnnulled, "")
		}
	}
}

// take compares a position with the known one, and gives it an id.
func (b *book) take(p disclosure.Position) {
	number := b.numberFor(&p)
	base := disclosure.PositionID(p.Kind, number, 1)
	before := b.find(number, &p)
	if before == nil {
		if b.isExpired(p.Name, dayOf(p.RegisteredOn)) && p.Kind == disclosure.Holding {
			if p.State != disclosure.StateCurrent {
				return
			}
			p.Name = "" // its percentages are still the present ones
			p.Erased = true
		}
		p.ID = disclosure.PositionID(p.Kind, number, b.ordinals.next(base))
		b.taken[p.ID] = true
		b.changes = append(b.changes, p)
		return
	}
	p.ID = before.ID
	b.taken[p.ID] = true
	if _, fields := before.Merge(p); len(fields) > 0 {
		b.changes = append(b.changes, p)
	}
}

// find returns the known position that a position is, or nil: that of its name, else one of
// a name that was erased, else the only one with its number, if that name is not shown any
// more. Several positions share a number.
func (b *book) find(number string, p *disclosure.Position) *disclosure.Position {
	var exact, erased, respelt []*disclosure.Position
	for _, known := range b.known {
		isSame := known.Kind == p.Kind && (b.numberFor(known) == number ||
			known.Number == "" && known.RegisteredOn == p.RegisteredOn)
		switch {
		case !isSame || b.taken[known.ID]:
		case p.Kind == disclosure.OwnShares || !known.NameErased() && b.isOf(known, p.Name):
			exact = append(exact, known)
		case known.NameErased() && b.isOf(known, p.Name):
			erased = append(erased, known)
		case !known.NameErased() && known.Number != "" && !b.shown[text.Fold(known.Name)]:
			respelt = append(respelt, known)
		}
	}
	if len(exact) > 0 {
		return first(exact, p)
	}
	if len(erased) > 0 {
		return first(erased, p)
	}
	if len(respelt) == 1 {
		return respelt[0]
	}
	return nil
}

// first returns the position with the same percentage, or else with the smallest id, so that
// every walk decides alike.
func first(of []*disclosure.Position, like *disclosure.Position) *disclosure.Position {
	return slices.MinFunc(of, func(a, b *disclosure.Position) int {
		if same := a.Percent == like.Percent; same != (b.Percent == like.Percent) {
			if same {
				return -1
			}
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// annul marks the notices that others annul.
func (b *book) annul() {
	for _, a := range b.found.Annulments {
		for _, annulled := range a.Annuls {
			for _, p := range b.known {
				if p.Number == numberOf(annulled.Number) && !b.taken[p.ID] {
					b.mark(p, disclosure.StateAnnulled, numberOf(a.By))
				}
			}
		}
	}
}

// endOthers marks the known holdings that the walk did not show: one that is missing from a
// history was annulled, and one that is missing from the present table has ended.
func (b *book) endOthers() {
	var present, complete []string // folded names
	for n := range b.found.Holdings {
		present = append(present, text.Fold(b.found.Holdings[n].Name))
	}
	for _, rows := range [][]regulator.Holding{b.found.Holdings, b.found.Former} {
		for n := range rows {
			if len(rows[n].History) > 0 {
				complete = append(complete, text.Fold(rows[n].Name))
			}
		}
	}
	for _, p := range b.known {
		if p.Kind != disclosure.Holding || b.taken[p.ID] {
			continue
		}
		name := text.Fold(p.Name)
		switch {
		case p.Name != "" && p.Number != "" && slices.Contains(complete, name):
			b.mark(p, disclosure.StateAnnulled, "")
		case p.State == disclosure.StateCurrent && p.Name != "" && slices.Contains(present, name):
			b.mark(p, disclosure.StatePast, "")
		case p.State == disclosure.StateCurrent:
			b.mark(p, disclosure.StateEnded, "")
		}
	}
}

// mark changes the state of a known position that the walk did not show.
func (b *book) mark(p *disclosure.Position, state disclosure.PositionState, by string) {
	b.taken[p.ID] = true
	if p.State == state || p.State == disclosure.StateAnnulled {
		return
	}
	observed := withState(p, state)
	observed.AnnulledBy = cmp.Or(p.AnnulledBy, by)
	b.changes = append(b.changes, observed)
}
