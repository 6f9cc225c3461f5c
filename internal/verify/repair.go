package verify

import (
	"context"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// repairAtOnce is the number of rows that one transaction repairs. Other writers
// wait for it.
const repairAtOnce = 500

// lostText is the reason of a document that is to be fetched again.
const lostText = "Its text was lost, and the document waits to be read again."

// Repair rebuilds what Run has found and what can be rebuilt. It changes nothing if
// the log could not be read to its end. hold is called before each step: it returns
// the lease under which reports are written, which the caller holds so that no
// other process reads the source.
//
// Each step is one transaction, and is right by itself: after a crash the rest is
// found again. No row of the log is changed or removed. A text that is lost makes one
// more change of its report, which says that it is to be fetched again.
func (c *Checker) Repair(ctx context.Context, hold func(context.Context) (*store.Lease, error)) error {
	if !c.log.complete {
		return nil
	}
	r := repair{Checker: c, hold: hold}
	for _, step := range []func(context.Context) error{
		r.leaves, r.pointers, r.names, r.filed, r.lostTexts, r.brokenTexts, r.deliveries, r.words,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

type repair struct {
	*Checker
	hold func(context.Context) (*store.Lease, error)
}

// inSteps runs fn in a transaction for each few of the values.
func inSteps[T any](ctx context.Context, r *repair, values []T, fn func(tx relational.Tx, some []T) error) error {
	for some := range slices.Chunk(values, repairAtOnce) {
		if _, err := r.hold(ctx); err != nil {
			return err
		}
		err := r.base.Update(ctx, func(tx relational.Tx) error { return fn(tx, some) })
		if err != nil {
			return r.base.Failed("repairing the store", err)
		}
	}
	return nil
}

// catchUp locks the log and reads the changes that were appended since it was read.
func (r *repair) catchUp(ctx context.Context, tx relational.Tx) (head int64, err error) {
	if head, err = r.base.LockLog(ctx, tx); err != nil {
		return 0, err
	}
	rows, err := readRows(ctx, tx, `seq > $1 ORDER BY seq`, r.log.head)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		change, err := row.Decode()
		if err != nil {
			return 0, err
		}
		r.log.add(&change)
		r.log.head = row.Seq
	}
	return head, nil
}

// leaves hashes the log again from the first hash that is missing. It does nothing if
// a change differs from its hash, which would then be hashed as it is. Whether the
// hashes are those that were published is seen by those who keep a checkpoint.
func (r *repair) leaves(ctx context.Context) error {
	if !r.broken.leaves || r.broken.hashes {
		return nil
	}
	err := inSteps(ctx, r, []int64{r.broken.hashed}, func(tx relational.Tx, hashed []int64) error {
		if _, err := r.base.LockLog(ctx, tx); err != nil {
			return err
		}
		tx.Exec(ctx, `DELETE FROM leaf WHERE seq > $1`, hashed[0])
		tx.Exec(ctx, `UPDATE log_head SET leaves = (SELECT coalesce(max(seq), 0) FROM leaf)`)
		return nil
	})
	for err == nil {
		var added int
		if added, err = r.db.AddLeaves(ctx); added == 0 {
			break
		}
	}
	return err
}

func (r *repair) pointers(ctx context.Context) error {
	return inSteps(ctx, r, r.broken.pointers, func(tx relational.Tx, some []subject) error {
		if _, err := r.catchUp(ctx, tx); err != nil {
			return err
		}
		for _, s := range some {
			now, known := r.log.subjects[s]
			if !known {
				tx.Exec(ctx, `DELETE FROM `+s.table()+` WHERE id = $1`, s.id)
				continue
			}
			tx.Exec(ctx, `INSERT INTO `+s.table()+` (id, seq) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET seq = excluded.seq`, s.id, now.seq)
		}
		return nil
	})
}

// names removes the names that the log has erased.
func (r *repair) names(ctx context.Context) error {
	return inSteps(ctx, r, r.broken.names, func(tx relational.Tx, some []string) error {
		for _, statement := range r.base.Erasing {
			tx.Exec(ctx, statement)
		}
		tx.Exec(ctx, `DELETE FROM sealed_name WHERE sealed `+r.base.SQL.In(`$1`), some)
		for _, statement := range r.base.Erased {
			tx.Exec(ctx, statement)
		}
		return nil
	})
}

func (r *repair) filed(ctx context.Context) error {
	return inSteps(ctx, r, r.broken.filed, func(tx relational.Tx, some []string) error {
		head, err := r.catchUp(ctx, tx)
		if err != nil {
			return err
		}
		documents := make(map[string]string, len(some))
		for _, id := range some {
			documents[id] = "" // none
			if now := r.log.subjects[reportOf(id)]; now.ready {
				documents[id] = now.text.String()
			}
		}
		r.base.Appended(ctx, tx, head, documents)
		return nil
	})
}

// lostTexts appends changes after which the service fetches the documents again.
func (r *repair) lostTexts(ctx context.Context) error {
	for some := range slices.Chunk(r.broken.lost, repairAtOnce) {
		lease, err := r.hold(ctx)
		if err != nil {
			return err
		}
		batch := store.Batch{Lease: lease}
		for _, id := range some {
			t, number, ok := disclosure.ParseReportID(id)
			if !ok {
				continue
			}
			batch.Aside = append(batch.Aside, disclosure.Report{
				ID:       id,
				Type:     t,
				Number:   number,
				Document: disclosure.Document{Status: disclosure.DocumentPending, Reason: lostText},
			})
		}
		if _, err := r.db.Append(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// brokenTexts removes texts that cannot be decoded. The service would neither
// return nor replace them. One that a report without a link has stays.
func (r *repair) brokenTexts(ctx context.Context) error {
	return inSteps(ctx, r, r.broken.texts, func(tx relational.Tx, some []string) error {
		for _, sha256 := range some {
			used, err := relational.Column[string](ctx, tx,
				`SELECT report FROM (`+r.base.FiledDocuments+`) AS f WHERE sha256 = $1 LIMIT 1`, sha256)
			if err != nil {
				return err
			}
			if len(used) > 0 {
				continue
			}
			for _, statement := range r.base.RemoveText {
				tx.Exec(ctx, statement, sha256)
			}
		}
		return nil
	})
}

func (r *repair) deliveries(ctx context.Context) error {
	err := inSteps(ctx, r, r.broken.attempts, func(tx relational.Tx, some []attempt) error {
		for _, a := range some {
			tx.Exec(ctx, `DELETE FROM attempt WHERE webhook = $1 AND seq = $2
				AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.webhook = $1 AND d.seq = $2)`, a.webhook, a.seq)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = inSteps(ctx, r, r.broken.unserved, func(tx relational.Tx, some []string) error {
		for _, webhook := range some {
			tx.Exec(ctx, `INSERT INTO endpoint (webhook) VALUES ($1) ON CONFLICT DO NOTHING`, webhook)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, webhook := range slices.Concat(r.broken.orphans, r.broken.unserved) {
		if err := r.dropOrphan(ctx, webhook); err != nil {
			return err
		}
	}
	return inSteps(ctx, r, r.broken.fanned, func(tx relational.Tx, tables []string) error {
		for _, table := range tables {
			tx.Exec(ctx, `INSERT INTO `+table+` (one, seq) SELECT one, seq FROM log_head WHERE true
				ON CONFLICT (one) DO UPDATE SET seq = excluded.seq`)
		}
		return nil
	})
}

// dropOrphan removes the data of a webhook or a channel that does not exist.
func (r *repair) dropOrphan(ctx context.Context, webhook string) error {
	if slices.Contains(textQueues, webhook) {
		return nil
	}
	known, err := relational.Column[string](ctx, r.base,
		`SELECT r.id FROM record r WHERE `+receives+` AND r.id = $1`, webhook)
	if err != nil || len(known) > 0 {
		return err
	}
	return r.db.DropDeliveries(ctx, webhook)
}

// words drops damaged segments of the index, and marks their documents as not
// indexed: the service then indexes them again.
func (r *repair) words(ctx context.Context) error {
	dropped := r.broken.segments
	if r.broken.allWords {
		all, err := relational.Column[int64](ctx, r.base, `SELECT id FROM word_segment WHERE state = 1`)
		if err != nil {
			return r.base.Failed("repairing the index of documents", err)
		}
		dropped = all
	}
	missing, err := r.unindexed(ctx)
	if err != nil {
		return r.base.Failed("repairing the index of documents", err)
	}
	// First the documents: a crash in between leaves documents that are indexed twice,
	// which is no harm, and not documents that are never found.
	err = inSteps(ctx, r, missing, func(tx relational.Tx, some []string) error {
		tx.Exec(ctx, `UPDATE document SET indexed = false WHERE sha256 `+r.base.SQL.In(`$1`), some)
		return nil
	})
	if err != nil {
		return err
	}
	return inSteps(ctx, r, dropped, func(tx relational.Tx, some []int64) error {
		tx.Exec(ctx, `UPDATE word_segment SET state = 2, changed_at = `+r.base.SQL.Now+`
			WHERE id `+r.base.SQL.In(`$1`)+` AND state = 1`, some)
		return nil
	})
}

// unindexed returns the documents that are to be indexed again.
func (r *repair) unindexed(ctx context.Context) (missing []string, err error) {
	if len(r.broken.words) == 0 && !r.broken.allWords {
		return nil, nil
	}
	var sha256 string
	err = relational.Each(ctx, r.base, []any{&sha256}, func() error {
		if h, ok := search.ParseHash(sha256); ok && (r.broken.allWords || r.broken.words[h]) {
			missing = append(missing, strings.Clone(sha256))
		}
		return nil
	}, `SELECT sha256 FROM `+r.base.Documents+` WHERE indexed`)
	return missing, err
}
