package rest

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/server/content"
	"pregon/internal/server/problem"
	"pregon/internal/transfer"
	"pregon/internal/transfer/bulk"
)

// BulkPath is the path of the list of snapshots. Their files are below it.
const BulkPath = "/api/v1/bulk"

// Bulk offers snapshots.
type Bulk struct {
	Archive *bulk.Archive // nil if there are none
	Absent  string        // why there are none
	Public  bool          // no key or token is needed
}

// IsDownload reports whether a request is for a file of a snapshot, which is
// compressed already.
func IsDownload(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, BulkPath+"/") }

// bulkSnapshot is a snapshot as the API returns it.
type bulkSnapshot struct {
	ID        string     `json:"id"`
	Seq       int64      `json:"seq"`
	Epoch     string     `json:"epoch"`
	Cursor    string     `json:"cursor"`
	CreatedAt time.Time  `json:"created_at"`
	AsOf      time.Time  `json:"as_of"`
	Partial   bool       `json:"partial"`
	Files     []bulkFile `json:"files"`
}

type bulkFile struct {
	Kind   transfer.Kind   `json:"kind"`
	Format transfer.Format `json:"format"`
	URL    string          `json:"url"`
	Rows   int             `json:"rows"`
	Bytes  int64           `json:"bytes"`
	SHA256 string          `json:"sha256"`
}

// listBulk returns the snapshots, newest first.
func (a *API) listBulk(r *http.Request, _ *catalog.Snapshot) (response, error) {
	if a.Bulk.Archive == nil {
		return response{}, fault.New(fault.NotFound, "%s", a.Bulk.Absent)
	}
	list, err := a.Bulk.Archive.List(r.Context(), a.Events.Head())
	if err != nil {
		return response{}, err
	}
	var out struct {
		Data []bulkSnapshot `json:"data"`
	}
	out.Data = make([]bulkSnapshot, len(list))
	for i, s := range list {
		shown := bulkSnapshot{
			ID:        s.ID,
			Seq:       s.Seq,
			Epoch:     s.Epoch,
			Cursor:    s.Cursor().String(),
			CreatedAt: query.Madrid(s.CreatedAt),
			AsOf:      query.Madrid(s.AsOf),
			Partial:   s.Partial,
			Files:     make([]bulkFile, len(s.Files)),
		}
		for n, f := range s.Files {
			shown.Files[n] = bulkFile{
				f.Kind, f.Format, a.BaseURL + BulkPath + "/" + s.ID + "/" + f.Name,
				f.Rows, f.Bytes, f.SHA256,
			}
		}
		out.Data[i] = shown
	}
	return encode(out)
}

// getBulkFile returns a file of a snapshot.
func (a *API) getBulkFile(r *http.Request, _ *catalog.Snapshot) (response, error) {
	if a.Bulk.Archive == nil {
		return response{}, fault.New(fault.NotFound, "%s", a.Bulk.Absent)
	}
	s, content, err := a.Bulk.Archive.Open(r.Context(), r.PathValue("snapshot"), r.PathValue("file"))
	if err != nil {
		return response{}, err
	}
	principal := access.FromContext(r.Context())
	if content.Kind != transfer.Reports && principal.Mode != access.Anonymous &&
		!principal.Scope.Has(access.ReadIssuers) {
		return response{}, principal.MissingScope(access.ReadIssuers, "This file of a snapshot")
	}
	return response{file: &download{snapshot: s, content: content}}, nil
}

// writeFile sends a file, or the part of it that the client asked for. A reader may be
// slow: only a single write has a deadline.
func (a *API) writeFile(w http.ResponseWriter, r *http.Request, d *download) {
	defer d.content.Close()
	problem.Park(w)
	f := d.content.File
	h := w.Header()
	h["Vary"] = varies
	h["Etag"] = []string{`"` + f.SHA256 + `"`}
	h["Cache-Control"] = []string{"private, max-age=604800, immutable"}
	if a.Bulk.Public && !hasCredential(r) {
		content.SetImmutable(h, r, fileAge)
	}
	h["Content-Type"] = []string{"application/zstd"}
	if f.Format == transfer.Parquet {
		h["Content-Type"] = []string{"application/vnd.apache.parquet"}
	}
	h["Content-Disposition"] = []string{`attachment; filename="pregon-` + d.snapshot.ID + "-" + f.Name + `"`}
	if sum, err := hex.DecodeString(f.SHA256); err == nil {
		h["Repr-Digest"] = []string{"sha-256=:" + base64.StdEncoding.EncodeToString(sum) + ":"}
	}
	d.ResponseWriter, d.control = w, http.NewResponseController(w)
	if strings.Contains(r.Header.Get("Range"), ",") {
		r.Header.Del("Range") // each range would open the file again
	}
	http.ServeContent(d, r, f.Name, d.snapshot.CreatedAt, d)
	if d.err == nil || d.sent {
		d.sendHeader()
		return
	}
	for _, name := range []string{
		"Etag", "Content-Type", "Content-Length", "Content-Range", "Accept-Ranges",
		"Content-Disposition", "Repr-Digest", "Last-Modified",
	} {
		h.Del(name)
	}
	h["Cache-Control"] = []string{"no-store"}
	a.writeError(w, r, d.err)
}

// download sends a file. The status is sent with the first byte, so that a file that
// cannot be opened is answered with an error.
type download struct {
	http.ResponseWriter
	control  *http.ResponseController
	snapshot *bulk.Snapshot
	content  *bulk.Content
	status   int
	sent     bool  // the status
	err      error // of reading the file
}

// Read and Seek are of the file.
func (d *download) Read(p []byte) (n int, err error) {
	n, err = d.content.Read(p)
	if err != nil && n == 0 && !errors.Is(err, io.EOF) {
		d.err = err
	}
	return n, err
}

func (d *download) Seek(offset int64, whence int) (int64, error) {
	return d.content.Seek(offset, whence)
}

// WriteHeader notes the status.
func (d *download) WriteHeader(status int) { d.status = status }

func (d *download) sendHeader() {
	if !d.sent && d.status != 0 {
		d.sent = true
		d.ResponseWriter.WriteHeader(d.status)
	}
}

// Write sends a part of the file.
func (d *download) Write(p []byte) (int, error) {
	if d.status == http.StatusRequestedRangeNotSatisfiable { // a text of http.ServeContent
		d.Header().Del("Content-Type")
		return len(p), nil
	}
	_ = d.control.SetWriteDeadline(time.Now().Add(downloadTimeout))
	d.sendHeader()
	return d.ResponseWriter.Write(p)
}

// fileAge is how long a file may be kept. It never changes, and is removed after some days.
const fileAge = 7 * 24 * time.Hour

// downloadTimeout limits one write, of 32 KiB, to a slow reader.
const downloadTimeout = 60 * time.Second
