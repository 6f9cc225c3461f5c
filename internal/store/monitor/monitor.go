// Package monitor measures the calls of a store, and determines which parts of it
// fail. The result is part of the service's status: reading the source is useless
// while its reports cannot be stored.
package monitor

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/mod/sumdb/tlog"

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

// Store is a store whose calls are monitored: each method of store.Store is
// measured and passed on.
type Store struct {
	store.Store
	health
}

// New returns a monitored store.
func New(s store.Store, o Options) *Store {
	return &Store{Store: s, health: health{
		logger:  o.Logger,
		observe: o.Observe,
		methods: map[method]*calls{},
		damaged: map[string]Failure{},
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

func (s *Store) Append(ctx context.Context, b store.Batch) (_ store.Outcome, err error) {
	m := appendReports
	if len(b.Issuers)+len(b.Reports)+len(b.Positions)+len(b.Aside) == 0 {
		m = method{"log", "Append nothing", true} // it does not prove that reports can be stored
	}
	defer s.watch(ctx, m, &err)()
	return s.Store.Append(ctx, b)
}

func (s *Store) Changes(ctx context.Context, after int64, limit int) (_ []disclosure.Change, err error) {
	defer s.watch(ctx, method{"log", "Changes", false}, &err)()
	return s.Store.Changes(ctx, after, limit)
}

func (s *Store) ChangesAt(ctx context.Context, seqs ...int64) (_ []disclosure.Change, err error) {
	defer s.watch(ctx, method{"log", "ChangesAt", false}, &err)()
	return s.Store.ChangesAt(ctx, seqs...)
}

func (s *Store) ChangesOf(
	ctx context.Context,
	of disclosure.Subject,
	id string,
	upTo int64,
	limit int,
) (_ []disclosure.Change, err error) {
	defer s.watch(ctx, method{"log", "ChangesOf", false}, &err)()
	return s.Store.ChangesOf(ctx, of, id, upTo, limit)
}

func (s *Store) AsOf(
	ctx context.Context,
	of disclosure.Subject,
	upTo int64,
	ids ...string,
) (_ []disclosure.Change, err error) {
	defer s.watch(ctx, method{"log", "AsOf", false}, &err)()
	return s.Store.AsOf(ctx, of, upTo, ids...)
}

func (s *Store) Marks(ctx context.Context, after int64, limit int) (_ []disclosure.Mark, err error) {
	defer s.watch(ctx, method{"log", "Marks", false}, &err)()
	return s.Store.Marks(ctx, after, limit)
}

func (s *Store) Current(ctx context.Context, fn func(disclosure.Change) error) (_ disclosure.Head, err error) {
	defer s.watch(ctx, method{"log", "Current", false}, &err)()
	return s.Store.Current(ctx, fn)
}

func (s *Store) LeafHashes(ctx context.Context, after int64, fn func(tlog.Hash) error) (err error) {
	defer s.watch(ctx, method{"log", "LeafHashes", false}, &err)()
	return s.Store.LeafHashes(ctx, after, fn)
}

func (s *Store) Leaves(ctx context.Context, after int64, limit int) (_ []disclosure.Leaf, err error) {
	defer s.watch(ctx, method{"log", "Leaves", false}, &err)()
	return s.Store.Leaves(ctx, after, limit)
}

func (s *Store) AddLeaves(ctx context.Context) (_ int, err error) {
	defer s.watch(ctx, method{"log", "AddLeaves", false}, &err)()
	return s.Store.AddLeaves(ctx)
}

func (s *Store) Reports(ctx context.Context, ids ...string) (_ []disclosure.Report, err error) {
	defer s.watch(ctx, method{"log", "Reports", false}, &err)()
	return s.Store.Reports(ctx, ids...)
}

func (s *Store) Positions(ctx context.Context, ids ...string) (_ []disclosure.Position, err error) {
	defer s.watch(ctx, method{"log", "Positions", false}, &err)()
	return s.Store.Positions(ctx, ids...)
}

func (s *Store) EraseNames(ctx context.Context, lease *store.Lease, ids ...string) (_ store.Outcome, err error) {
	defer s.watch(ctx, method{"log", "EraseNames", true}, &err)()
	return s.Store.EraseNames(ctx, lease, ids...)
}

func (s *Store) NameOpening(ctx context.Context, sealed string) (_ store.SealedName, _ bool, err error) {
	defer s.watch(ctx, method{"log", "NameOpening", false}, &err)()
	return s.Store.NameOpening(ctx, sealed)
}

func (s *Store) SealedNames(ctx context.Context, fn func(sealed, name string)) (err error) {
	defer s.watch(ctx, method{"log", "SealedNames", false}, &err)()
	return s.Store.SealedNames(ctx, fn)
}

func (s *Store) Newest(ctx context.Context) (_ int64, err error) {
	defer s.watch(ctx, method{"log", "Newest", false}, &err)()
	return s.Store.Newest(ctx)
}

func (s *Store) Head(ctx context.Context) (_ disclosure.Head, err error) {
	defer s.watch(ctx, method{"log", "Head", false}, &err)()
	return s.Store.Head(ctx)
}

func (s *Store) RenewEpoch(
	ctx context.Context, replaced string, lost disclosure.Mark, shared ...disclosure.Cursor,
) (_ disclosure.Head, err error) {
	defer s.watch(ctx, method{"log", "RenewEpoch", false}, &err)()
	return s.Store.RenewEpoch(ctx, replaced, lost, shared...)
}

// Wait is not measured. The end of the caller's deadline is not a failure.
func (s *Store) Wait(ctx context.Context, after int64) error {
	err := s.Store.Wait(ctx, after)
	if ctx.Err() == nil {
		s.record(ctx, method{"log", "Wait", false}, -1, err)
	}
	return err
}

func (s *Store) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (_ store.Lease, err error) {
	defer s.watch(ctx, acquireLease, &err)()
	return s.Store.AcquireLease(ctx, name, holder, ttl)
}

func (s *Store) ReleaseLease(ctx context.Context, l store.Lease) (err error) {
	defer s.watch(ctx, method{"leases", "ReleaseLease", false}, &err)()
	return s.Store.ReleaseLease(ctx, l)
}

func (s *Store) CurrentLease(ctx context.Context, name string) (_ store.Lease, _ bool, err error) {
	defer s.watch(ctx, method{"leases", "CurrentLease", false}, &err)()
	return s.Store.CurrentLease(ctx, name)
}

func (s *Store) PutRecords(
	ctx context.Context,
	lease *store.Lease,
	records ...store.Record,
) (_ []store.Record, err error) {
	m := method{"records", "PutRecords", false}
	if len(records) > 0 {
		m = recordMethod(records[0].Kind, "PutRecords", true)
	}
	defer s.watch(ctx, m, &err)()
	return s.Store.PutRecords(ctx, lease, records...)
}

func (s *Store) RecordsSince(ctx context.Context, kind string, revision int64) (_ []store.Record, err error) {
	defer s.watch(ctx, recordMethod(kind, "RecordsSince", false), &err)()
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

func (s *Store) ClaimNonce(ctx context.Context, name string, until time.Time) (_ bool, err error) {
	defer s.watch(ctx, method{"marks", "ClaimNonce", false}, &err)()
	return s.Store.ClaimNonce(ctx, name, until)
}

func (s *Store) RecordUse(ctx context.Context, name string, at time.Time) (_ time.Time, err error) {
	defer s.watch(ctx, method{"marks", "RecordUse", false}, &err)()
	return s.Store.RecordUse(ctx, name, at)
}

func (s *Store) Uses(ctx context.Context) (_ map[string]store.Use, err error) {
	defer s.watch(ctx, method{"marks", "Uses", false}, &err)()
	return s.Store.Uses(ctx)
}

func (s *Store) AddCounts(ctx context.Context, batch string, counts ...store.Count) (err error) {
	defer s.watch(ctx, method{"marks", "AddCounts", false}, &err)()
	return s.Store.AddCounts(ctx, batch, counts...)
}

func (s *Store) Counts(ctx context.Context, owner string, first, last disclosure.Day) (_ []store.Count, err error) {
	defer s.watch(ctx, method{"marks", "Counts", false}, &err)()
	return s.Store.Counts(ctx, owner, first, last)
}

func (s *Store) PruneCounts(ctx context.Context, before disclosure.Day, limit int) (_ int, err error) {
	defer s.watch(ctx, method{"marks", "PruneCounts", false}, &err)()
	return s.Store.PruneCounts(ctx, before, limit)
}

func (s *Store) Fanned(ctx context.Context, of store.Consumer) (_ int64, err error) {
	defer s.watch(ctx, method{"deliveries", "Fanned", false}, &err)()
	return s.Store.Fanned(ctx, of)
}

func (s *Store) FanOut(ctx context.Context, f store.FanOut) (err error) {
	defer s.watch(ctx, method{"deliveries", "FanOut", false}, &err)()
	return s.Store.FanOut(ctx, f)
}

func (s *Store) Enqueue(ctx context.Context, deliveries ...store.Delivery) (err error) {
	defer s.watch(ctx, method{"deliveries", "Enqueue", false}, &err)()
	return s.Store.Enqueue(ctx, deliveries...)
}

func (s *Store) Claim(ctx context.Context, c store.Claim) (_ []store.Claimed, err error) {
	defer s.watch(ctx, method{"deliveries", "Claim", false}, &err)()
	return s.Store.Claim(ctx, c)
}

func (s *Store) Renew(
	ctx context.Context,
	holder string,
	ttl time.Duration,
	webhooks ...string,
) (_ []string, err error) {
	defer s.watch(ctx, method{"deliveries", "Renew", false}, &err)()
	return s.Store.Renew(ctx, holder, ttl, webhooks...)
}

func (s *Store) Release(ctx context.Context, holder string, webhooks ...string) (err error) {
	defer s.watch(ctx, method{"deliveries", "Release", false}, &err)()
	return s.Store.Release(ctx, holder, webhooks...)
}

func (s *Store) Settle(ctx context.Context, results ...store.Result) (err error) {
	defer s.watch(ctx, method{"deliveries", "Settle", false}, &err)()
	return s.Store.Settle(ctx, results...)
}

func (s *Store) Endpoints(ctx context.Context, webhooks ...string) (_ map[string]store.Endpoint, err error) {
	defer s.watch(ctx, method{"deliveries", "Endpoints", false}, &err)()
	return s.Store.Endpoints(ctx, webhooks...)
}

func (s *Store) ListDeliveries(ctx context.Context, q store.DeliveryQuery) (_ []store.Delivered, err error) {
	defer s.watch(ctx, method{"deliveries", "ListDeliveries", false}, &err)()
	return s.Store.ListDeliveries(ctx, q)
}

func (s *Store) DropDeliveries(ctx context.Context, webhook string) (err error) {
	defer s.watch(ctx, method{"deliveries", "DropDeliveries", false}, &err)()
	return s.Store.DropDeliveries(ctx, webhook)
}

func (s *Store) PruneDeliveries(ctx context.Context, before time.Time, limit int) (_ int, err error) {
	defer s.watch(ctx, method{"deliveries", "PruneDeliveries", false}, &err)()
	return s.Store.PruneDeliveries(ctx, before, limit)
}

func (s *Store) CorrectTimes(ctx context.Context, ttl, longest time.Duration) (_ int, err error) {
	defer s.watch(ctx, method{"deliveries", "CorrectTimes", false}, &err)()
	return s.Store.CorrectTimes(ctx, ttl, longest)
}

func (s *Store) PutDocument(ctx context.Context, d store.Document) (err error) {
	defer s.watch(ctx, method{"documents", "PutDocument", false}, &err)()
	return s.Store.PutDocument(ctx, d)
}

func (s *Store) Document(ctx context.Context, sha256 string) (_ store.Document, err error) {
	defer s.watch(ctx, method{"documents", "Document", false}, &err)()
	return s.Store.Document(ctx, sha256)
}

func (s *Store) DocumentPages(ctx context.Context, sha256 ...string) (_ map[string][]string, err error) {
	defer s.watch(ctx, method{"documents", "DocumentPages", false}, &err)()
	return s.Store.DocumentPages(ctx, sha256...)
}

func (s *Store) PutOriginal(ctx context.Context, sha256 string, body []byte) (err error) {
	defer s.watch(ctx, method{"documents", "PutOriginal", false}, &err)()
	return s.Store.PutOriginal(ctx, sha256, body)
}

func (s *Store) Original(ctx context.Context, sha256 string) (_ []byte, err error) {
	defer s.watch(ctx, method{"documents", "Original", false}, &err)()
	return s.Store.Original(ctx, sha256)
}

func (s *Store) KeepDocument(ctx context.Context, sha256 string) (err error) {
	defer s.watch(ctx, method{"documents", "KeepDocument", false}, &err)()
	return s.Store.KeepDocument(ctx, sha256)
}

func (s *Store) RemoveDocuments(ctx context.Context, grace time.Duration) (_ int, _ bool, err error) {
	defer s.watch(ctx, method{"documents", "RemoveDocuments", false}, &err)()
	return s.Store.RemoveDocuments(ctx, grace)
}

func (s *Store) Segments(ctx context.Context) (_ []store.Segment, err error) {
	defer s.watch(ctx, method{"documents", "Segments", false}, &err)()
	return s.Store.Segments(ctx)
}

func (s *Store) SegmentHeads(ctx context.Context, segments []int64, fn func(int64, []byte) error) (err error) {
	defer s.watch(ctx, method{"documents", "SegmentHeads", false}, &err)()
	return s.Store.SegmentHeads(ctx, segments, fn)
}

func (s *Store) Blocks(ctx context.Context, ids []int64, fn func(int64, []byte)) (err error) {
	defer s.watch(ctx, method{"documents", "Blocks", false}, &err)()
	return s.Store.Blocks(ctx, ids, fn)
}

func (s *Store) NewSegment(ctx context.Context) (_ int64, err error) {
	defer s.watch(ctx, method{"documents", "NewSegment", false}, &err)()
	return s.Store.NewSegment(ctx)
}

func (s *Store) PutBlocks(ctx context.Context, segment int64, from int, blocks [][]byte) (err error) {
	defer s.watch(ctx, method{"documents", "PutBlocks", false}, &err)()
	return s.Store.PutBlocks(ctx, segment, from, blocks)
}

func (s *Store) UseSegment(ctx context.Context, segment store.Segment, in store.Replaced) (err error) {
	defer s.watch(ctx, method{"documents", "UseSegment", false}, &err)()
	return s.Store.UseSegment(ctx, segment, in)
}

func (s *Store) DropSegment(ctx context.Context, segment int64) (err error) {
	defer s.watch(ctx, method{"documents", "DropSegment", false}, &err)()
	return s.Store.DropSegment(ctx, segment)
}

func (s *Store) SweepSegments(ctx context.Context) (_ bool, err error) {
	defer s.watch(ctx, method{"documents", "SweepSegments", false}, &err)()
	return s.Store.SweepSegments(ctx)
}

func (s *Store) Unindexed(ctx context.Context, limit int) (_ []string, err error) {
	defer s.watch(ctx, method{"documents", "Unindexed", false}, &err)()
	return s.Store.Unindexed(ctx, limit)
}
