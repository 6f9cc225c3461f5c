package docfetch

import (
	"context"

	"pregon/internal/disclosure"
	"pregon/internal/document/fact"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/store"
)

// scanEvery is how much rarer than unread documents those are searched that were not
// examined: all reports are searched each time, and there are none but after an upgrade.
const scanEvery = 6

// examineStored examines the stored documents that these rules have not examined, the
// newest first: after an upgrade, those that an earlier version read or examined. It makes
// a pause after each, so that neither the store nor those who follow the log are flooded.
// What is left follows from the reports, so that a later process continues.
func (f *Fetcher) examineStored(ctx context.Context, known Known) error {
	for {
		for _, id := range known.WantFacts(fact.Rules) {
			if err := f.examine(ctx, id); err != nil && ctx.Err() == nil {
				f.Logger.Debug("a stored document was not examined; it is tried again", "report", id, "err", err)
			}
			if err := retry.Sleep(ctx, f.Examine); err != nil {
				return err
			}
		}
		if err := retry.Sleep(ctx, scanEvery*f.FindEvery); err != nil {
			return err
		}
	}
}

// examine adds the facts of a stored document to a report, and renews a summary by rules. The change is one of history,
// which notifies nobody, also if the report is new.
func (f *Fetcher) examine(ctx context.Context, id string) error {
	known, err := f.Store.Reports(ctx, id)
	if err != nil || len(known) == 0 {
		return err
	}
	r := &known[0]
	isRead := !r.WantsDocument() && !r.WantsRest() // otherwise it is in the queue of unread documents
	if !isRead || !r.WantsFacts(fact.Rules) {
		return nil
	}
	kept, err := f.Documents.Kept(ctx, r.Document.SHA256)
	if fault.KindOf(err) == fault.NotFound {
		return nil // pregon verify finds it
	}
	if err != nil {
		return err
	}
	change, err := f.Documents.Derive(ctx, r, kept)
	if err != nil {
		return err
	}
	_, err = f.Store.Append(ctx, store.Batch{
		Aside: []disclosure.Report{change},
		New:   disclosure.Backfilled,
		Lease: f.Lease,
	})
	return err
}
