package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract"
	"pregon/internal/document/fact"
	"pregon/internal/source/coverage"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// fakeReader replaces the process that reads documents, which has its own tests. It
// returns the same text for every PDF.
type fakeReader struct {
	mu    sync.Mutex
	reads int
	fail  func(n int) error // for the n-th document; nil never fails
}

const fakeText = "La sociedad comunica que repartirá un dividendo de 0,12 euros brutos por acción con cargo al ejercicio 2026.\n\nEl pago se hará el 3 de junio de 2027 a través de las entidades participantes."

func (*fakeReader) Warm(context.Context) error { return nil }

func (s *fakeReader) Read(_ context.Context, body []byte) (*extract.Text, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.fail != nil {
		if err := s.fail(s.reads); err != nil {
			return nil, err
		}
	}
	switch {
	case bytes.Contains(body, []byte("__VIEWSTATE")) || bytes.HasPrefix(body, []byte("<!")):
		return nil, extract.ErrSitePage
	case !bytes.HasPrefix(body, []byte("%PDF-")):
		return nil, &extract.Unreadable{Reason: "it is not a PDF file"}
	}
	return &extract.Text{
		Type: extract.PDF, Method: extract.ByText, Language: "es",
		Pages: []extract.Page{{Text: fakeText, Method: extract.ByText}, {Text: fmt.Sprint(len(body)), Method: extract.ByText}},
	}, nil
}

// reading returns an ingest that reads documents.
func (w *world) reading(s *fakeReader) *Ingest {
	w.Helper()
	i := w.newIngest("reads")
	i.Documents = document.NewKeeper(document.Options{
		Store:     w.store,
		Readers:   []document.Reader{s},
		FindFacts: findDividend,
		Logger:    slog.New(slog.DiscardHandler),
	})
	return i
}

// findDividend replaces the rules for facts, which have their own tests.
func findDividend(d fact.Document) []fact.Found {
	const quote = "0,12 euros brutos por acción"
	before, after, found := strings.Cut(d.Pages[0], quote)
	if !found {
		return nil
	}
	return []fact.Found{{
		Fact: disclosure.Fact{
			Kind:   disclosure.Dividend,
			Fields: map[string]string{"gross_per_share": "0.12"},
		},
		FactDetail: disclosure.FactDetail{Evidence: map[string]disclosure.Quote{
			"gross_per_share": {Page: 1, Text: quote, Before: before, After: after},
		}},
	}}
}

// states checks that a report has the fact of findDividend, with its evidence.
func (w *world) states(r *disclosure.Report) error {
	w.Helper()
	if len(r.Facts) != 1 || r.Facts[0].Fields["gross_per_share"] != "0.12" || r.FactsReadyAt.IsZero() {
		return fmt.Errorf("%s has the facts %v at %v", r.ID, r.Facts, r.FactsReadyAt)
	}
	if r.FactsRules != fact.Rules || r.FactsOf != r.Document.SHA256 {
		return fmt.Errorf("the facts of %s are by the rules %d of %q", r.ID, r.FactsRules, r.FactsOf)
	}
	details, err := document.LoadDetails(w.Context(), w.store, r)
	if err != nil || len(details) != 1 || details[0].Evidence["gross_per_share"].Page != 1 {
		return fmt.Errorf("the evidence of %s is %v, %v", r.ID, details, err)
	}
	return nil
}

// becomes waits until the document of a report has a status.
func (w *world) becomes(id string, want disclosure.DocumentStatus, words string) (r *disclosure.Report) {
	w.Helper()
	w.eventually(func() error {
		if r = w.report(id); r == nil {
			return fmt.Errorf("%s is not stored", id)
		}
		if d := r.DocumentNow(); d.Status != want || !strings.Contains(d.Reason, words) {
			return fmt.Errorf("the document of %s is %+v, want %s, %s", id, d, want, words)
		}
		return nil
	})
	return r
}

// events returns the events of a report, each with the names of the changed fields.
func (w *world) events(id string) (out []string) {
	w.Helper()
	changes, err := w.store.Changes(w.Context(), 0, 1_000_000)
	if err != nil {
		w.Fatal(err)
	}
	for _, c := range changes {
		if c.Report != nil && c.Report.ID == id {
			out = append(out, strings.TrimSpace(string(c.Event)+" "+strings.Join(c.Changed, ",")))
		}
	}
	return out
}

func TestDocumentsOfNewReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(w.reading(&fakeReader{}).Run)
	for _, series := range []string{"ip", "oir"} {
		id := w.publish(`{"type":"` + series + `","title":"Reparto de un dividendo","document":true}`)
		r := w.becomes(id, disclosure.DocumentReady, "")
		w.eventually(func() error {
			if r = w.report(id); r.SummaryMethod == "" {
				return errors.New("the report has no summary")
			}
			return nil
		})
		if d := r.Document; d.SHA256 == "" || d.Pages != 2 || d.Type != "pdf" || d.Method != "text" || d.Language != "es" || d.Link != r.PDFURL || d.Bytes == 0 {
			t.Errorf("%+v", d)
		}
		if r.SummaryMethod != "extractive" || !strings.Contains(r.Summary, "0,12 euros") || len(r.Evidence) == 0 || r.Evidence[0].Page != 1 || !strings.Contains(fakeText, r.Evidence[0].Quote) {
			t.Errorf("%q by %q with %+v", r.Summary, r.SummaryMethod, r.Evidence)
		}
		// The page may be read before the report is written, so these two have no order.
		for _, clocks := range [][]time.Time{{r.PublishedAt, r.AvailableAt, r.TextReadyAt}, {r.PublishedAt, r.EnrichedAt, r.TextReadyAt, r.SummaryReadyAt}} {
			for n := range clocks[1:] {
				if clocks[n+1].Before(clocks[n].Truncate(time.Second)) {
					t.Errorf("times out of order: %v", clocks)
				}
			}
		}
		if err := w.states(r); err != nil {
			t.Error(err)
		}
		// A finer time, from the page, may come between any two of these.
		events := slices.DeleteFunc(w.events(id), func(e string) bool { return strings.HasSuffix(e, " published_at,time_from") })
		got := strings.Join(events, "\n")
		if !strings.HasPrefix(got, "report.published\n") || !strings.Contains(got, "\nreport.updated document,text_ready_at\nreport.updated summary,summary_method,evidence,summary_ready_at,facts,facts_ready_at") {
			t.Errorf("got events\n%s\nwant published, then the document, then the summary and the facts", got)
		}
	}
	without := w.publish(`{"type":"oir","document":false}`)
	w.becomes(without, disclosure.DocumentNone, "no document of its own")
}

// TestDocumentsAreFoundAgain checks that reports published without a document reader
// get their documents later, and that a missing summary is made later.
func TestDocumentsAreFoundAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, stop := w.start()
	first := w.publish(`{"type":"oir","document":true}`)
	second := w.publish(`{"type":"ip","document":true}`)
	for _, id := range []string{first, second} {
		w.becomes(id, disclosure.DocumentPending, "waits for its turn")
	}
	stop()
	s := &fakeReader{}
	i := w.reading(s)
	kept, err := i.Documents.Keep(t.Context(), []byte("%PDF-read before"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Append(t.Context(), store.Batch{Aside: []disclosure.Report{document.TextReady(w.report(second), kept)}}); err != nil {
		t.Fatal(err)
	}
	w.run(i.Run)
	w.becomes(first, disclosure.DocumentReady, "")
	w.eventually(func() error {
		if r := w.report(second); r.Summary == "" || r.SummaryReadyAt.IsZero() || r.Document.SHA256 != kept.SHA256 {
			return fmt.Errorf("got %+v, want a summary of the kept document", r)
		}
		return w.states(w.report(second))
	})
}

// TestStoredDocumentsAreExamined: documents that an earlier version read are examined in
// the background, and so are those that earlier rules examined. This is no news, although
// the reports are new.
func TestStoredDocumentsAreExamined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, stop := w.start()
	ids := []string{
		w.publish(`{"type":"oir","document":true}`),
		w.publish(`{"type":"ip","document":true}`),
	}
	for _, id := range ids {
		w.becomes(id, disclosure.DocumentPending, "waits for its turn")
	}
	stop()
	i := w.reading(&fakeReader{})
	kept, err := i.Documents.Keep(t.Context(), []byte("%PDF-read before"))
	if err != nil {
		t.Fatal(err)
	}
	for n, id := range ids {
		r := w.report(id)
		summarized := document.Summarise(r, kept, nil)
		text := document.TextReady(r, kept)
		summarized.Document = text.Document
		summarized.TextReadyAt = text.TextReadyAt
		if n == 1 { // by earlier rules
			summarized.Facts = []disclosure.Fact{{Kind: disclosure.Meeting, Fields: map[string]string{"first_call": "2026-01-01"}}}
			summarized.FactsRules = fact.Rules - 1
			summarized.FactsOf = kept.SHA256
		}
		if _, err := w.store.Append(t.Context(), store.Batch{Aside: []disclosure.Report{summarized}}); err != nil {
			t.Fatal(err)
		}
	}
	w.run(i.Run)
	for _, id := range ids {
		w.eventually(func() error { return w.states(w.report(id)) })
		events := w.events(id) // the time of the report may follow
		backfilled := func(event string) bool { return strings.HasPrefix(event, "report.backfilled facts") }
		if !slices.ContainsFunc(events, backfilled) {
			t.Errorf("the events of %s are %q, want report.backfilled with facts", id, events)
		}
	}
}

// TestDocumentsFail checks that a failed download is retried and shown as pending. An
// unreadable document fails, and the next one is read.
func TestDocumentsFail(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := newWorld(t)
	s := &fakeReader{}
	w.run(w.reading(s).Run)
	for fault, words := range map[string]string{
		`{"kind":"error500","surface":"document"}`: "did not give the document: the regulator answered with status 500",
		`{"kind":"error403","surface":"document"}`: "did not give the document: the regulator answered with status 403",
		`{"kind":"reset","surface":"document"}`:    "did not give the document",
		`{"kind":"page","surface":"document"}`:     "a page of its own",
	} {
		w.arm(fault)
		id := w.publish(`{"type":"oir","document":true}`)
		w.becomes(id, disclosure.DocumentPending, words)
		w.becomes(id, disclosure.DocumentPending, "It is tried again.")
		w.disarm()
		if r := w.becomes(id, disclosure.DocumentReady, ""); r.Document.Reason != "" {
			t.Errorf("%s: %+v", fault, r.Document)
		}
		tries := 0
		for _, e := range w.events(id) {
			if strings.Contains(e, "document") {
				tries++
			}
		}
		if tries > 4 {
			t.Errorf("%s: got %d document events, want at most 4: %q", fault, tries, w.events(id))
		}
	}
	w.arm(`{"kind":"word","surface":"document"}`)
	id := w.publish(`{"type":"oir","document":true}`)
	w.becomes(id, disclosure.DocumentFailed, "cannot be read: it is not a PDF file.")
	w.disarm()
	w.becomes(w.publish(`{"type":"oir","document":true}`), disclosure.DocumentReady, "")
	w.becomes(id, disclosure.DocumentFailed, "")
}

// TestDocumentsSurviveTheirReader checks that a document is retried when its reader
// does not start.
func TestDocumentsSurviveTheirReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := &fakeReader{fail: func(n int) error {
		if n < 4 {
			return errors.New("the reader did not start")
		}
		return nil
	}}
	w.run(w.reading(s).Run)
	id := w.publish(`{"type":"oir","document":true}`)
	w.becomes(id, disclosure.DocumentReady, "")
	if s.reads < 4 {
		t.Errorf("got %d reads, want at least 4", s.reads)
	}
}

// TestDocumentsOfNewLinks checks that a changed link leads to a new document.
func TestDocumentsOfNewLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.run(w.reading(&fakeReader{}).Run)
	id := w.publish(`{"type":"oir","document":true}`)
	other := w.publish(`{"type":"oir","document":true}`)
	before := w.becomes(id, disclosure.DocumentReady, "")
	link := w.becomes(other, disclosure.DocumentReady, "").PDFURL
	stop() // else the lists restore the old link
	updated := disclosure.Report{ID: id, Type: before.Type, Number: before.Number, PDFURL: link, EnrichedAt: time.Now().UTC()}
	if _, err := w.store.Append(t.Context(), store.Batch{Aside: []disclosure.Report{updated}}); err != nil {
		t.Fatal(err)
	}
	w.becomes(id, disclosure.DocumentPending, "waits for its turn")
	reads := w.reading(&fakeReader{})
	lease, err := tryLease(t.Context(), w.store, reads.Holder)
	if err != nil {
		t.Fatal(err)
	}
	session, err := reads.newSession(t.Context(), &lease)
	if err != nil {
		t.Fatal(err)
	}
	w.run(func(ctx context.Context) error { return session.documents.Run(ctx, w.cat.Known()) }) // no other loop
	want := w.report(other).Document.SHA256
	w.eventually(func() error {
		if r := w.report(id); r.Document.Link != link || r.Document.SHA256 != want || r.SummaryOf != want {
			return fmt.Errorf("got the document %+v with the summary of %q, want %q of %s", r.Document, r.SummaryOf, want, link)
		}
		return nil
	})
}

// TestBackfillDocuments checks that documents of history are read only on request,
// without update events, and that a stopped job continues where it ended.
func TestBackfillDocuments(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	from, to := days(t, "2025-08-18", "2025-08-20")
	plain := coverage.NewJob(from, to, dated)
	if _, err := w.newIngest("plain").Backfill(t.Context(), plain, func(coverage.Job, bool) {}); err != nil {
		t.Fatal(err)
	}
	truth := w.truth(from, to, dated...)
	count := func() (ready, failed, none int, some string) {
		for _, f := range truth {
			r := w.report(f.ID)
			if r.PDFURL == "" {
				continue
			}
			some = r.ID
			switch r.DocumentNow().Status {
			case disclosure.DocumentReady:
				ready++
			case disclosure.DocumentFailed:
				failed++
			case disclosure.DocumentNone:
				none++
			}
		}
		return ready, failed, none, some
	}
	ready, failed, none, _ := count()
	if ready+failed > 0 || none < 10 {
		t.Fatalf("before the request: got %d ready, %d failed, %d none; want only none", ready, failed, none)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &fakeReader{fail: func(n int) error {
		switch n {
		case 2:
			return &extract.Unreadable{Reason: "it is empty"}
		case 6:
			cancel()
		}
		return nil
	}}
	job, err := w.reading(s).Backfill(ctx, plain.WithDocuments(), func(coverage.Job, bool) {})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, %+v", err, job)
	}
	s.fail = nil
	job, err = w.reading(s).Backfill(t.Context(), plain.WithDocuments(), func(coverage.Job, bool) {})
	if err != nil || !job.Done || job.Steps != job.Total || job.Read+job.Failed < 10 || job.Failed != 1 {
		t.Fatalf("%v, %+v", err, job)
	}
	ready, failed, none, some := count()
	if ready < 9 || failed != 1 || none != 0 || s.reads > ready+failed+2 {
		t.Errorf("%d ready, %d failed, %d none after %d reads: %+v", ready, failed, none, s.reads, job)
	}
	if r := w.report(some); r.SummaryMethod == "" || r.FactsRules == 0 {
		t.Errorf("%s has the text of its document, but no summary or no facts: %+v", some, r)
	}
	for _, e := range w.events(some) {
		if !strings.HasPrefix(e, "report.backfilled") {
			t.Errorf("event of history: got %s, want report.backfilled", e)
		}
	}
	// A second job retries the failed document.
	job, err = w.reading(s).Backfill(t.Context(), plain.WithDocuments(), func(coverage.Job, bool) {})
	if ready, failed, _, _ := count(); err != nil || failed != 0 || job.Read != 1 || ready < 10 {
		t.Errorf("%d ready and %d failed, %+v, %v", ready, failed, job, err)
	}
}
