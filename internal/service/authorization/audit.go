package authorization

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

// OpenAudit returns a function that records security events in a file, unless the path
// is empty, and in the log, unless it is nil. The caller closes the file, which may be
// nil.
func OpenAudit(path string, log *slog.Logger) (audit access.Audit, file *AuditFile, err error) {
	var to []*slog.Logger
	if log != nil {
		to = append(to, log)
	}
	if path != "" {
		if file, err = openAuditFile(path); err != nil {
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

// AuditFile appends to a file that another program may rename.
type AuditFile struct {
	path string

	mu   sync.Mutex
	file *os.File // guarded by mu
}

func openAuditFile(path string) (*AuditFile, error) {
	f := &AuditFile{path: path}
	return f, f.reopen()
}

// reopen opens the path again. If this fails, the open file stays in use.
func (f *AuditFile) reopen() error {
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
func (f *AuditFile) reopenOnHangup(log *slog.Logger) (stop func() error) {
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

func (f *AuditFile) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Write(line)
}

// Close closes the file. On nil it does nothing.
func (f *AuditFile) Close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}
