package query

import (
	"context"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract"
	"pregon/internal/fault"
	"pregon/internal/search"
)

// MaxOffset is the largest offset into a document that a request may have.
const MaxOffset = 1<<31 - 1

// DocumentStatus is the state of a report's document.
type DocumentStatus struct {
	Status   string  `json:"status"`
	Reason   *string `json:"reason"` // why it is not ready
	SHA256   *string `json:"sha256"`
	Type     *string `json:"type"`
	Bytes    *int64  `json:"bytes"`
	Pages    *int    `json:"pages"`
	Method   *string `json:"method"`
	Language *string `json:"language"`
}

// DescribeDocument returns the state of a report's document.
func DescribeDocument(r *disclosure.Report) DocumentStatus {
	d := r.DocumentNow()
	out := DocumentStatus{
		Status:   string(d.Status),
		Reason:   OrNull(d.Reason),
		SHA256:   OrNull(d.SHA256),
		Type:     OrNull(d.Type),
		Method:   OrNull(d.Method),
		Language: OrNull(d.Language),
	}
	if d.Status == disclosure.DocumentReady {
		out.Bytes, out.Pages = &d.Bytes, &d.Pages
	}
	return out
}

// DocumentText is a piece of a document's text with the properties of the
// document.
type DocumentText struct {
	ID            string               `json:"id"`
	SHA256        string               `json:"sha256"`
	Type          string               `json:"type"`
	Bytes         int64                `json:"bytes"`
	Pages         int                  `json:"pages"`
	Language      *string              `json:"language"`
	Method        string               `json:"method"`
	Notes         []string             `json:"notes"`
	Outline       []extract.Heading    `json:"outline"`
	Text          []document.PagePiece `json:"text"`
	Offset        int                  `json:"offset"`
	NextOffset    *int                 `json:"next_offset"`
	TotalChars    int                  `json:"total_chars"`
	TokenEstimate int                  `json:"token_estimate"`
	TextReadyAt   *time.Time           `json:"text_ready_at"`
	PDFURL        *string              `json:"pdf_url"`
	Attribution   Attribution          `json:"attribution"`
}

// ReadDocument returns at most maxChars characters of the text of a report's
// document, from offset on. The piece is nil while the document is pending.
func (q *Service) ReadDocument(
	ctx context.Context,
	r *disclosure.Report,
	offset, maxChars int,
) (*document.Piece, *extract.Text, error) {
	release, err := q.AcquireText(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	text, err := q.textOf(ctx, r)
	if err != nil || text == nil {
		return nil, nil, err
	}
	piece := document.Cut(text, offset, maxChars)
	return &piece, text, nil
}

// DocumentText returns a piece of a document with the properties of the
// document.
func (q *Service) DocumentText(
	r *disclosure.Report,
	text *extract.Text,
	piece *document.Piece,
	offset int,
) DocumentText {
	out := DocumentText{
		ID:            r.ID,
		SHA256:        r.Document.SHA256,
		Type:          string(text.Type),
		Bytes:         r.Document.Bytes,
		Pages:         len(text.Pages),
		Language:      OrNull(text.Language),
		Method:        string(text.Method),
		Notes:         list(text.Notes),
		Outline:       text.Outline,
		Text:          piece.Pages,
		Offset:        offset,
		TotalChars:    piece.Total,
		TokenEstimate: document.Tokens(piece.Chars),
		TextReadyAt:   TimeOrNull(r.TextReadyAt),
		PDFURL:        OrNull(r.PDFURL),
		Attribution:   q.Attribution(),
	}
	if out.Outline == nil {
		out.Outline = []extract.Heading{}
	}
	if out.Text == nil {
		out.Text = []document.PagePiece{}
	}
	if piece.Next > 0 {
		out.NextOffset = &piece.Next
	}
	return out
}

// textOf returns the text of a report's document, nil while it is pending.
func (q *Service) textOf(ctx context.Context, r *disclosure.Report) (*extract.Text, error) {
	switch now := r.DocumentNow(); now.Status {
	case disclosure.DocumentReady:
		return document.Load(ctx, q.Documents, now.SHA256)
	case disclosure.DocumentPending:
		return nil, nil
	default:
		return nil, &fault.Error{Kind: fault.NotFound, Message: now.Reason, Code: "document_" + string(now.Status)}
	}
}

// maxTexts is the number of requests that may hold texts of documents in memory
// at once. Others wait for maxTextWait at most, since a text may have 10 MB.
const (
	maxTexts    = 8
	maxTextWait = 20 * time.Second
)

// AcquireText waits until the caller may hold a text, in turns with other callers. The
// caller calls release when it no longer holds one.
func (q *Service) AcquireText(ctx context.Context) (release func(), err error) {
	turn, err := q.texts.Acquire(ctx, access.Caller(access.FromContext(ctx).ID))
	if err != nil {
		return nil, err
	}
	return turn.End, nil
}

// Snippets returns the parts of the document of each report that match the search text of a
// filter.
func (q *Service) Snippets(
	ctx context.Context,
	f disclosure.Filter,
	reports []catalog.Report,
) ([][]document.Snippet, error) {
	places := make([]document.Place, len(reports))
	for i, r := range reports {
		d := r.Decode().Document
		places[i] = document.Place{SHA256: d.SHA256, Pages: d.Pages}
	}
	release, err := q.AcquireText(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	found, err := document.Snippets(ctx, q.Documents, search.ParseFilter(f), places...)
	if err != nil {
		return nil, err
	}
	out := make([][]document.Snippet, len(reports))
	for i, place := range places {
		out[i] = append([]document.Snippet{}, found[place.SHA256]...)
	}
	return out, nil
}
