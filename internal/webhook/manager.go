package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/idna"

	"pregon/internal/auth/access"
	"pregon/internal/auth/ratelimit"
	authsecret "pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/events"
	"pregon/internal/fault"
	"pregon/internal/server/outbound"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// Store is the part of the store that webhooks need.
type Store interface {
	store.Records
	store.Deliveries
	store.Marks
	Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error)
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
	Newest(ctx context.Context) (int64, error)
	Head(ctx context.Context) (disclosure.Head, error)
	Wait(ctx context.Context, after int64) error
}

// Sealer keeps secrets from who can read the store.
type Sealer interface {
	Seal(name, text string) string
	Open(name, sealed string) (string, error)
}

// Encoder makes changes ready to be told; feed.Hub is one.
type Encoder interface {
	Encode(*disclosure.Change) *events.Event
	// Newest is the newest change that Encode's directory knows of. None after
	// it is judged: a filter may ask for what only the directory tells.
	Newest() int64
	// Head is the same with the epoch of the log.
	Head() disclosure.Head
	// Seen is the newest change that Encode's directory knows of, and what it is.
	Seen() (disclosure.Head, disclosure.Mark)
}

// Options are a manager's collaborators.
type Options struct {
	Store        Store
	Sealer       Sealer
	Encoder      Encoder
	AllowPrivate bool         // receivers may be at any address, and speak plain http
	Client       *http.Client // nil: one of package outbound
	// Standing returns what is known of an owner. While it is gone, deliveries
	// are kept but not sent. Nil: every owner is served.
	OwnerStatus func(owner string) OwnerStatus
	// OwnerAway is how long the subject of a token may not be seen before it is
	// gone. 0: for ever.
	OwnerTimeout time.Duration
	Logger       *slog.Logger
	Audit        func(ctx context.Context, event string, attrs ...slog.Attr)
	UserAgent    string
}

// Manager keeps the webhooks and serves them.
type Manager struct {
	o        Options
	log      *slog.Logger
	client   *http.Client
	resolver *net.Resolver
	timing

	known    atomic.Pointer[hooks]
	follower *follow.Follower

	removing sync.Mutex
	removed  map[string]struct{} // guarded by removing: webhooks whose deliveries are to be deleted

	testsOfWebhook, testsOfOwner *ratelimit.Window

	wake   chan struct{} // there may be something to claim
	bodies *bodies

	delivered, failed, dead, retried atomic.Int64
	inFlight                         atomic.Int64
	fannedOut                        atomic.Int64

	owners  sync.Mutex
	seen    map[string]time.Time // guarded by owners: when owners were last seen, to the day
	unsaved map[string]time.Time // guarded by owners: what of it is to be written

	costs sync.Mutex
	cost  map[string]time.Duration // guarded by costs: what judging filters took, by owner
}

// timing is what tests shorten.
type timing struct {
	sendTimeout    time.Duration
	delays         [maxAttempts - 1]time.Duration
	backoff        time.Duration // after a failure, before the same receiver is tried with something else
	claimFor       time.Duration // renewed four times as often; what a process that died held waits for so long
	poll           time.Duration
	maxFailing     time.Duration // to fail, for a webhook
	grace          time.Duration // for what is being sent when the manager is told to end
	settleTimeout  time.Duration // for settling it, after that
	slots          int           // claims at a time, of those that work and of those that fail
	maxRedelivered int           // changes that are sent again at once
}

// hooks is what is known at a moment; it does not change.
type hooks struct {
	byID     map[string]*hook
	owners   map[string]bool
	revision int64  // of the newest record that was seen
	epoch    string // of the log that the catalogue had when they were read; empty: they never were
}

// hook is a webhook made ready.
type hook struct {
	Webhook
	signers     []signer
	selector    *events.Selector // nil when the filter is too much
	filterError string           // why
}

// selects reports whether a change is for the webhook.
func (h *hook) selects(e *events.Event) bool { return h.selector != nil && h.selector.Match(e) }

// New returns a manager that knows nothing until Refresh.
func New(o Options) *Manager {
	if o.OwnerStatus == nil {
		o.OwnerStatus = func(string) OwnerStatus { return OwnerStatus{Scope: access.AllScopes} }
	}
	if o.Audit == nil {
		o.Audit = func(context.Context, string, ...slog.Attr) {}
	}
	m := &Manager{
		o: o, log: o.Logger, resolver: net.DefaultResolver, removed: map[string]struct{}{},
		testsOfWebhook: ratelimit.NewWindow(testsOfWebhook), testsOfOwner: ratelimit.NewWindow(testsOfOwner),
		seen: map[string]time.Time{}, unsaved: map[string]time.Time{},
		wake: make(chan struct{}, 1), bodies: newBodies(), cost: map[string]time.Duration{},
		timing: timing{
			sendTimeout: sendTimeout, delays: delays, backoff: time.Second,
			claimFor: 8 * time.Second, poll: 500 * time.Millisecond, maxFailing: maxFailing,
			grace: 10 * time.Second, settleTimeout: 5 * time.Second, slots: maxSlots, maxRedelivered: maxRedelivered,
		},
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	client := o.Client
	if client == nil {
		client = outbound.NewClient(outbound.Options{AllowPrivate: o.AllowPrivate, Timeout: sendTimeout})
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	m.client = &own
	following := follow.Options{Kind: kind, Noun: "webhooks", Store: o.Store, Apply: m.apply, Logger: m.log}
	if o.Encoder != nil {
		following.Epoch = func() string { return o.Encoder.Head().Epoch }
	}
	m.follower = follow.New(following)
	m.known.Store(&hooks{})
	return m
}

// Refresh reads the webhooks that were written since the last time.
func (m *Manager) Refresh(ctx context.Context) error { return m.follower.Poll(ctx) }

// apply adds records to the known webhooks.
func (m *Manager) apply(ctx context.Context, u follow.Update) {
	old := m.known.Load()
	if u.Reload {
		old = &hooks{}
	}
	next := &hooks{byID: maps.Clone(old.byID), revision: old.revision, epoch: u.Epoch}
	if next.byID == nil {
		next.byID = map[string]*hook{}
	}
	for _, r := range u.Records {
		next.revision = r.Revision
		delete(next.byID, r.ID)
		m.setRemoved(r.ID, r.Body == "")
		if r.Body == "" {
			continue
		}
		w, err := readRecord(r)
		if err != nil {
			m.log.ErrorContext(ctx, "a webhook cannot be read: it gets nothing", "webhook", r.ID, "err", err)
			continue
		}
		h := &hook{Webhook: w}
		if h.filterError = events.FilterError(w.Filter); h.filterError == "" {
			h.selector = w.Selection().Compile()
		}
		if h.signers, err = openSecrets(&w, m.o.Sealer); err != nil {
			m.log.ErrorContext(ctx, "a secret of a webhook cannot be opened: it does not sign", "webhook", r.ID, "err", err)
		}
		next.byID[r.ID] = h
	}
	next.owners = map[string]bool{}
	for _, h := range next.byID {
		next.owners[h.Owner] = true
	}
	m.known.Store(next)
	m.wakeUp()
}

// setRemoved marks a webhook as removed, or as present again after a backup was
// restored.
func (m *Manager) setRemoved(id string, removed bool) {
	m.removing.Lock()
	defer m.removing.Unlock()
	if removed {
		m.removed[id] = struct{}{}
	} else {
		delete(m.removed, id)
	}
}

func (m *Manager) wakeUp() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

const (
	idPrefix = "wh_"
	idLength = 16
)

func newID() string { return idPrefix + authsecret.RandomText(idLength) }

// Create makes a webhook and returns it with its secret, which is never shown
// again.
func (m *Manager) Create(ctx context.Context, owner string, d Draft) (w Webhook, secret string, err error) {
	if err := m.check(ctx, &d); err != nil {
		return Webhook{}, "", err
	}
	if err := m.Refresh(ctx); err != nil {
		return Webhook{}, "", err
	}
	if m.count(owner) >= maxPerOwner {
		return Webhook{}, "", tooMany()
	}
	if err := m.checkFilters(owner, "", d.Filter); err != nil {
		return Webhook{}, "", err
	}
	now := time.Now().UTC().Truncate(time.Second)
	w = Webhook{ID: newID(), Owner: owner, Draft: d, CreatedAt: now, UpdatedAt: now}
	w.setEnabled(now, "its owner has not enabled it yet")
	if secret, err = w.addSecret(m.o.Sealer, now); err != nil {
		return Webhook{}, "", err
	}
	if w, err = m.put(ctx, w, true); err != nil {
		return Webhook{}, "", err
	}
	if m.count(owner) > maxPerOwner { // others made some at the same time
		if err := m.remove(ctx, w); err != nil {
			return Webhook{}, "", err
		}
		return Webhook{}, "", tooMany()
	}
	m.Seen(owner)
	m.audit(ctx, "webhook.created", &w)
	return w, secret, nil
}

func tooMany() error {
	return fault.New(fault.Conflict, "You have %d webhooks, which is as many as you may: delete one.", maxPerOwner)
}

// checkFilters refuses a filter with which those of an owner would be too long
// together. Each is judged for every change.
func (m *Manager) checkFilters(owner, id string, f disclosure.Filter) error {
	n := events.FilterLength(f)
	for _, h := range m.known.Load().byID {
		if h.Owner == owner && h.ID != id {
			n += events.FilterLength(h.Filter)
		}
	}
	if n <= maxFilters {
		return nil
	}
	return invalid("filter", f.Search, fmt.Sprintf(
		"makes %d characters in the filters of all your webhooks, which may have %d together: shorten some, or delete a webhook", n, maxFilters))
}

func (m *Manager) count(owner string) (n int) {
	for _, h := range m.known.Load().byID {
		if h.Owner == owner {
			n++
		}
	}
	return n
}

// setEnabled notes since when the webhook is what the draft says, and why.
func (w *Webhook) setEnabled(now time.Time, reason string) {
	if w.Enabled {
		w.EnabledAt, w.DisabledAt, w.DisabledReason = now, time.Time{}, ""
	} else {
		w.DisabledAt, w.DisabledReason = now, reason
	}
}

// put writes a webhook. One that starts to be told begins with what comes after
// this: at the latest after what has been handed out once the record is there,
// since nothing is from then on without regard to it.
func (m *Manager) put(ctx context.Context, w Webhook, starts bool) (Webhook, error) {
	var err error
	if starts {
		if w.StartsAfter, err = m.o.Store.Newest(ctx); err != nil {
			return Webhook{}, err
		}
	}
	if w, err = m.write(ctx, w); err != nil {
		return Webhook{}, err
	}
	if starts {
		fanned, err := m.o.Store.Fanned(ctx)
		if err != nil {
			return Webhook{}, err
		}
		if fanned > w.StartsAfter {
			w.StartsAfter = fanned
			if again, err := m.write(ctx, w); err == nil {
				w = again
			} else if fault.KindOf(err) != fault.Conflict { // a later change is as it should be
				return Webhook{}, err
			}
		}
	}
	_ = m.Refresh(ctx) // what is written is written
	return w, nil
}

func (m *Manager) write(ctx context.Context, w Webhook) (Webhook, error) {
	body, err := w.body()
	if err != nil {
		return Webhook{}, err
	}
	r, err := store.PutRecord(ctx, m.o.Store, store.Record{Kind: kind, ID: w.ID, Body: body, Revision: w.revision})
	if err != nil {
		return Webhook{}, err
	}
	w.revision = r.Revision
	return w, nil
}

// check finds what is wrong with a draft, where its name leads now included:
// it is decided anew at every delivery, but who gives an address that cannot
// work is told at once.
func (m *Manager) check(ctx context.Context, d *Draft) error {
	if err := d.check(m.o.AllowPrivate); err != nil {
		return err
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return err
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return nil // judged already
	}
	if name, err := idna.Lookup.ToASCII(host); err == nil {
		host = name
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	addrs, err := m.resolver.LookupNetIP(ctx, "ip", host)
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return invalid("url", withoutQuery(d.URL), "the host "+host+" was not found")
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "The host %s could not be looked up: try again.", host)
	}
	for _, a := range addrs {
		literal := net.JoinHostPort(a.Unmap().String(), cmp.Or(u.Port(), "443"))
		if err := outbound.Check(u.Scheme+"://"+literal, m.o.AllowPrivate); err != nil {
			return invalid("url", withoutQuery(d.URL), "the name "+host+" does not lead to a public address") // and not to which: what our resolver says is ours
		}
	}
	return nil
}

// List returns an owner's webhooks, the oldest first.
func (m *Manager) List(ctx context.Context, owner string) ([]Webhook, error) {
	if err := m.Refresh(ctx); err != nil {
		return nil, err
	}
	var all []Webhook
	for _, h := range m.known.Load().byID {
		if h.Owner == owner {
			all = append(all, h.Webhook)
		}
	}
	slices.SortFunc(all, func(a, b Webhook) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// find returns a webhook of an owner. That another has it is not told.
func (m *Manager) find(ctx context.Context, owner, id string) (*hook, error) {
	if err := m.Refresh(ctx); err != nil {
		return nil, err
	}
	h := m.known.Load().byID[id]
	if h == nil || h.Owner != owner {
		return nil, fault.New(fault.NotFound, "You have no webhook %q.", id)
	}
	return h, nil
}

// Get returns a webhook and how it fares.
func (m *Manager) Get(ctx context.Context, owner, id string) (Webhook, store.Endpoint, error) {
	h, err := m.find(ctx, owner, id)
	if err != nil {
		return Webhook{}, store.Endpoint{}, err
	}
	endpoints, err := m.o.Store.Endpoints(ctx, id)
	return h.Webhook, endpoints[id], err
}

// change rewrites a webhook, if the function says that there is something to
// write. When somebody else has changed it meanwhile, it starts over from what
// they left.
func (m *Manager) change(ctx context.Context, owner, id, event string, change func(*Webhook, time.Time) (bool, error)) (Webhook, error) {
	for {
		h, err := m.find(ctx, owner, id)
		if err != nil {
			return Webhook{}, err
		}
		w, now := h.Webhook, time.Now().UTC().Truncate(time.Second)
		w.Events = slices.Clone(w.Events)
		if changed, err := change(&w, now); err != nil || !changed {
			return w, err
		}
		w.UpdatedAt = now
		w, err = m.put(ctx, w, w.Enabled && !h.Enabled)
		if err == nil {
			m.audit(ctx, event, &w)
			return w, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return Webhook{}, err
		}
	}
}

// Update changes what the owner decides. One that is enabled again starts anew:
// what happened while it was disabled is not told unless asked for.
func (m *Manager) Update(ctx context.Context, owner, id string, change func(*Draft) error) (Webhook, error) {
	return m.change(ctx, owner, id, "webhook.changed", func(w *Webhook, now time.Time) (bool, error) {
		d := w.Draft
		d.Events = slices.Clone(d.Events)
		if err := change(&d); err != nil {
			return false, err
		}
		if err := d.check(m.o.AllowPrivate); err != nil {
			return false, err
		}
		if d.URL != w.URL {
			if err := m.check(ctx, &d); err != nil {
				return false, err
			}
		}
		if d.Filter != w.Filter {
			if err := m.checkFilters(owner, id, d.Filter); err != nil {
				return false, err
			}
		}
		same := d.URL == w.URL && d.Description == w.Description && d.Filter == w.Filter && d.Enabled == w.Enabled && slices.Equal(d.Events, w.Events)
		toggled := d.Enabled != w.Enabled
		w.Draft = d
		if toggled {
			w.setEnabled(now, "its owner disabled it")
		}
		return !same, nil
	})
}

// Rotate gives a webhook another secret. The one before it signs too for a day.
func (m *Manager) Rotate(ctx context.Context, owner, id string) (w Webhook, secret string, err error) {
	w, err = m.change(ctx, owner, id, "webhook.rotated", func(w *Webhook, now time.Time) (bool, error) {
		secret, err = w.addSecret(m.o.Sealer, now)
		return true, err
	})
	if err != nil {
		return Webhook{}, "", err
	}
	return w, secret, nil
}

// Delete removes a webhook with all that was or is to be delivered.
func (m *Manager) Delete(ctx context.Context, owner, id string) error {
	for {
		h, err := m.find(ctx, owner, id)
		if err != nil {
			return err
		}
		if err = m.remove(ctx, h.Webhook); err == nil {
			m.audit(ctx, "webhook.deleted", &h.Webhook)
			return nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
}

// remove takes a webhook away. Should its deliveries stay, tidy finds them.
func (m *Manager) remove(ctx context.Context, w Webhook) error {
	if _, err := store.PutRecord(ctx, m.o.Store, store.Record{Kind: kind, ID: w.ID, Revision: w.revision}); err != nil {
		return err
	}
	if err := m.o.Store.DropDeliveries(ctx, w.ID); err != nil {
		m.log.WarnContext(ctx, "the deliveries of a deleted webhook could not be dropped yet", "webhook", w.ID, "err", err)
	}
	return m.Refresh(ctx)
}

// disable ends a webhook that cannot go on, unless its owner has meanwhile
// changed what made it so.
func (m *Manager) disable(ctx context.Context, h *hook, reason string) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	_, err := m.change(ctx, h.Owner, h.ID, "webhook.disabled", func(w *Webhook, now time.Time) (bool, error) {
		if !w.Enabled || w.URL != h.URL || !w.EnabledAt.Equal(h.EnabledAt) {
			return false, nil
		}
		w.Enabled = false
		w.setEnabled(now, reason)
		return true, nil
	})
	if err != nil { // it fails again at its next attempt
		m.log.WarnContext(ctx, "a webhook could not be disabled", "webhook", h.ID, "reason", reason, "err", err)
		return
	}
	m.log.WarnContext(ctx, "a webhook was disabled", "webhook", h.ID, "reason", reason)
}

func (m *Manager) audit(ctx context.Context, event string, w *Webhook, more ...slog.Attr) {
	attrs := []slog.Attr{
		slog.String("webhook", w.ID), slog.String("owner", w.Owner),
		slog.String("host", hostOf(w.URL)), slog.Bool("enabled", w.Enabled),
	}
	if w.DisabledReason != "" {
		attrs = append(attrs, slog.String("reason", w.DisabledReason))
	}
	m.o.Audit(ctx, event, append(attrs, more...)...)
}

// Test sends a sample now and returns how that went. It leaves no trace.
func (m *Manager) Test(ctx context.Context, owner, id string) (store.Attempt, error) {
	h, err := m.find(ctx, owner, id)
	if err != nil {
		return store.Attempt{}, err
	}
	if err := m.allowTest(ctx, h); err != nil {
		return store.Attempt{}, err
	}
	a := m.send(ctx, h, h.ID+".test-"+newID()[len(idPrefix):], sample(time.Now()))
	if a.canceled {
		return store.Attempt{}, ctx.Err()
	}
	return a.Attempt, nil
}

// Tests are sent on demand to an address that the caller chose. This many go
// out in any minute from each process.
var (
	testsOfWebhook = ratelimit.Policy{Name: "webhook-test", Limit: 5, Window: time.Minute}
	testsOfOwner   = ratelimit.Policy{Name: "webhook-tests", Limit: 20, Window: time.Minute}
)

func (m *Manager) allowTest(ctx context.Context, h *hook) error {
	v, policy := m.testsOfWebhook.Take(ctx, ratelimit.Name(h.ID)), testsOfWebhook
	what := "a webhook"
	if v.OK {
		v, policy, what = m.testsOfOwner.Take(ctx, ratelimit.Name(h.Owner)), testsOfOwner, "all webhooks of an owner together"
	}
	if v.OK {
		return nil
	}
	return &fault.Error{
		Kind: fault.RateLimited, RetryAfter: max(v.Reset, time.Second),
		Message: fmt.Sprintf("Of %s %d tests are sent in any minute. Wait as long as Retry-After says.", what, policy.Limit),
	}
}

// Deliveries lists what was and is to be delivered to a webhook.
func (m *Manager) Deliveries(ctx context.Context, owner, id string, q store.DeliveryQuery) ([]store.Delivered, error) {
	if _, err := m.find(ctx, owner, id); err != nil {
		return nil, err
	}
	q.Webhook = id
	return m.o.Store.ListDeliveries(ctx, q)
}

const (
	maxRedelivered = 10_000
	maxSearched    = 100_000 // changes in one call
	pageSize       = 500
)

// Redeliver sends a change again, whatever became of it before, or for the
// first time if the webhook selects it.
func (m *Manager) Redeliver(ctx context.Context, owner, id string, seq int64) error {
	h, err := m.findEnabled(ctx, owner, id)
	if err != nil {
		return err
	}
	changes, err := m.o.Store.ChangesAt(ctx, seq)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		return fault.New(fault.NotFound, "There is no change %d.", seq)
	}
	if !h.selects(m.o.Encoder.Encode(&changes[0])) {
		had, err := m.o.Store.ListDeliveries(ctx, store.DeliveryQuery{Webhook: id, Before: seq + 1, Limit: 1})
		if err != nil {
			return err
		}
		if len(had) == 0 || had[0].Seq != seq {
			return fault.New(fault.NotFound, "The change %d was never delivered to this webhook, and is not what it selects.", seq)
		}
	}
	return m.enqueue(ctx, id, []store.Delivery{{Webhook: id, Seq: seq, Event: string(changes[0].Event)}})
}

// RedeliverSince sends every change after a seq again that the webhook selects
// as it is now, and returns how many there are. When there are too many, it
// sends none.
func (m *Manager) RedeliverSince(ctx context.Context, owner, id string, since int64) (int, error) {
	h, err := m.findEnabled(ctx, owner, id)
	if err != nil {
		return 0, err
	}
	var found []store.Delivery
	for after := since; ; {
		changes, err := m.o.Store.Changes(ctx, after, pageSize)
		if err != nil {
			return 0, err
		}
		for i := range changes {
			c := &changes[i]
			after = c.Seq
			if h.selects(m.o.Encoder.Encode(c)) {
				found = append(found, store.Delivery{Webhook: id, Seq: c.Seq, Event: string(c.Event)})
			}
		}
		if len(found) > m.maxRedelivered || after-since > maxSearched {
			return 0, &fault.Error{
				Kind: fault.Invalid, Message: fmt.Sprintf("That is too much at once: at most %d changes are sent again, and %d looked at. Nothing is sent.", m.maxRedelivered, maxSearched),
				Fields: []fault.Field{{Name: "since", Value: fmt.Sprint(since), Reason: "use a later one"}},
			}
		}
		if len(changes) < pageSize {
			break
		}
	}
	for some := range slices.Chunk(found, pageSize) {
		if err := m.enqueue(ctx, id, some); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}

func (m *Manager) findEnabled(ctx context.Context, owner, id string) (*hook, error) {
	h, err := m.find(ctx, owner, id)
	if err == nil && !h.Enabled {
		return nil, fault.New(fault.Conflict, "This webhook is disabled: enable it first.")
	}
	return h, err
}

// enqueue makes deliveries due. Those of a webhook that is deleted meanwhile
// would be nobody's.
func (m *Manager) enqueue(ctx context.Context, id string, deliveries []store.Delivery) error {
	if err := m.o.Store.Enqueue(ctx, deliveries...); err != nil {
		return err
	}
	if err := m.Refresh(ctx); err != nil {
		return err
	}
	if m.known.Load().byID[id] == nil {
		return m.o.Store.DropDeliveries(ctx, id)
	}
	m.wakeUp()
	return nil
}

// Stats are counts of this process since its start, and what it is at.
type Stats struct {
	Delivered, Failed, Dead, Retried int64 // deliveries that came through; attempts that did not; deliveries given up; attempts after the first
	Lag                              int64 // changes that have not been handed out
	InFlight                         int   // requests
	Disabled                         int   // webhooks
	// Judging is the time that judging filters took, of all owners and of the
	// one that took most.
	Matching, CostliestOwner time.Duration
}

// Stats returns the counts.
func (m *Manager) Stats() Stats {
	var all, most time.Duration
	m.costs.Lock()
	for _, c := range m.cost {
		all, most = all+c, max(most, c)
	}
	m.costs.Unlock()
	disabled := 0
	for _, h := range m.known.Load().byID {
		if !h.Enabled {
			disabled++
		}
	}
	return Stats{
		Disabled: disabled,
		Matching: all, CostliestOwner: most,
		Delivered: m.delivered.Load(), Failed: m.failed.Load(), Dead: m.dead.Load(), Retried: m.retried.Load(),
		Lag: max(0, m.o.Encoder.Newest()-m.fannedOut.Load()), InFlight: int(m.inFlight.Load()),
	}
}
