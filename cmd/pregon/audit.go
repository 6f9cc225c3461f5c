package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/fault"
)

// auditFlag is taken by every command that decides on access.
type auditFlag struct {
	AuditLog string `placeholder:"FILE" help:"File to which security events are appended, as JSON Lines. Serve writes them to its log too."`
}

// audit returns who is told of security events: the file, if there is one, and
// the log, if there is one.
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
		for _, logger := range to {
			if err := logger.Handler().Handle(ctx, record); err != nil {
				fmt.Fprintln(os.Stderr, "pregon: the audit log cannot be written:", err)
			}
		}
	}, end, nil
}

// joinClose closes something at the end, whatever happened before.
func joinClose(err error, end func() error) error { return errors.Join(err, end()) }
