package disclosure_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
)

func TestDecodeReport(t *testing.T) {
	r := filing()
	r.FirstSeenAt, r.AvailableAt = r.PublishedAt.Add(time.Second), r.PublishedAt.Add(1500*time.Millisecond)
	r.SourceURL, r.Summary = "https://regulator.example/a?b=c&d=<e>", "Con \"comillas\" y \\ barra\ny ñ"
	for _, want := range []disclosure.Report{r, filing(), {}} {
		body, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := disclosure.DecodeReport(string(body))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// Whatever the bytes, the quick way and encoding/json must agree.
func FuzzDecodeReport(f *testing.F) {
	body, _ := json.Marshal(filing())
	for _, s := range []string{
		string(body), `{}`, `{"id":"a"}`, `{"id":"a",}`, `{"id":"a"}x`, `{"id":"\u0041"}`, `{"id":null}`, `{"unknown":"x"}`,
		`{"cnmv_registration_number":"+1"}`, `{"cnmv_registration_number":"01"}`, `{"published_at":"2026-04-22T10:00:33+02:00"}`,
		"{\"id\":\"\xff\"}", "{\"id\":\"a\tb\"}", `{"ID":"a"}`, `{"id":"a","id":"b"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		want, wantErr := new(disclosure.Report), error(nil)
		wantErr = json.Unmarshal(body, want)
		got, err := disclosure.DecodeReport(string(body))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %v, encoding/json says %v", body, err, wantErr)
		}
		if err == nil && !cmp.Equal(want, got) {
			t.Fatalf("%s: %s", body, cmp.Diff(want, got))
		}
	})
}
