package main

import (
	"log/slog"
	"testing"
)

// TestEndpointOfSnapshots: --s3-endpoint may be for snapshots alone, and documents are
// then not kept in a bucket.
func TestEndpointOfSnapshots(t *testing.T) {
	f := documentFlags{bucketFlags: bucketFlags{S3Endpoint: "http://127.0.0.1:1"}}
	kept, err := f.settings(&process{}, slog.New(slog.DiscardHandler))
	if kept.Bucket != nil || kept.KeepInStore || err != nil {
		t.Errorf("got %+v, %v; want none", kept, err)
	}
}
