// Package monitor measures the calls of a store, and determines which parts of it
// fail. The result is part of the service's status: reading the source is useless
// while its reports cannot be stored.
package monitor

import (
	"context"
	"log/slog"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Parts are the names of the parts of a store, as used in Failures and metrics.
var Parts = []string{"log", "leases", "notes", "records", "marks", "deliveries", "documents"}

// Options are the parameters of New.
type Options struct {
	Logger *slog.Logger
	// Observe, if not nil, is called after every call of a part.
	Observe func(part string, took time.Duration, failed bool)
}

// Store is a store whose calls are monitored.
type Store struct {
	store.Store
	health
}

// New returns a monitored store.
func New(s store.Store, o Options) *Store {
	return &Store{Store: s, health: health{
		logger: o.Logger, observe: o.Observe, methods: map[method]*record{}, damaged: map[string]Failure{},
	}}
}

// Failures returns the parts that fail at present, one entry for each.
func (s *Store) Failures() []Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures()
}

// SetDamaged records the result of a check of a part, and replaces any earlier
// result.
func (s *Store) SetDamaged(part string, damaged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if damaged {
		s.damage(part, part == "log" || part == "leases")
	} else {
		delete(s.damaged, part)
	}
	s.logOutage()
}

// Append implements store.Store.
func (s *Store) Append(ctx context.Context, b store.Batch) (_ store.Outcome, err error) {
	done := s.watch(ctx, method{"log", "Append", true})
	defer func() { done(err) }()
	return s.Store.Append(ctx, b)
}

// Changes implements store.Store.
func (s *Store) Changes(ctx context.Context, after int64, limit int) (_ []disclosure.Change, err error) {
	done := s.watch(ctx, method{"log", "Changes", false})
	defer func() { done(err) }()
	return s.Store.Changes(ctx, after, limit)
}

// ChangesAt implements store.Store.
func (s *Store) ChangesAt(ctx context.Context, seqs ...int64) (_ []disclosure.Change, err error) {
	done := s.watch(ctx, method{"log", "ChangesAt", false})
	defer func() { done(err) }()
	return s.Store.ChangesAt(ctx, seqs...)
}

// Current implements store.Store.
func (s *Store) Current(ctx context.Context, fn func(disclosure.Change) error) (_ disclosure.Head, err error) {
	done := s.watch(ctx, method{"log", "Current", false})
	defer func() { done(err) }()
	return s.Store.Current(ctx, fn)
}

// Reports implements store.Store.
func (s *Store) Reports(ctx context.Context, ids ...string) (_ []disclosure.Report, err error) {
	done := s.watch(ctx, method{"log", "Reports", false})
	defer func() { done(err) }()
	return s.Store.Reports(ctx, ids...)
}

// Newest implements store.Store.
func (s *Store) Newest(ctx context.Context) (_ int64, err error) {
	done := s.watch(ctx, method{"log", "Newest", false})
	defer func() { done(err) }()
	return s.Store.Newest(ctx)
}

// Head implements store.Store.
func (s *Store) Head(ctx context.Context) (_ disclosure.Head, err error) {
	done := s.watch(ctx, method{"log", "Head", false})
	defer func() { done(err) }()
	return s.Store.Head(ctx)
}

// RenewEpoch implements store.Store.
func (s *Store) RenewEpoch(ctx context.Context, replaced string, lost disclosure.Mark, shared ...disclosure.Cursor) (_ disclosure.Head, err error) {
	done := s.watch(ctx, method{"log", "RenewEpoch", false})
	defer func() { done(err) }()
	return s.Store.RenewEpoch(ctx, replaced, lost, shared...)
}

// Wait implements store.Store. The end of the caller's deadline is not a failure.
func (s *Store) Wait(ctx context.Context, after int64) error {
	err := s.Store.Wait(ctx, after)
	if ctx.Err() == nil {
		s.note(ctx, method{"log", "Wait", false}, -1, err)
	}
	return err
}

// AcquireLease implements store.Store.
func (s *Store) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (_ store.Lease, err error) {
	done := s.watch(ctx, method{"leases", "AcquireLease", true})
	defer func() { done(err) }()
	return s.Store.AcquireLease(ctx, name, holder, ttl)
}

// ReleaseLease implements store.Store.
func (s *Store) ReleaseLease(ctx context.Context, l store.Lease) (err error) {
	done := s.watch(ctx, method{"leases", "ReleaseLease", false})
	defer func() { done(err) }()
	return s.Store.ReleaseLease(ctx, l)
}

// PutRecords implements store.Store.
func (s *Store) PutRecords(ctx context.Context, lease *store.Lease, records ...store.Record) (_ []store.Record, err error) {
	m := method{"records", "PutRecords", false}
	if len(records) > 0 {
		m = recordMethod(records[0].Kind, "PutRecords", true)
	}
	done := s.watch(ctx, m)
	defer func() { done(err) }()
	return s.Store.PutRecords(ctx, lease, records...)
}

// RecordsSince implements store.Store.
func (s *Store) RecordsSince(ctx context.Context, kind string, revision int64) (_ []store.Record, err error) {
	done := s.watch(ctx, recordMethod(kind, "RecordsSince", false))
	defer func() { done(err) }()
	return s.Store.RecordsSince(ctx, kind, revision)
}

// recordMethod returns a method of records. The records of coverage are a separate
// part.
func recordMethod(kind, name string, write bool) method {
	if kind == store.CoverageKind {
		return method{"notes", name, write}
	}
	return method{"records", name, false}
}

// ClaimNonce implements store.Store.
func (s *Store) ClaimNonce(ctx context.Context, name string, until time.Time) (_ bool, err error) {
	done := s.watch(ctx, method{"marks", "ClaimNonce", false})
	defer func() { done(err) }()
	return s.Store.ClaimNonce(ctx, name, until)
}

// RecordUse implements store.Store.
func (s *Store) RecordUse(ctx context.Context, name string, at time.Time) (_ time.Time, err error) {
	done := s.watch(ctx, method{"marks", "RecordUse", false})
	defer func() { done(err) }()
	return s.Store.RecordUse(ctx, name, at)
}

// Uses implements store.Store.
func (s *Store) Uses(ctx context.Context) (_ map[string]store.Use, err error) {
	done := s.watch(ctx, method{"marks", "Uses", false})
	defer func() { done(err) }()
	return s.Store.Uses(ctx)
}

// Fanned implements store.Store.
func (s *Store) Fanned(ctx context.Context) (_ int64, err error) {
	done := s.watch(ctx, method{"deliveries", "Fanned", false})
	defer func() { done(err) }()
	return s.Store.Fanned(ctx)
}

// FanOut implements store.Store.
func (s *Store) FanOut(ctx context.Context, f store.FanOut) (err error) {
	done := s.watch(ctx, method{"deliveries", "FanOut", false})
	defer func() { done(err) }()
	return s.Store.FanOut(ctx, f)
}

// Enqueue implements store.Store.
func (s *Store) Enqueue(ctx context.Context, deliveries ...store.Delivery) (err error) {
	done := s.watch(ctx, method{"deliveries", "Enqueue", false})
	defer func() { done(err) }()
	return s.Store.Enqueue(ctx, deliveries...)
}

// Claim implements store.Store.
func (s *Store) Claim(ctx context.Context, c store.Claim) (_ []store.Claimed, err error) {
	done := s.watch(ctx, method{"deliveries", "Claim", false})
	defer func() { done(err) }()
	return s.Store.Claim(ctx, c)
}

// Renew implements store.Store.
func (s *Store) Renew(ctx context.Context, holder string, ttl time.Duration, webhooks ...string) (_ []string, err error) {
	done := s.watch(ctx, method{"deliveries", "Renew", false})
	defer func() { done(err) }()
	return s.Store.Renew(ctx, holder, ttl, webhooks...)
}

// Release implements store.Store.
func (s *Store) Release(ctx context.Context, holder string, webhooks ...string) (err error) {
	done := s.watch(ctx, method{"deliveries", "Release", false})
	defer func() { done(err) }()
	return s.Store.Release(ctx, holder, webhooks...)
}

// Settle implements store.Store.
func (s *Store) Settle(ctx context.Context, results ...store.Result) (err error) {
	done := s.watch(ctx, method{"deliveries", "Settle", false})
	defer func() { done(err) }()
	return s.Store.Settle(ctx, results...)
}

// Endpoints implements store.Store.
func (s *Store) Endpoints(ctx context.Context, webhooks ...string) (_ map[string]store.Endpoint, err error) {
	done := s.watch(ctx, method{"deliveries", "Endpoints", false})
	defer func() { done(err) }()
	return s.Store.Endpoints(ctx, webhooks...)
}

// ListDeliveries implements store.Store.
func (s *Store) ListDeliveries(ctx context.Context, q store.DeliveryQuery) (_ []store.Delivered, err error) {
	done := s.watch(ctx, method{"deliveries", "ListDeliveries", false})
	defer func() { done(err) }()
	return s.Store.ListDeliveries(ctx, q)
}

// DropDeliveries implements store.Store.
func (s *Store) DropDeliveries(ctx context.Context, webhook string) (err error) {
	done := s.watch(ctx, method{"deliveries", "DropDeliveries", false})
	defer func() { done(err) }()
	return s.Store.DropDeliveries(ctx, webhook)
}

// PruneDeliveries implements store.Store.
func (s *Store) PruneDeliveries(ctx context.Context, before time.Time, limit int) (_ int, err error) {
	done := s.watch(ctx, method{"deliveries", "PruneDeliveries", false})
	defer func() { done(err) }()
	return s.Store.PruneDeliveries(ctx, before, limit)
}

// PutDocument implements store.Store.
func (s *Store) PutDocument(ctx context.Context, d store.Document) (err error) {
	done := s.watch(ctx, method{"documents", "PutDocument", false})
	defer func() { done(err) }()
	return s.Store.PutDocument(ctx, d)
}

// Document implements store.Store.
func (s *Store) Document(ctx context.Context, sha256 string) (_ store.Document, err error) {
	done := s.watch(ctx, method{"documents", "Document", false})
	defer func() { done(err) }()
	return s.Store.Document(ctx, sha256)
}

// DocumentPages implements store.Store.
func (s *Store) DocumentPages(ctx context.Context, sha256 ...string) (_ map[string][]string, err error) {
	done := s.watch(ctx, method{"documents", "DocumentPages", false})
	defer func() { done(err) }()
	return s.Store.DocumentPages(ctx, sha256...)
}

// PutOriginal implements store.Store.
func (s *Store) PutOriginal(ctx context.Context, sha256 string, body []byte) (err error) {
	done := s.watch(ctx, method{"documents", "PutOriginal", false})
	defer func() { done(err) }()
	return s.Store.PutOriginal(ctx, sha256, body)
}

// Original implements store.Store.
func (s *Store) Original(ctx context.Context, sha256 string) (_ []byte, err error) {
	done := s.watch(ctx, method{"documents", "Original", false})
	defer func() { done(err) }()
	return s.Store.Original(ctx, sha256)
}

// FindInDocuments implements store.Store.
func (s *Store) FindInDocuments(ctx context.Context, q store.WordQuery) (_ []string, err error) {
	done := s.watch(ctx, method{"documents", "FindInDocuments", false})
	defer func() { done(err) }()
	return s.Store.FindInDocuments(ctx, q)
}
