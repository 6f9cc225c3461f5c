package tracing_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/server/tracing"
)

// TestOutage: while batches fail, a line is logged once a minute, and one when they
// are sent again.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var down atomic.Bool
		var batches atomic.Int64
		c := &client{send: func() error {
			batches.Add(1)
			if down.Load() {
				return errors.New("connection refused")
			}
			return nil
		}}
		tracer := tracing.NewWith(c, slog.New(slog.NewTextHandler(&log, nil)))
		down.Store(true)
		trace := func(length time.Duration) {
			for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(time.Second) {
				tracer.Read("feed-ip", "ok", time.Now())
			}
			synctest.Wait()
		}
		trace(3 * time.Minute)
		if lines := strings.Count(log.String(), "level=WARN"); lines < 2 || lines > 3 || batches.Load() < 30 {
			t.Errorf("%d batches failed in three minutes and %d lines were logged, want one a minute:\n%s", batches.Load(), lines, &log)
		}
		log.Reset()
		down.Store(false)
		trace(time.Minute)
		if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "level=INFO msg=\"traces are sent again\"") {
			t.Errorf("after the failure was over the log has:\n%s", &log)
		}
		if err := tracer.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestHanging: no span waits for a collector that hangs, not even when the queue is
// full, and Close waits five seconds.
func TestHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c := &client{send: func() error { <-release; return nil }}
		tracer := tracing.NewWith(c, slog.New(slog.DiscardHandler))
		start := time.Now()
		for range 10_000 {
			tracer.Read("feed-ip", "ok", start)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("spans waited %v for the collector", took)
		}
		if err := tracer.Close(); err == nil {
			t.Error("Close reports no error although the collector hangs")
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("Close took %v, want 5s", took)
		}
		tracer.Read("feed-ip", "ok", start) // has no effect
		close(release)
		synctest.Wait()
		if n := len(c.spans); n < 2048 || n >= 10_000 {
			t.Errorf("%d spans of 10,000 were sent, want those of the queue", n)
		}
	})
}

// TestRejected: the line of a failure has neither the key of the collector nor a
// long answer.
func TestRejected(t *testing.T) {
	const key = "key-of-the-collector"
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20"+key)
	rejects := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/path/v1/traces" || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("%s with %v", r.URL, r.Header)
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, strings.Repeat("wrong ", 100_000))
	}))
	defer rejects.Close()
	var log bytes.Buffer
	tracer, err := tracing.New(t.Context(), rejects.URL+"/path/", "1.0", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	tracer.Read("feed-ip", "ok", time.Now())
	if err := tracer.Close(); err != nil {
		t.Error(err)
	}
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "400") || strings.Contains(log.String(), key) || log.Len() > 1000 {
		t.Errorf("the log has %d bytes: %.1000s", log.Len(), &log)
	}
}
