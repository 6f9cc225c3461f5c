package webhook

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/push/events"
	"pregon/internal/server/outbound"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// Store is the part of the store that webhooks need.
type Store interface {
	store.Records
	store.Deliveries
	store.Usage
	Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error)
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
	Newest(ctx context.Context) (int64, error)
	Head(ctx context.Context) (disclosure.Head, error)
	Wait(ctx context.Context, after int64) error
}

// Sealer encrypts secrets in the store.
type Sealer interface {
	Seal(name, text string) string
	Open(name, sealed string) (string, error)
}

// Encoder encodes changes; events.Hub is one.
type Encoder interface {
	Encode(*disclosure.Change) *events.Event
	// Newest is the newest change in Encode's directory. No later one is
	// matched, since a filter may need data of the directory.
	Newest() int64
	// Head is Newest with the epoch of the log.
	Head() disclosure.Head
	// Seen is Head with the mark of its change.
	Seen() (disclosure.Head, disclosure.Mark)
	// Lacks returns an Unavailable error if this process does not have the change of
	// a cursor yet, and nil if the log does not have it.
	Lacks(ctx context.Context, c disclosure.Cursor) error
	// Text loads the words of the document of an event that a selector with
	// InDocument matches.
	Text(ctx context.Context, e *events.Event) (*document.Content, error)
}

// Keys knows which keys are valid; access.Keyring is one.
type Keys interface {
	// State returns what a key may do now.
	State(id string) (o access.Owner, known bool)
	// Behind returns the time since all keys were last known.
	Behind() time.Duration
}

// Options are a manager's collaborators.
type Options struct {
	Store        Store
	Sealer       Sealer
	Encoder      Encoder
	AllowPrivate bool         // receivers may have any address and use plain http
	Client       *http.Client // nil: one of package outbound
	// OwnerStatus returns the status of an owner. While it is gone, deliveries
	// are kept but not sent. Nil: every owner is served.
	OwnerStatus func(owner string) OwnerStatus
	// Keys knows the keys with which webhooks were made. While one is not valid, its
	// webhooks are treated as those of a gone owner. Nil: every key is valid.
	Keys Keys
	// OwnerTimeout is the time without use after which the subject of a token
	// counts as gone. 0: never.
	OwnerTimeout time.Duration
	Logger       *slog.Logger
	Audit        func(ctx context.Context, event string, attrs ...slog.Attr)
	UserAgent    string
	// Observe, if not nil, is called after every attempt that was not canceled. The
	// status is 0 if there was no answer.
	Observe func(host string, status int, delivered bool, start time.Time, took time.Duration)
}

// Manager keeps webhooks and delivers to them.
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

	wake   chan struct{} // signals that deliveries may be due
	bodies *bodies

	delivered, failed, dead, retried atomic.Int64
	inFlight                         atomic.Int64
	fannedOut                        atomic.Int64

	owners  sync.Mutex
	seen    map[string]time.Time // guarded by owners: when owners were last seen, to the day
	unsaved map[string]time.Time // guarded by owners: the part that is not written yet

	costs sync.Mutex
	cost  map[string]time.Duration // guarded by costs: the time that matching took, by owner
	// matching is guarded by costs: the time that matching took, also for owners without
	// webhooks.
	matching time.Duration
}

// timing holds the durations and limits that tests change.
type timing struct {
	sendTimeout    time.Duration
	delays         [maxAttempts - 1]time.Duration
	backoff        time.Duration // after a failure, before the next delivery to the same receiver
	claimFor       time.Duration // renewed every quarter of it; a claim of a dead process lasts this long
	poll           time.Duration
	maxFailing     time.Duration // time of failures after which a webhook is disabled
	grace          time.Duration // for requests in flight when the manager stops
	settleTimeout  time.Duration // for writing their results after that
	slots          int           // concurrent claims of working webhooks, and of failing ones
	maxRedelivered int           // changes of one redelivery
}

// hooks is an immutable snapshot of the webhooks.
type hooks struct {
	byID     map[string]*hook
	owners   map[string]bool
	revision int64  // of the newest record
	epoch    string // of the catalogue when they were read; empty before the first read
}

// hook is a webhook with its compiled filter and secrets.
type hook struct {
	Webhook
	signers     []signer
	selector    *events.Selector // nil if the filter is too long
	filterError string           // why selector is nil
}

// selects reports whether the webhook selects an event, apart from the words of its
// document.
func (h *hook) selects(e *events.Event) bool { return h.selector != nil && h.selector.Match(e) }

// New returns a manager without webhooks. Refresh loads them.
func New(o Options) *Manager {
	if o.OwnerStatus == nil {
		o.OwnerStatus = func(string) OwnerStatus { return OwnerStatus{Scope: access.AllScopes} }
	}
	if o.Audit == nil {
		o.Audit = func(context.Context, string, ...slog.Attr) {}
	}
	m := &Manager{
		o:              o,
		log:            o.Logger,
		resolver:       net.DefaultResolver,
		removed:        map[string]struct{}{},
		testsOfWebhook: ratelimit.NewWindow(testsOfWebhook),
		testsOfOwner:   ratelimit.NewWindow(testsOfOwner),
		seen:           map[string]time.Time{},
		unsaved:        map[string]time.Time{},
		wake:           make(chan struct{}, 1),
		bodies:         newBodies(),
		cost:           map[string]time.Duration{},
		timing: timing{
			sendTimeout:    sendTimeout,
			delays:         delays,
			backoff:        time.Second,
			claimFor:       8 * time.Second,
			poll:           500 * time.Millisecond,
			maxFailing:     maxFailing,
			grace:          10 * time.Second,
			settleTimeout:  5 * time.Second,
			slots:          maxSlots,
			maxRedelivered: maxRedelivered,
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
	following := follow.Options{
		Kind:   kind,
		Noun:   "webhooks",
		Store:  o.Store,
		Apply:  m.apply,
		Logger: m.log,
	}
	if o.Encoder != nil {
		following.Epoch = func() string { return o.Encoder.Head().Epoch }
	}
	m.follower = follow.New(following)
	m.known.Store(&hooks{})
	return m
}

// Refresh loads the webhooks that were written since the last call.
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
			m.log.ErrorContext(ctx, "cannot read a webhook: it gets no deliveries", "webhook", r.ID, "err", err)
			continue
		}
		h := &hook{Webhook: w}
		if h.filterError = events.FilterError(w.Filter); h.filterError == "" {
			h.selector = w.Selection().Compile()
		}
		if h.signers, err = openSecrets(&w, m.o.Sealer); err != nil {
			m.log.ErrorContext(ctx, "cannot decrypt a secret of a webhook: it does not sign", "webhook", r.ID, "err", err)
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
