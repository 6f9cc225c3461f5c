package rest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/query"
)

const (
	// LogPath is the path below which the transparency log is served.
	LogPath = "/log"

	plainType  = "text/plain; charset=utf-8"
	binaryType = "application/octet-stream"

	// tileAge is how long a tile may be cached. It never changes, except when a copy
	// of the store is restored: then clients must soon see the new one.
	tileAge = time.Minute
)

func (a *API) getReportProof(r *http.Request, s *catalog.Snapshot) (response, error) {
	id := r.PathValue("id")
	if _, err := query.Find(s, id); err != nil {
		return response{}, err
	}
	t, number, _ := disclosure.ParseReportID(id)
	found, err := a.Proofs.ProveReport(r.Context(), disclosure.ReportID(t, number))
	if err != nil {
		return response{}, err
	}
	return encode(found)
}

// getChangeProof returns the proof of any change. The leaf holds the whole record, so
// that the caller needs the scope of the record.
func (a *API) getChangeProof(r *http.Request, s *catalog.Snapshot) (response, error) {
	text := r.PathValue("seq")
	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seq < 1 || text != strconv.FormatInt(seq, 10) {
		return response{}, fault.New(fault.Invalid,
			"The seq %.40q of a change must be a number from 1 to %d, such as 17.", text, s.Seq())
	}
	if seq > s.Seq() {
		if err := a.Events.Lacks(r.Context(), disclosure.Cursor{Seq: seq}); err != nil {
			return response{}, err
		}
		return response{}, fault.New(fault.NotFound, "There is no change %d. The log has the changes 1 to %d.",
			seq, s.Seq())
	}
	found, err := a.Proofs.Prove(r.Context(), seq)
	if err != nil {
		return response{}, err
	}
	leaf, err := disclosure.ParseLeaf(found.Leaf)
	if err != nil {
		return response{}, err
	}
	if _, err := query.PermittedEvents(access.FromContext(r.Context()),
		[]disclosure.Event{disclosure.Event(leaf.Event)}); err != nil {
		return response{}, err
	}
	return encode(found)
}

func (a *API) getCheckpoint(*http.Request, *catalog.Snapshot) (response, error) {
	text, err := a.Proofs.Checkpoint()
	return response{body: text, contentType: plainType}, err
}

func (a *API) getVerifierKey(*http.Request, *catalog.Snapshot) (response, error) {
	key, err := a.Proofs.VerifierKey()
	return response{body: []byte(key + "\n"), contentType: plainType}, err
}

// getTile returns a tile of hashes, or a bundle of entries, which hold the records.
func (a *API) getTile(r *http.Request, _ *catalog.Snapshot) (response, error) {
	tile, entries, err := proof.ParseTilePath(strings.TrimPrefix(r.URL.Path, LogPath+"/"))
	if err != nil {
		return response{}, fault.New(fault.NotFound, "There is no such tile: %v.", err)
	}
	if by := access.FromContext(r.Context()); entries && !by.Scope.Has(access.ReadIssuers) {
		return response{}, by.MissingScope(access.ReadIssuers, "tile/entries")
	}
	data, err := a.Proofs.Tile(r.Context(), tile, entries)
	return response{body: data, contentType: binaryType, maxAge: tileAge}, err
}

// readsEntries reports whether a request is for a bundle of entries, which needs a
// credential as the list of changes does.
func readsEntries(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, LogPath+"/tile/entries/")
}
