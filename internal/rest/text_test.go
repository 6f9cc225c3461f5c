package rest_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/test/waittest"
)

// texts is a store that can fail to load texts.
type texts struct {
	*sqlite.Store
	fails atomic.Bool
	loads atomic.Int64
}

func (s *texts) DocumentPages(ctx context.Context, sha256 ...string) (map[string][]string, error) {
	s.loads.Add(1)
	if s.fails.Load() {
		return nil, errors.New("the text cannot be loaded")
	}
	return s.Store.DocumentPages(ctx, sha256...)
}

// fileNow files a report that is published now.
func (s *service) fileNow(number int64) {
	s.t.Helper()
	s.file(newReport(disclosure.IP, number, time.Now().UTC().Format(time.RFC3339)))
}

// readDocument appends the change that a report's document was read.
func (s *service) readDocument(id string, pages ...string) {
	s.t.Helper()
	report := querytest.Document(s.t, s.store, id, pages...)
	if _, err := s.store.Append(s.t.Context(), store.Batch{Aside: []disclosure.Report{report}}); err != nil {
		s.t.Fatal(err)
	}
}

// A stream by words of documents sends the change that brings the text and later
// changes of that report. A replay and the change list have the same events.
func TestStreamInDocuments(t *testing.T) {
	s, header := startLive(t)
	from := s.at(s.feed.Newest())
	q := url.Values{"in": {"document"}, "search": {`"dividendo a cuenta"`}}.Encode()
	l, other := s.listen("/api/v1/stream?"+q, header), s.listen("/api/v1/stream?"+q, header)
	l.want("hello", nil)
	other.want("hello", nil)
	for i := range int64(3) {
		s.fileNow(90001 + i)
	}
	s.readDocument("ip-90001", "Portada", "Un DIVIDENDO a cuenta.")
	s.readDocument("ip-90002", "Una cuenta, y un dividendo.")
	r := newReport(disclosure.IP, 90001, time.Now().UTC().Format(time.RFC3339))
	r.Category = "Sobre dividendos"
	s.file(r)
	s.readDocument("ip-90003", "Otro dividendo a cuenta.")
	want := []struct{ id, changed string }{{"ip-90001", "document"}, {"ip-90001", "category"}, {"ip-90003", "document"}}
	var ids []string
	check := func(l *listener) {
		t.Helper()
		for _, w := range want {
			var got struct {
				ID, Event string
				Changed   []string
			}
			e := l.want("report.updated", &got)
			if got.ID != w.id || !strings.Contains(strings.Join(got.Changed, " "), w.changed) {
				t.Fatalf("got %+v, want %s with %s", got, w.id, w.changed)
			}
			ids = append(ids, e.id)
		}
	}
	check(l)
	check(other)
	if got := s.texts.loads.Load(); got != 3 {
		t.Errorf("got %d loads of texts for two streams, want 3", got)
	}
	replay := s.listen("/api/v1/stream?"+q+"&after="+from, header)
	replay.want("hello", nil)
	check(replay)
	want = want[1:]
	resumed := header.Clone()
	resumed.Set("Last-Event-ID", ids[0])
	replay = s.listen("/api/v1/stream?"+q, resumed)
	replay.want("hello", nil)
	check(replay)
	var list struct{ Data []change }
	s.getWith(http.StatusOK, "/api/v1/changes?"+q+"&after="+from, header).decode(&list)
	if len(list.Data) != 3 || list.Data[0].ID != "ip-90001" || list.Data[2].ID != "ip-90003" {
		t.Errorf("changes: got %+v, want those of the stream", list.Data)
	}
}

// While a text cannot be loaded, a stream by words waits and others do not. The
// change list answers with what it has, or that it is unavailable.
func TestStreamWaitsForText(t *testing.T) {
	s, header := startLive(t)
	from := s.at(s.feed.Newest())
	const q = "in=document&search=dividendo"
	l, other := s.listen("/api/v1/stream?"+q, header), s.listen("/api/v1/stream", header)
	l.want("hello", nil)
	other.want("hello", nil)
	s.texts.fails.Store(true)
	s.fileNow(90001)
	s.readDocument("ip-90001", "El dividendo.")
	s.fileNow(90002)
	for _, want := range []string{"report.published", "report.updated", "report.published"} {
		other.want(want, nil)
	}
	s.getWith(http.StatusServiceUnavailable, "/api/v1/changes?"+q+"&after="+from, header)
	tried := s.texts.loads.Load()
	waittest.For(t, "the text is tried again", func() bool { return s.texts.loads.Load() > tried })
	s.texts.fails.Store(false)
	var got change
	if l.want("report.updated", &got); got.ID != "ip-90001" {
		t.Errorf("got %+v, want ip-90001", got)
	}
	s.getWith(http.StatusOK, "/api/v1/changes?"+q+"&after="+from, header)
}

// A webhook stores its filter, and the preview counts the reports of a search in
// documents.
func TestWebhookInDocuments(t *testing.T) {
	s, header := startLive(t)
	s.fileNow(90001)
	s.fileNow(90002)
	s.readDocument("ip-90001", "El dividendo.")
	newest, err := s.store.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waittest.For(t, "the catalogue has the reports", func() bool { return s.feed.Newest() == newest })
	const filter = `{"search":"dividendo","in":"document"}`
	var preview struct {
		Total   int
		Samples []struct{ ID string }
	}
	s.call(http.MethodPost, "/api/v1/webhooks/preview", header, `{"filter":`+filter+`}`, http.StatusOK, &preview)
	if preview.Total != 1 || len(preview.Samples) != 1 || preview.Samples[0].ID != "ip-90001" {
		t.Errorf("preview: got %+v, want ip-90001", preview)
	}
	var hook struct {
		ID     string
		Filter struct{ Search, In string }
	}
	s.call(http.MethodPost, "/api/v1/webhooks", header, `{"url":"http://127.0.0.1:9/","filter":`+filter+`}`, http.StatusCreated, &hook)
	s.getWith(http.StatusOK, "/api/v1/webhooks/"+hook.ID, header).decode(&hook)
	if hook.Filter.In != "document" || hook.Filter.Search != "dividendo" {
		t.Errorf("got filter %+v, want %s", hook.Filter, filter)
	}
	for _, bad := range []string{`{"search":"a","in":"documents"}`, `{"in":"document"}`, `{"in":"document","search":"-a"}`} {
		s.call(http.MethodPost, "/api/v1/webhooks", header, `{"url":"http://127.0.0.1:9/","filter":`+bad+`}`, http.StatusBadRequest, nil)
	}
}
