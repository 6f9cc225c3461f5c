package main

import "testing"

// TestEndpointOfSnapshots: --s3-endpoint may be for snapshots alone, and documents are
// then not kept in a bucket.
func TestEndpointOfSnapshots(t *testing.T) {
	f := documentFlags{bucketFlags: bucketFlags{S3Endpoint: "http://127.0.0.1:1"}}
	if kept, err := f.originals(t.Context(), &process{}, nil); kept != nil || err != nil {
		t.Errorf("got %v, %v; want none", kept, err)
	}
}
