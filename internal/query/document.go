package query

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract"
	"pregon/internal/fault"
)

// MostOffset is the last place of a document that can be asked for.
const MaxOffset = 1<<31 - 1

// DocumentNow is how far a report's document is.
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

// Describe returns how far a report's document is.
func DescribeDocument(r *disclosure.Report) DocumentStatus {
	d := r.DocumentNow()
	out := DocumentStatus{
		Status: string(d.Status), Reason: OrNull(d.Reason), SHA256: OrNull(d.SHA256),
		Type: OrNull(d.Type), Method: OrNull(d.Method), Language: OrNull(d.Language),
	}
	if d.Status == disclosure.DocumentReady {
		out.Bytes, out.Pages = &d.Bytes, &d.Pages
	}
	return out
}

// DocumentText is a piece of a document's text, and the document's particulars.
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

// Read returns a piece of the text of a report's document: at most so many
// characters from an offset on. It is nil while the document is to be waited
// for.
func (d *Service) ReadDocument(ctx context.Context, r *disclosure.Report, offset, most int) (*document.Piece, *extract.Text, error) {
	leave, err := d.AcquireText(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	text, err := d.textOf(ctx, r)
	if err != nil || text == nil {
		return nil, nil, err
	}
	piece := document.Cut(text, offset, most)
	return &piece, text, nil
}

// Show tells a piece with the particulars of its document.
func (d *Service) DocumentText(r *disclosure.Report, text *extract.Text, piece *document.Piece, offset int) DocumentText {
	out := DocumentText{
		ID: r.ID, SHA256: r.Document.SHA256, Type: string(text.Type), Bytes: r.Document.Bytes, Pages: len(text.Pages),
		Language: OrNull(text.Language), Method: string(text.Method), Notes: list(text.Notes), Outline: text.Outline, Text: piece.Pages,
		Offset: offset, TotalChars: piece.Total, TokenEstimate: document.Tokens(piece.Chars),
		TextReadyAt: TimeOrNull(r.TextReadyAt), PDFURL: OrNull(r.PDFURL), Attribution: d.Attribution(),
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

// textOf returns the text of a report's document, nil while it is to be waited
// for.
func (d *Service) textOf(ctx context.Context, r *disclosure.Report) (*extract.Text, error) {
	switch now := r.DocumentNow(); now.Status {
	case disclosure.DocumentReady:
		return document.Load(ctx, d.Documents, now.SHA256)
	case disclosure.DocumentPending:
		return nil, nil
	default:
		return nil, &fault.Error{Kind: fault.NotFound, Message: now.Reason, Code: "document_" + string(now.Status)}
	}
}

// mostInLibrary is how many questions hold texts of documents in memory at
// once; others wait, since a text may have 10 MB.
const maxTexts = 8

// EnterLibrary waits for a place among those who hold texts of documents.
func (d *Service) AcquireText(ctx context.Context) (leave func(), err error) {
	select {
	case d.texts <- struct{}{}:
		return func() { <-d.texts }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
