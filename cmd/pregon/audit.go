package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/text/mask"
)

// auditFlag is embedded by every command that changes or decides on access.
type auditFlag struct {
	AuditLog string `placeholder:"FILE" help:"File to which security events are appended, as JSON Lines. Serve writes them to its log too, and opens the file again on SIGHUP."`
}

// audit returns a function that records security events in the file, if there is
// one, and in the log, if it is not nil. The caller closes the file, which may be nil.
func (f *auditFlag) audit(log *slog.Logger) (audit access.Audit, file *auditFile, err error) {
	var to []*slog.Logger
	if log != nil {
		to = append(to, log)
	}
	if f.AuditLog != "" {
		if file, err = openAuditFile(f.AuditLog); err != nil {
			return nil, nil, fault.Wrap(fault.Unavailable, err, "cannot write the audit log")
		}
		to = append(to, slog.New(slog.NewJSONHandler(mask.Writer{Writer: file}, nil)))
	}
	return func(ctx context.Context, event string, attrs ...slog.Attr) {
		record := slog.NewRecord(time.Now(), slog.LevelInfo, "audit", 0)
		record.AddAttrs(slog.String("event", event))
		record.AddAttrs(attrs...)
		if by := access.FromContext(ctx); by.ID != "" {
			record.AddAttrs(slog.String("actor", by.ID), slog.String("credential", by.Credential))
		}
		for _, logger := range to {
			if err := logger.Handler().Handle(ctx, record); err != nil {
				fmt.Fprintln(os.Stderr, "pregon: the audit log cannot be written:", err)
			}
		}
	}, file, nil
}

// auditFile appends to a file that another program may rename.
type auditFile struct {
	path string

	mu   sync.Mutex
	file *os.File // guarded by mu
}

func openAuditFile(path string) (*auditFile, error) {
	f := &auditFile{path: path}
	return f, f.reopen()
}

// reopen opens the path again. If this fails, the open file stays in use.
func (f *auditFile) reopen() error {
	opened, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	f.mu.Lock()
	previous := f.file
	f.file = opened
	f.mu.Unlock()
	if previous != nil {
		return previous.Close()
	}
	return nil
}

// reopenOnHangup opens the path again on every SIGHUP, until stop is called. On nil
// it does nothing, so that SIGHUP ends the program as usual.
func (f *auditFile) reopenOnHangup(log *slog.Logger) (stop func() error) {
	if f == nil {
		return func() error { return nil }
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		for range hangup {
			if err := f.reopen(); err != nil {
				log.Warn("the audit log cannot be opened again, and the previous file stays in use", "err", err)
				continue
			}
			log.Info("the audit log was opened again", "file", f.path)
		}
	}()
	return func() error {
		signal.Stop(hangup)
		close(hangup)
		return nil
	}
}

func (f *auditFile) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Write(line)
}

// Close closes the file. On nil it does nothing.
func (f *auditFile) Close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}
