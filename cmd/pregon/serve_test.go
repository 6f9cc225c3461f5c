package main

import (
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"pregon/internal/server/telemetry"
)

// The address follows what was logged before it. A log in JSON is for programs.
func TestServeAnnounces(t *testing.T) {
	for format, want := range map[string]string{
		"text": `^time=\S+ level=INFO msg=before\nPregón is ready: http://127\.0\.0\.1:8080/\n$`,
		"json": `^\{.*"msg":"before"\}\n\{.*"msg":"ready","base_url":"http://127\.0\.0\.1:8080"\}\n$`,
	} {
		var out strings.Builder // a terminal
		log, err := telemetry.NewLog(&out, format, slog.LevelInfo)
		if err != nil {
			t.Fatal(err)
		}
		log.Info("before")
		(&serveConfig{LogFormat: format}).announce(&out, log, "http://127.0.0.1:8080", "")
		log.Flush()
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%s: %s", format, out.String())
		}
	}
}
