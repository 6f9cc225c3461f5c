package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pregon/internal/fault"
)

func TestOpenWait(t *testing.T) {
	away := fmt.Errorf("opening the store: %w", &pgconn.PgError{Code: "57P03"})
	refused := fmt.Errorf("opening the store: %w", &pgconn.PgError{Code: "28P01"})
	for name, test := range map[string]struct {
		most, answers time.Duration
		err           error
		took          time.Duration
		lines         int
		ok            bool
	}{
		"answers at once":      {most: time.Minute, ok: true},
		"answers later":        {most: time.Minute, answers: 10 * time.Second, err: away, took: 10 * time.Second, lines: 1, ok: true},
		"takes minutes":        {most: time.Hour, answers: 150 * time.Second, err: away, took: 150 * time.Second, lines: 3, ok: true},
		"never answers":        {most: time.Minute, answers: time.Hour, err: away, took: 59 * time.Second, lines: 1},
		"takes too long":       {most: 3 * time.Second, answers: time.Hour, err: context.DeadlineExceeded, took: 2 * time.Second, lines: 1},
		"refuses the password": {most: time.Minute, answers: time.Hour, err: refused},
		"is not a store":       {most: time.Minute, answers: time.Hour, err: fault.New(fault.NotFound, "there is no store")},
		"is not waited for":    {answers: time.Hour, err: away},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, log := time.Now(), &strings.Builder{}
				_, err := openWait(t.Context(), test.most, slog.New(slog.NewTextHandler(log, nil)), func(context.Context) (Store, error) {
					if time.Since(began) < test.answers {
						return nil, test.err
					}
					return nil, nil
				})
				if test.ok != (err == nil) || !test.ok && !errors.Is(err, test.err) {
					t.Errorf("got error %v, want %v", err, test.err)
				}
				if took, lines := time.Since(began), strings.Count(log.String(), "\n"); took != test.took || lines != test.lines {
					t.Errorf("took %v with %d log lines, want %v with %d", took, lines, test.took, test.lines)
				}
			})
		})
	}
	t.Run("is stopped", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := openWait(ctx, time.Minute, slog.New(slog.DiscardHandler), func(context.Context) (Store, error) { return nil, away })
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got error %v, want %v", err, context.DeadlineExceeded)
			}
		})
	})
}
