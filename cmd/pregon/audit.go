package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/fault"
)

// auditFlag is embedded by every command that changes or decides on access.
type auditFlag struct {
	AuditLog string `placeholder:"FILE" help:"File to which security events are appended, as JSON Lines. Serve writes them to its log too."`
}

// audit returns a function that records security events in the file, if there is
// one, and in the log, if it is not nil.
func (f *auditFlag) audit(log *slog.Logger) (audit access.Audit, end func() error, err error) {
	var to []*slog.Logger
	end = func() error { return nil }
	if log != nil {
		to = append(to, log)
	}
	if f.AuditLog != "" {
		file, err := os.OpenFile(f.AuditLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, fault.Wrap(fault.Unavailable, err, "cannot write the audit log")
		}
		to, end = append(to, slog.New(slog.NewJSONHandler(secret.MaskingWriter{Writer: file}, nil))), file.Close
	}
	return func(ctx context.Context, event string, attrs ...slog.Attr) {
		record := slog.NewRecord(time.Now(), slog.LevelInfo, "audit", 0)
		record.AddAttrs(slog.String("event", event))
		record.AddAttrs(attrs...)
		if by := access.FromContext(ctx); by.ID != "" {
			record.AddAttrs(slog.String("by", by.ID), slog.String("credential", by.Credential))
		}
		for _, logger := range to {
			if err := logger.Handler().Handle(ctx, record); err != nil {
				fmt.Fprintln(os.Stderr, "pregon: the audit log cannot be written:", err)
			}
		}
	}, end, nil
}
