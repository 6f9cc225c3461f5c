package token_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pregon/internal/store"
)

// memoryStore keeps records and nonces in memory, with the guarantees of a store.
type memoryStore struct {
	mu       sync.Mutex
	records  map[string]store.Record // guarded by mu, like the rest
	revision int64
	marks    map[string]time.Time
	broken   error
	reads    int
}

func newStore() *memoryStore {
	return &memoryStore{records: map[string]store.Record{}, marks: map[string]time.Time{}}
}

// fail makes every call fail from now on; nil ends it.
func (m *memoryStore) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = err
}

func (m *memoryStore) readCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads
}

func (m *memoryStore) markNames() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for name := range m.marks {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// PutRecords writes one record, which is all that a ring ever writes at a time.
func (m *memoryStore) PutRecords(_ context.Context, _ *store.Lease, records ...store.Record) ([]store.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return nil, m.broken
	}
	key := records[0].Kind + "/" + records[0].ID
	known := map[string]store.Record{records[0].ID: m.records[key]}
	result, written, err := store.PlanRecords(records, known, m.revision)
	for _, r := range written {
		m.records[key], m.revision = r, r.Revision
	}
	return result, err
}

func (m *memoryStore) RecordsSince(_ context.Context, kind string, revision int64) ([]store.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	if m.broken != nil {
		return nil, m.broken
	}
	var out []store.Record
	for _, r := range m.records {
		if r.Kind == kind && r.Revision > revision {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b store.Record) int { return int(a.Revision - b.Revision) })
	return out, nil
}

func (m *memoryStore) ClaimNonce(_ context.Context, name string, until time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return false, m.broken
	}
	if old, there := m.marks[name]; there && !time.Now().After(old) {
		return false, nil
	}
	m.marks[name] = until
	return true, nil
}

func (m *memoryStore) RecordUse(context.Context, string, time.Time) (time.Time, error) {
	return time.Time{}, errors.ErrUnsupported
}

func (m *memoryStore) Uses(context.Context) (map[string]store.Use, error) {
	return nil, errors.ErrUnsupported
}

var _ interface {
	store.Records
	store.Nonces
} = (*memoryStore)(nil)

// seal is a Sealer without encryption that checks name and secret like a real one.
type seal struct{ secret string }

func (s seal) Seal(name, text string) string {
	return "sealed:" + s.secret + ":" + name + ":" + reverse(text)
}

func (s seal) Open(name, sealed string) (string, error) {
	text, ok := strings.CutPrefix(sealed, "sealed:"+s.secret+":"+name+":")
	if !ok {
		return "", fmt.Errorf("%s was not sealed with this secret", name)
	}
	return reverse(text), nil
}

func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
