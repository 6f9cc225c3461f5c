package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

func (a *API) listReports(r *http.Request, s *catalog.Snapshot) (answer, error) {
	p, err := readParams(r)
	if err != nil {
		return answer{}, err
	}
	filter, limit, page := p.list()
	inside := p.inside(filter)
	if err := p.err(); err != nil {
		return answer{}, err
	}
	if inside {
		found, err := a.inDocuments(r.Context(), s, filter, page, limit)
		return reportList(found, page, limit), err
	}
	return reportList(s.Reports(filter, page, limit), page, limit), nil
}

// reportList encodes a page of reports.
func reportList(found catalog.Page, page, limit int) answer {
	buffer := buffers.Get().(*[]byte)
	b := append((*buffer)[:0], `{"data":[`...)
	for i, f := range found.Filings {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.AppendJSON(b)
	}
	b = appendPage(append(b, ']'), found.Total, page, limit)
	return answer{body: b, hash: found.Hash() + uint64(page)*0x9e3779b97f4a7c15 + uint64(limit), buffer: buffer}
}

// appendPage appends what a list tells of itself, and ends it.
func appendPage(b []byte, total, page, limit int) []byte {
	b = append(b, `,"total":`...)
	b = strconv.AppendInt(b, int64(total), 10)
	b = append(b, `,"page":`...)
	b = strconv.AppendInt(b, int64(page), 10)
	b = append(b, `,"limit":`...)
	b = strconv.AppendInt(b, int64(limit), 10)
	return append(b, '}')
}

// reportDetail is the contract's Report and what more is known of it.
type reportDetail struct {
	ID          string      `json:"id"`
	CompanyName string      `json:"company_name"`
	Ticker      *string     `json:"ticker"`
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	Summary     *string     `json:"summary"`
	PublishedAt time.Time   `json:"published_at"`
	Number      string      `json:"cnmv_registration_number"`
	PDFURL      *string     `json:"pdf_url"`
	NIF         *string     `json:"nif"`
	IssuerID    *string     `json:"issuer_id"`
	Categories  []string    `json:"categories"`
	SourceURL   *string     `json:"source_url"`
	Related     []related   `json:"related"`
	CorrectedBy *string     `json:"corrected_by"`
	Precision   *string     `json:"time_precision"`
	Registered  time.Time   `json:"registered_at"` // the clock of the first stage, which is the publication
	FirstSeenAt time.Time   `json:"first_seen_at"`
	AvailableAt time.Time   `json:"available_at"`
	EnrichedAt  *time.Time  `json:"enriched_at"`
	TextAt      *time.Time  `json:"text_ready_at"`
	SummaryAt   *time.Time  `json:"summary_ready_at"`
	Document    documentNow `json:"document"`
	Method      *string     `json:"summary_method"`
	Evidence    []evidence  `json:"evidence"`
	Attribution attribution `json:"attribution"`
}

// related is another report that the regulator says has to do with one.
type related struct {
	ID          *string    `json:"id"`
	Number      string     `json:"cnmv_registration_number"`
	PublishedAt *time.Time `json:"published_at"`
	Text        *string    `json:"text"`
}

func (a *API) getReport(r *http.Request, s *catalog.Snapshot) (answer, error) {
	id := r.PathValue("id")
	f, ok := s.Report(strings.ToLower(id))
	if !ok {
		return answer{}, noSuchReport(id)
	}
	rep := f.Report()
	detail := reportDetail{
		ID: rep.ID, CompanyName: rep.CompanyName, Ticker: nullable(f.Ticker()), Type: string(rep.Type), Title: rep.Title,
		Summary: nullable(rep.Summary), PublishedAt: rep.PublishedAt.In(disclosure.Madrid),
		Number: strconv.FormatInt(rep.Number, 10), PDFURL: nullable(rep.PDFURL), NIF: nullable(rep.NIF),
		IssuerID: nullable(f.IssuerID()), Categories: list(rep.Categories()), SourceURL: nullable(rep.SourceURL),
		Related: relatedTo(rep), CorrectedBy: nullable(rep.CorrectedBy), Precision: nullable(precision(rep.TimeFrom)),
		Registered:  rep.PublishedAt.In(disclosure.Madrid),
		FirstSeenAt: rep.FirstSeenAt.In(disclosure.Madrid), AvailableAt: rep.AvailableAt.In(disclosure.Madrid),
		EnrichedAt: nullableTime(rep.EnrichedAt), TextAt: nullableTime(rep.TextReadyAt), SummaryAt: nullableTime(rep.SummaryReadyAt),
		Document: describe(rep), Method: nullable(rep.SummaryMethod), Evidence: evidenceOf(rep), Attribution: a.attribution(),
	}
	return encode(detail)
}

func relatedTo(r *disclosure.Report) []related {
	out := make([]related, 0, len(r.Related))
	for _, other := range r.Related {
		out = append(out, related{
			ID: nullable(other.ID), Number: strconv.FormatInt(other.Number, 10),
			PublishedAt: nullableTime(other.At), Text: nullable(other.Text),
		})
	}
	return out
}

// precision tells how exact a time is, by where it was read; nothing for one
// that was imported, which may be either.
func precision(from disclosure.Surface) string {
	switch from {
	case disclosure.FromList:
		return "minute"
	case disclosure.FromPermalink, disclosure.FromFeed:
		return "second"
	}
	return ""
}

func noSuchReport(id string) error {
	if _, _, ok := disclosure.ParseReportID(id); !ok {
		return fault.New(fault.NotFound, "There is no report with that id. An id is the type and the registration number, such as oir-40374.")
	}
	return fault.New(fault.NotFound, "There is no report %s.", strings.ToLower(id))
}

func encode(v any) (answer, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // as in lists
	err := enc.Encode(v)
	return answer{body: bytes.TrimSuffix(b.Bytes(), []byte("\n"))}, err
}

func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func nullableTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.In(disclosure.Madrid)
	return &t
}

// list never encodes as null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
