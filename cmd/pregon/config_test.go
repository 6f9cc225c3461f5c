package main

import "testing"

// The default base URL is in canonical form.
// TestEndpointOfSnapshots: --s3-endpoint may be for snapshots alone, and documents are
// then not kept in a bucket.
func TestEndpointOfSnapshots(t *testing.T) {
	f := documentFlags{bucketFlags: bucketFlags{S3Endpoint: "http://127.0.0.1:1"}}
	if kept, err := f.originals(t.Context(), &process{}, nil); kept != nil || err != nil {
		t.Errorf("got %v, %v; want none", kept, err)
	}
}

func TestBaseURLOfListener(t *testing.T) {
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
		if got := (&serveConfig{}).baseURL(listening); got != want {
			t.Errorf("listening on %s: got %s, want %s", listening, got, want)
		}
	}
}
