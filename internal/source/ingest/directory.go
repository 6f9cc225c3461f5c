package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

const (
	directoryEvery = 24 * time.Hour
	directoryRetry = 10 * time.Minute    // after the first failure; it doubles with each
	directorySlow  = time.Hour           // the longest wait after a failure: the state is degraded meanwhile
	detailsEvery   = 30 * 24 * time.Hour // for shares whose line in the list did not change
	mostAway       = 5                   // shares in a row that fail before the exchange counts as away
)

// part is something of the directory that is read by itself: what fails is
// tried again without the rest.
type part struct {
	name string // of the clock that returns when it was last read to its end
	read func(context.Context, *roll) error
}

// setback is what is remembered of a part that failed.
type setback struct {
	Tries int       `json:"tries"` // in a row
	At    time.Time `json:"at"`
	Why   string    `json:"why"` // as it may be told
}

// lacking is the failure of single rows of what was otherwise read to its end.
type lacking struct{ error }

func (l lacking) Unwrap() error { return l.error }

func lackingRows(err error) error {
	if partly(err) {
		return lacking{err}
	}
	return err
}

// refreshDirectory reads registers and exchange once a day. What they fail to
// show stays: only new words change an issuer.
func (s *session) refreshDirectory(ctx context.Context) error {
	s.recall(health.Register, s.registers())
	s.recall(health.Exchange, s.exchange())
	for {
		s.refreshAll(ctx)
		if err := retry.Sleep(ctx, time.Minute); err != nil {
			return err
		}
	}
}

// recall tells the board what failed in an earlier term and is not yet tried
// again.
func (s *session) recall(surface string, parts []part) {
	var worst setback
	for _, p := range parts {
		if last := s.setback(p); last.Tries > worst.Tries {
			worst = last
		}
	}
	if worst.Tries > 0 {
		s.board.Fail(surface, worst.Why, worst.Tries > 1)
	}
}

// refreshAll reads what is due of registers and exchange.
func (s *session) refreshAll(ctx context.Context) {
	s.directory.Lock()
	defer s.directory.Unlock()
	r := s.newRoll()
	s.refresh(ctx, r, health.Register, s.registers())
	s.refresh(ctx, r, health.Exchange, s.exchange())
}

// registers are the lists of managers and funds, which give NIF and register
// number, and then the open data, which give ISINs by register number.
func (s *session) registers() []part {
	client := s.Regulator.For(throttle.Registers)
	parts := []part{{health.Register + "/managers", func(ctx context.Context, r *roll) error {
		return r.register(ctx, "the managers", func(ctx context.Context, _ int) (regulator.Entities, error) { return client.Managers(ctx) })
	}}}
	for _, register := range regulator.FundRegisters {
		name := fmt.Sprintf("%s-%d", register.Name, register.List)
		parts = append(parts, part{health.Register + "/" + name, func(ctx context.Context, r *roll) error {
			return r.register(ctx, name, func(ctx context.Context, page int) (regulator.Entities, error) {
				return client.Funds(ctx, register, page)
			})
		}})
	}
	return append(parts, part{health.Register + "/opendata", func(ctx context.Context, r *roll) error { return r.openData(ctx, client) }})
}

// exchange is one part: it remembers every share by itself.
func (s *session) exchange() []part {
	if s.Exchange == nil {
		return nil
	}
	return []part{{health.Exchange, func(ctx context.Context, r *roll) error { return r.exchange(ctx) }}}
}

// refresh reads the parts of a surface that are due. The surface is well when
// all of them are; its clock returns when the last of them was read to its end.
func (s *session) refresh(ctx context.Context, r *roll, surface string, parts []part) {
	var failed error
	tried, whole, well := false, true, true
	began := time.Now()
	for _, p := range parts {
		if s.due(p) {
			tried = true
			err := s.try(ctx, r, p)
			if ctx.Err() != nil || lost(err) {
				return
			}
			failed = cmp.Or(failed, err)
		}
		last, done := s.setback(p), s.Coverage.Time(p.name)
		well = well && last.Tries == 0
		whole = whole && !done.IsZero() && !done.Before(last.At)
	}
	if !tried {
		return
	}
	if failed != nil || well { // else what failed before waits to be tried again
		_ = s.note(ctx, surface, failed)
	}
	if whole {
		_ = s.Coverage.SetTime(ctx, s.lease, surface, began) // else after the next reading
	}
	if failed == nil {
		s.Logger.Info("directory refreshed", "surface", surface, "took", time.Since(began))
	}
}

// due reports whether a part is to be read: daily, and after a failure sooner.
func (s *session) due(p part) bool {
	if last := s.setback(p); last.Tries > 0 {
		return time.Since(last.At) >= last.wait()
	}
	return time.Since(s.Coverage.Time(p.name)) >= directoryEvery
}

// wait doubles with every failure.
func (b setback) wait() time.Duration {
	return retry.Backoff(b.Tries-1, directoryRetry, directorySlow)
}

func (p part) memo() string { return p.name + "/failed" }

// setback returns how a part failed; no tries mean that it did not.
func (s *session) setback(p part) (last setback) {
	_ = json.Unmarshal([]byte(s.Coverage.Value(p.memo())), &last) // nothing is no setback
	return last
}

// try reads a part and remembers how that went. If it cannot be remembered it
// is done again, which does no harm.
func (s *session) try(ctx context.Context, r *roll, p part) error {
	err := p.read(ctx, r)
	if ctx.Err() != nil {
		return ctx.Err() // which says nothing of the source
	}
	now := time.Now().UTC().Truncate(time.Second) // as clocks are kept
	if last := s.setback(p); err != nil {
		s.Logger.Warn("the directory could not be refreshed", "part", p.name, "tries", last.Tries+1, "err", err)
		text, _ := json.Marshal(setback{Tries: last.Tries + 1, At: now, Why: trouble(err)})
		_ = s.Coverage.SetValue(ctx, s.lease, p.memo(), string(text))
	} else if last.Tries > 0 {
		_ = s.Coverage.SetValue(ctx, s.lease, p.memo(), "")
	}
	if _, rows := errors.AsType[lacking](err); err == nil || rows {
		_ = s.Coverage.SetTime(ctx, s.lease, p.name, now)
	}
	return err
}

// roll joins what several registers tell of the same issuer. The catalogue may
// not yet show what this refresh appended.
type roll struct {
	s     *session
	at    map[string]disclosure.Issuer // by every key
	named map[string]string            // names that registers told, by id
}

func (s *session) newRoll() *roll {
	return &roll{s: s, at: map[string]disclosure.Issuer{}, named: map[string]string{}}
}

// find returns the issuer that one of the keys names.
func (r *roll) find(keys ...string) (disclosure.Issuer, bool) {
	for _, key := range keys {
		if key = disclosure.IssuerKey(key); key == "" {
			continue
		}
		if i, ok := r.at[key]; ok {
			return i, true
		}
		if i, ok := r.s.known.Issuer(key); ok {
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
	err := r.s.claim(ctx)
	if err == nil {
		_, err = r.s.Store.Append(ctx, store.Batch{Issuers: good, Lease: r.s.lease})
	}
	if err := r.s.note(ctx, health.Store, notKept(err)); err != nil {
		return fmt.Errorf("keeping %d issuers: %w", len(good), err)
	}
	for _, i := range good {
		all := i
		if known, ok := r.find(i.ID); ok && known.ID == i.ID {
			all, _ = known.Merge(i)
		}
		for _, key := range all.Keys() {
			r.at[key] = all
		}
	}
	return nil
}
