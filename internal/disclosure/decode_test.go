package disclosure_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
)

func TestDecodeReport(t *testing.T) {
	r := newReport()
	r.FirstSeenAt, r.AvailableAt = r.PublishedAt.Add(time.Second), r.PublishedAt.Add(1500*time.Millisecond)
	r.SourceURL, r.Summary = "https://regulator.example/a?b=c&d=<e>", "Con \"comillas\" y \\ barra\ny ñ"
	related := whole()
	unrelated := related
	unrelated.Related = nil
	for _, want := range []disclosure.Report{r, unrelated, related, newReport(), {}} {
		body, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := disclosure.DecodeReport(string(body))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("DecodeReport(%s) (-want +got):\n%s", body, diff)
		}
	}
}

// BenchmarkDecodeReport compares DecodeReport with encoding/json, for a report of
// history and for one whose document was read.
func BenchmarkDecodeReport(b *testing.B) {
	history := whole()
	history.Related, history.CorrectedBy = nil, ""
	history.ForgetDocument()
	for name, r := range map[string]disclosure.Report{"history": history, "document": whole()} {
		body, err := json.Marshal(r)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := disclosure.DecodeReport(string(body)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/encoding_json", func(b *testing.B) {
			for b.Loop() {
				if err := json.Unmarshal(body, new(disclosure.Report)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// DecodeReport and encoding/json must agree on any input.
func FuzzDecodeReport(f *testing.F) {
	body, _ := json.Marshal(newReport())
	all, _ := json.Marshal(whole())
	for _, s := range []string{
		string(body), string(all), `{"backfilled":"true"}`, `{"backfilled":"false"}`, `{"backfilled":true}`, `{"backfilled":"TRUE"}`,
		`{"backfilled":"null"}`, `{"time_from":"list","corrected_by":"oir-1"}`, `{"time_from":null}`, `{"enriched_at":"ayer"}`,
		`{"facts_rules":"3"}`, `{"facts_rules":3}`, `{"facts_rules":"03"}`, `{"facts_rules":""}`, `{"facts_rules":"1e3"}`,
		`{"facts":[{"kind":"a","fields":{"b":"c"}}],"facts_of":"0a"}`, `{"facts":"x"}`, `{"facts":[]}`,
		`{"related":[]}`, `{"related":"x"}`, `{"related":[{"cnmv_registration_number":"7","published_at":"2026-04-22T08:00:00Z"}],"id":"a"}`,
		`{}`, `{"id":"a"}`, `{"id":"a",}`, `{"id":"a"}x`, `{"id":"\u0041"}`, `{"id":null}`, `{"unknown":"x"}`,
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
			t.Fatalf("DecodeReport(%s): error %v, want that of encoding/json: %v", body, err, wantErr)
		}
		if err == nil && !cmp.Equal(want, got) {
			t.Fatalf("DecodeReport(%s) differs from encoding/json (-want +got):\n%s", body, cmp.Diff(want, got))
		}
	})
}
