package ingest

import (
	"context"
	"time"

	"pregon/internal/document/extract/xls"
	"pregon/internal/source/docfetch"
	"pregon/internal/source/registers"
	"pregon/internal/store"
)

// Registers are the registers of positions that are read beside the reports.
type Registers struct {
	registers.Settings
	Known    registers.Known
	Workbook func(ctx context.Context, body []byte) (xls.Book, error)
}

// newRegisters returns the reader of the registers of positions. If none is read, it still
// erases the names that were read before, when they are too old. It is nil without a retention.
func (w *writer) newRegisters() *registers.Reader {
	if len(w.Registers.Read) == 0 && w.Registers.Retention == 0 {
		return nil
	}
	return registers.New(registers.Options{
		Settings:   w.Registers.Settings,
		Store:      w.Store,
		Lease:      w.lease,
		Coverage:   w.Coverage,
		Known:      w.Registers.Known,
		Regulator:  w.Regulator,
		Documents:  w.Documents,
		Workbook:   w.Registers.Workbook,
		Logger:     w.Logger,
		Failure:    docfetch.Failed,
		Append:     w.appendBatch,
		RecordRead: w.recordRead,
	})
}

// appendBatch appends positions, and what was learnt of issuers.
func (w *writer) appendBatch(ctx context.Context, b store.Batch) error {
	if err := w.claim(ctx); err != nil {
		return err
	}
	b.Lease = w.lease
	_, err := w.Store.Append(ctx, b)
	return w.recordAppend(ctx, store.Unavailable(err))
}

// awaitRegisters lists the surfaces of the registers, with the times of earlier terms.
func (i *Ingest) awaitRegisters() {
	for _, name := range registers.Surfaces(i.Registers.Read) {
		var last time.Time
		if r, ok := i.Coverage.Register(name); ok {
			last = r.ReadAt
		}
		i.monitor.Await(name, last)
	}
}
