package rest

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"pregon/internal/catalog"
	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/query"
)

// Columns of positions as CSV.
var (
	shortColumns = []string{
		"id", "issuer_id", "issuer_name", "lei", "isin", "holder", "holder_erased", "date", "percent", "current", "state",
		"first_seen_at", "source_url",
	}
	shortTotalColumns  = []string{"issuer_id", "issuer_name", "lei", "isin", "percent", "holders", "date"}
	shortSeriesColumns = []string{"date", "percent", "holders"}
	holdingColumns     = []string{
		"id", "issuer_id", "issuer_name", "lei", "holder", "holder_erased", "number", "registered_on", "percent_shares",
		"percent_direct", "percent_indirect", "percent_instruments", "percent_total", "current", "state", "annulled_by",
		"document_url", "first_seen_at", "source_url",
	}
	dealingColumns = slices.Concat([]string{
		"id", "issuer_id", "issuer_name", "lei", "number", "registered_on", "person", "person_erased", "relation",
		"rectifies", "rectified_by", "document_url", "document_status", "document_reason", "amount", "currency",
		"aggregates",
	}, prefixed("trades.", []string{
		"isin", "instrument", "nature", "side", "date", "venue", "volume", "price", "currency", "page", "quote",
	}), []string{"state", "first_seen_at", "source_url"})

	// decimalColumns have decimals that are texts in JSON, so that no digit is lost. In a
	// table they are numbers: a spreadsheet takes 1.02 for a day where it expects a comma.
	decimalColumns = []string{
		"percent", "percent_shares", "percent_direct", "percent_indirect", "percent_instruments", "percent_total",
		"amount", "trades.volume", "trades.price",
	}
)

// positions returns the handler of the list of a kind of positions.
func positions(kind disclosure.PositionKind) func(*API, *http.Request, *catalog.Snapshot) (response, error) {
	return func(a *API, r *http.Request, s *catalog.Snapshot) (response, error) {
		return a.listPositions(r, s, kind)
	}
}

func (a *API) listPositions(
	r *http.Request,
	s *catalog.Snapshot,
	kind disclosure.PositionKind,
) (response, error) {
	p := a.tableParams(r)
	list := p.PositionList(s, kind)
	at, err := a.point(r, p, s)
	if err != nil {
		return response{}, err
	}
	book, err := a.Query.PositionsAt(r.Context(), s, at)
	if err != nil {
		return response{}, err
	}
	found, err := a.Query.Positions(r.Context(), book, list)
	if err != nil {
		return response{}, err
	}
	var out response
	if wantsCSV(r) {
		out.rows, err = positionRows(r.Context(), found, list)
	} else {
		out = positionList(found, list)
		out.body, err = a.appendVotingRights(out.body, r, s, list, at)
	}
	if err != nil || at == nil {
		return out.warn(p.Warnings()), err
	}
	if out.rows == nil {
		out.body = appendAsOf(out.body, at)
	}
	return out.warn(p.Warnings()).ofPositions(at), nil
}

// appendVotingRights adds those of the issuer to the list of the holdings in one, which are
// percentages of them.
func (a *API) appendVotingRights(
	body []byte,
	r *http.Request,
	s *catalog.Snapshot,
	list query.PositionList,
	at *query.Point,
) ([]byte, error) {
	issuer, one := list.OneIssuer()
	if list.Kind() != disclosure.Holding && list.Kind() != disclosure.OwnShares || !one {
		return body, nil
	}
	rights, err := a.Query.VotingRights(r.Context(), s, issuer, at)
	if err != nil {
		return body, err
	}
	object, err := query.Encode(rights)
	if err != nil {
		return body, err
	}
	body = append(body[:len(body)-1], ',')
	return append(body, object[1:]...), nil
}

// positionList encodes a page of positions.
func positionList(found position.Page, list query.PositionList) response {
	buffer := buffers.Get().(*[]byte)
	b := append((*buffer)[:0], `{"data":`...)
	b = query.AppendPositions(b, found.Entries)
	b = append(list.AppendPage(b, found.Total), '}')
	return response{body: b, buffer: buffer}
}

// appendAsOf adds the seq of a past state at the end of an object.
func appendAsOf(object []byte, at *query.Point) []byte {
	b := append(object[:len(object)-1], `,"as_of_seq":`...)
	return append(strconv.AppendInt(b, at.Seq, 10), '}')
}

// positionRows returns the rows of a page of positions.
func positionRows(ctx context.Context, found position.Page, list query.PositionList) (*rowList, error) {
	rows := &rowList{
		count:  len(found.Entries),
		total:  found.Total,
		encode: func(b []byte, i int) []byte { return query.AppendPosition(b, found.Entries[i]) },
		paged:  true,
		page:   list.Page,
		limit:  list.Limit,
	}
	return rows, rows.addHash(ctx)
}

func (a *API) listShortTotals(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.tableParams(r)
	list := p.ShortTotals(s)
	at, err := a.point(r, p, s)
	if err != nil {
		return response{}, err
	}
	book, err := a.Query.PositionsAt(r.Context(), s, at)
	if err != nil {
		return response{}, err
	}
	found := a.Query.ShortTotals(book, list)
	if at != nil {
		found.AsOfSeq = &at.Seq
	}
	out, err := encodePast(found, at)
	return out.warn(p.Warnings()), err
}

func (a *API) getShortSeries(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.listParams(r)
	issuer := p.ShortSeriesIssuer(s)
	at, err := a.point(r, p, s)
	if err != nil {
		return response{}, err
	}
	book, err := a.Query.PositionsAt(r.Context(), s, at)
	if err != nil {
		return response{}, err
	}
	found := a.Query.ShortSeriesOf(s, book, issuer)
	if at != nil {
		found.AsOfSeq = &at.Seq
	}
	return encodePast(found, at)
}

// encodePast encodes an answer as of a point, or of now if it is nil.
func encodePast(v any, at *query.Point) (response, error) {
	out, err := encode(v)
	if at != nil {
		out = out.ofPositions(at)
	}
	return out, err
}

// ofPositions adds the header of a past state to an answer about positions. It is not kept
// for long as others are, because a name in it may be erased.
func (out response) ofPositions(at *query.Point) response {
	out = out.asOf(at)
	out.maxAge = 0
	return out
}

func (a *API) getOwnership(r *http.Request, s *catalog.Snapshot) (response, error) {
	at, err := a.point(r, a.readParams(r), s)
	if err != nil {
		return response{}, err
	}
	var found *query.Ownership
	if at == nil {
		found, err = a.Query.Ownership(r.Context(), s, r.PathValue("id"))
	} else {
		found, err = a.Query.OwnershipAsOf(r.Context(), s, r.PathValue("id"), *at)
	}
	if err != nil {
		return response{}, issuerNotFound(err)
	}
	return encodePast(found, at)
}

func (a *API) getPosition(r *http.Request, s *catalog.Snapshot) (response, error) {
	at, err := a.point(r, a.readParams(r), s)
	if err != nil {
		return response{}, err
	}
	if at == nil {
		body, err := a.Query.Position(s, r.PathValue("id"))
		return response{body: body}, err
	}
	body, err := a.Query.PositionAsOf(r.Context(), s, r.PathValue("id"), *at)
	if err != nil {
		return response{}, err
	}
	return response{body: body}.ofPositions(at), nil
}

func (a *API) positionHistory(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.readParams(r)
	page := p.history()
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.PositionHistory(r.Context(), s, r.PathValue("id"), page)
	if err != nil {
		return response{}, err
	}
	return encode(found)
}

func (a *API) getPositionProof(r *http.Request, s *catalog.Snapshot) (response, error) {
	known, err := query.FindPosition(s, r.PathValue("id"))
	if err != nil {
		return response{}, err
	}
	found, err := a.Proofs.ProvePosition(r.Context(), known.ID())
	if err != nil {
		return response{}, err
	}
	return encode(found)
}
