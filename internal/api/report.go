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
	filter := p.filter()
	limit := p.integer("limit", defaultLimit, 1, maxLimit)
	page := p.integer("page", 1, 1, maxPage)
	if err := p.err(); err != nil {
		return answer{}, err
	}
	found := s.Reports(filter, page, limit)
	buffer := buffers.Get().(*[]byte)
	b := append((*buffer)[:0], `{"data":[`...)
	for i, f := range found.Filings {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.AppendJSON(b)
	}
	b = append(b, `],"total":`...)
	b = strconv.AppendInt(b, int64(found.Total), 10)
	b = append(b, `,"page":`...)
	b = strconv.AppendInt(b, int64(page), 10)
	b = append(b, `,"limit":`...)
	b = strconv.AppendInt(b, int64(limit), 10)
	return answer{body: append(b, '}'), hash: found.Hash() + uint64(page)*0x9e3779b97f4a7c15 + uint64(limit), buffer: buffer}, nil
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
	FirstSeenAt time.Time   `json:"first_seen_at"`
	AvailableAt time.Time   `json:"available_at"`
	Attribution attribution `json:"attribution"`
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
		FirstSeenAt: rep.FirstSeenAt.In(disclosure.Madrid), AvailableAt: rep.AvailableAt.In(disclosure.Madrid),
		Attribution: a.attribution(),
	}
	return encode(detail)
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

// list never encodes as null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
