package origin_test

import (
	"testing"

	"pregon/internal/server/origin"
)

func TestOfListener(t *testing.T) {
	for listening, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080",
		"127.0.0.1:80":   "http://127.0.0.1",
		"0.0.0.0:80":     "http://127.0.0.1",
		":8080":          "http://127.0.0.1:8080",
		"[::]:8080":      "http://127.0.0.1:8080",
		"[::1]:80":       "http://[::1]",
		"127.0.0.1:0":    "http://127.0.0.1:0",
		"LOCALHOST:8080": "http://localhost:8080",
	} {
		if got := origin.OfListener(listening); got != want {
			t.Errorf("listening on %s: got %s, want %s", listening, got, want)
		}
	}
}
