package query

import (
	"context"
	"strconv"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/disclosure/headline"
	"pregon/internal/document"
	"pregon/internal/fault"
	"pregon/internal/search"
)

// InDocument is the value of the parameter in that searches the texts of
// documents.
const InDocument = "document"

// List is a request for a page of reports.
type List struct {
	Filter      disclosure.Filter
	Page, Limit int
	InDocuments bool // search the documents, which needs a credential
}

// List reads the parameters of a list of reports.
func (p *Params) List(s *catalog.Snapshot) List {
	l := List{
		Filter: p.Filter(s),
		Limit:  p.limit(),
		Page:   p.Integer("page", 1, 1, MaxPage),
	}
	switch in := p.Text("in"); in {
	case "":
	case InDocument:
		l.InDocuments = true
		p.requireSearch(l.Filter)
	default:
		p.Reject("in", in, "must be document, or be left out")
	}
	return l
}

// ListInDocuments reads the parameters of a list that always searches
// documents.
func (p *Params) ListInDocuments(s *catalog.Snapshot) List {
	l := p.List(s)
	if !l.InDocuments {
		l.InDocuments = true
		if l.Filter.Search == "" {
			p.Reject("search", "", "is needed: the words to look for")
		}
	}
	return l
}

// requireSearch rejects in=document without words.
func (p *Params) requireSearch(f disclosure.Filter) {
	if f.Search == "" {
		p.Reject("search", "", "is needed with in=document: the words to look for")
	}
}

// Reports returns a page of reports, newest first.
func (q *Service) Reports(ctx context.Context, s *catalog.Snapshot, l List) (catalog.Page, error) {
	var err error
	if l.Filter, err = q.withDocuments(ctx, s, l.Filter); err != nil {
		return catalog.Page{}, err
	}
	if !l.InDocuments {
		return s.Reports(ctx, l.Filter, l.Page, l.Limit)
	}
	found, rest, err := q.inDocuments(ctx, s, l.Filter)
	if err != nil {
		return catalog.Page{}, err
	}
	return s.Among(ctx, found, rest, l.Page, l.Limit)
}

// Facets counts the reports on all pages of a list.
func (q *Service) Facets(ctx context.Context, s *catalog.Snapshot, l List) (catalog.Facets, error) {
	var err error
	if l.Filter, err = q.withDocuments(ctx, s, l.Filter); err != nil {
		return catalog.Facets{}, err
	}
	if !l.InDocuments {
		return s.Facets(ctx, l.Filter)
	}
	found, rest, err := q.inDocuments(ctx, s, l.Filter)
	if err != nil {
		return catalog.Facets{}, err
	}
	return s.FacetsAmong(ctx, found, rest)
}

// inDocuments finds the documents with the search text of a filter, and returns the
// filter without that text.
func (q *Service) inDocuments(
	ctx context.Context,
	s *catalog.Snapshot,
	f disclosure.Filter,
) (found search.NumberSet, rest disclosure.Filter, err error) {
	words, err := document.Query(search.ParseFilter(f))
	if err != nil {
		return nil, f, err
	}
	f.Search = ""
	f.Widen = false
	var among search.NumberSet
	if f != (disclosure.Filter{}) {
		if among, err = s.Documents(ctx, f); err != nil {
			return nil, f, err
		}
	}
	found, err = q.words.FindAmong(ctx, words, among)
	return found, f, err
}

// AppendPage appends total, page and limit to an encoded list.
func (l List) AppendPage(b []byte, total int) []byte { return appendPage(b, total, l.Page, l.Limit) }

func appendPage(b []byte, total, page, limit int) []byte {
	b = append(b, `,"total":`...)
	b = strconv.AppendInt(b, int64(total), 10)
	b = append(b, `,"page":`...)
	b = strconv.AppendInt(b, int64(page), 10)
	b = append(b, `,"limit":`...)
	return strconv.AppendInt(b, int64(limit), 10)
}

// Report is a report as the API returns it.
type Report struct {
	ID          string         `json:"id"`
	CompanyName string         `json:"company_name"`
	Ticker      *string        `json:"ticker"`
	Type        string         `json:"type"`
	Title       string         `json:"title"`
	Summary     *string        `json:"summary"`
	PublishedAt time.Time      `json:"published_at"`
	Number      string         `json:"cnmv_registration_number"`
	PDFURL      *string        `json:"pdf_url"`
	NIF         *string        `json:"nif"`
	IssuerID    *string        `json:"issuer_id"`
	Categories  []string       `json:"categories"`
	English     []string       `json:"categories_en"` // of each category: see disclosure.CategoryEN
	EUClass     *string        `json:"eu_class"`      // see disclosure.EUClass
	SourceURL   *string        `json:"source_url"`
	Related     []Related      `json:"related"`
	CorrectedBy *string        `json:"corrected_by"`
	Precision   *string        `json:"time_precision"`
	SuspectTime bool           `json:"suspect_time"`
	Registered  time.Time      `json:"registered_at"` // the clock of the first stage, which is the publication
	FirstSeenAt time.Time      `json:"first_seen_at"`
	AvailableAt time.Time      `json:"available_at"`
	EnrichedAt  *time.Time     `json:"enriched_at"`
	TextAt      *time.Time     `json:"text_ready_at"`
	SummaryAt   *time.Time     `json:"summary_ready_at"`
	Document    DocumentStatus `json:"document"`
	Method      *string        `json:"summary_method"`
	Language    *string        `json:"summary_language"`
	Evidence    []Evidence     `json:"evidence"`
	SummaryEN   *string        `json:"summary_en"`
	EvidenceEN  []Evidence     `json:"evidence_en"`
	Facts       []Fact         `json:"facts"` // null if its document was not examined
	FactsAt     *time.Time     `json:"facts_ready_at"`
	Headline    *string        `json:"headline"`
	HeadlineEN  *string        `json:"headline_en"`
	Attribution Attribution    `json:"attribution"`
	AsOfSeq     *int64         `json:"as_of_seq,omitempty"` // only of a past state
}

// Related is another report that the regulator says has to do with one.
type Related struct {
	ID          *string    `json:"id"`
	Number      string     `json:"cnmv_registration_number"`
	PublishedAt *time.Time `json:"published_at"`
	Text        *string    `json:"text"`
}

// Evidence is a sentence of the summary, and what it rests on.
type Evidence struct {
	Sentence string `json:"sentence"`
	Page     int    `json:"page"`
	Quote    string `json:"quote"`
}

// Report returns the report with an id.
func (q *Service) Report(ctx context.Context, s *catalog.Snapshot, id string) (*Report, error) {
	f, err := Find(s, id)
	if err != nil {
		return nil, err
	}
	return q.Describe(ctx, f, f.Decode()), nil
}

// Describe is Report for a caller that has decoded the report.
func (q *Service) Describe(ctx context.Context, f catalog.Report, rep *disclosure.Report) *Report {
	return q.joined(ctx, rep, f.Ticker(), f.IssuerID())
}

// joined returns a report with what the directory adds to it, and with what proves its
// facts.
func (q *Service) joined(ctx context.Context, rep *disclosure.Report, ticker, issuer string) *Report {
	r := DescribeReport(rep)
	r.Facts = q.Facts(ctx, rep)
	r.Ticker = OrNull(ticker)
	r.IssuerID = OrNull(issuer)
	r.Attribution = q.Attribution()
	return r
}

// DescribeReport returns what the record of a report says: of a fact, its kind and its
// fields. The directory may have a
// ticker for a report without one, and decides its issuer; the attribution is that
// of the service. A record may have times of more digits than the catalogue keeps.
func DescribeReport(rep *disclosure.Report) *Report {
	return &Report{
		ID:          rep.ID,
		CompanyName: rep.CompanyName,
		Ticker:      OrNull(rep.Ticker),
		Type:        string(rep.Type),
		Title:       rep.Title,
		Summary:     OrNull(rep.Summary),
		PublishedAt: Madrid(rep.PublishedAt),
		Number:      strconv.FormatInt(rep.Number, 10),
		PDFURL:      OrNull(rep.PDFURL),
		NIF:         OrNull(rep.NIF),
		Categories:  list(rep.Categories()),
		English:     disclosure.CategoriesEN(rep.Categories()),
		EUClass:     OrNull(string(rep.EUClass())),
		SourceURL:   OrNull(rep.SourceURL),
		Related:     relatedTo(rep),
		CorrectedBy: OrNull(rep.CorrectedBy),
		Precision:   OrNull(rep.TimeFrom.Precision()),
		SuspectTime: rep.SuspectTime(),
		Registered:  Madrid(rep.PublishedAt),
		FirstSeenAt: Madrid(rep.FirstSeenAt.Truncate(time.Microsecond)),
		AvailableAt: Madrid(rep.AvailableAt.Truncate(time.Microsecond)),
		EnrichedAt:  TimeOrNull(rep.EnrichedAt.Truncate(time.Microsecond)),
		TextAt:      TimeOrNull(rep.TextReadyAt),
		SummaryAt:   TimeOrNull(rep.SummaryReadyAt),
		Document:    DescribeDocument(rep),
		Method:      OrNull(rep.SummaryMethod),
		Language:    OrNull(rep.SummaryLanguage),
		Evidence:    evidenceOf(rep.Evidence),
		Headline:    OrNull(headline.Spanish(rep.Facts)),
		HeadlineEN:  OrNull(headline.English(rep.Facts)),
		SummaryEN:   OrNull(rep.SummaryEN),
		EvidenceEN:  evidenceOf(rep.EvidenceEN),
		Facts:       factsOf(rep),
		FactsAt:     TimeOrNull(rep.FactsReadyAt),
	}
}

// Find returns the report with an id, in upper or lower case.
func Find(s *catalog.Snapshot, id string) (catalog.Report, error) {
	f, ok := s.Report(strings.ToLower(id))
	if ok {
		return f, nil
	}
	if _, _, ok := disclosure.ParseReportID(id); !ok {
		return f, fault.New(fault.NotFound, "There is no report with that id. An id is the type and the "+
			"registration number, such as oir-40374.")
	}
	return f, fault.New(fault.NotFound, "There is no report %s.", strings.ToLower(id))
}

func relatedTo(r *disclosure.Report) []Related {
	out := make([]Related, 0, len(r.Related))
	for _, other := range r.Related {
		out = append(out, Related{
			ID:          OrNull(other.ID),
			Number:      strconv.FormatInt(other.Number, 10),
			PublishedAt: TimeOrNull(other.At),
			Text:        OrNull(other.Text),
		})
	}
	return out
}

func evidenceOf(sentences []disclosure.Evidence) []Evidence {
	out := make([]Evidence, 0, len(sentences))
	for _, e := range sentences {
		out = append(out, Evidence{e.Text, e.Page, e.Quote})
	}
	return out
}
