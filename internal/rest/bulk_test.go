package rest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/transfer"
	"pregon/internal/transfer/bulk"
)

// snapshots is the list of snapshots.
type snapshots struct {
	Data []struct {
		ID, Epoch, Cursor string
		Seq               int64
		Files             []struct {
			Kind, Format, URL, SHA256 string
			Rows                      int
			Bytes                     int64
		}
	}
}

func (s *service) makeSnapshot() *bulk.Snapshot {
	s.t.Helper()
	m := &bulk.Maker{Archive: s.bulk, Log: s.store, Source: func() string { return "demo" }, Logger: slog.New(slog.DiscardHandler)}
	made, err := m.Make(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return made
}

// A snapshot is listed with all that a client needs, and its files are what the list
// says, whole and in parts.
func TestBulk(t *testing.T) {
	s := start(t, "demo", market())
	header := s.credentials(access.AllScopes)[0]
	var list snapshots
	s.getWith(http.StatusOK, "/api/v1/bulk", header).decode(&list)
	if list.Data == nil || len(list.Data) != 0 {
		t.Errorf("before the first: got %+v, want an empty list", list)
	}
	s.append(store.Batch{Positions: []disclosure.Position{{
		ID:           "holding-2026121404",
		Kind:         disclosure.Holding,
		Name:         "CASAMAR PATRIMONIAL, S.L.",
		Number:       "2026121404",
		RegisteredOn: "2026-10-02",
		Percent:      "5.033",
		State:        disclosure.StateCurrent,
	}}})
	made := s.makeSnapshot()
	s.getWith(http.StatusOK, "/api/v1/bulk", header).decode(&list)
	if len(list.Data) != 1 || list.Data[0].ID != made.ID || list.Data[0].Cursor != made.Cursor().String() || len(list.Data[0].Files) != 9 {
		t.Fatalf("got %+v, want one with nine files", list)
	}
	for _, f := range list.Data[0].Files {
		path := strings.TrimPrefix(f.URL, baseURL)
		whole := s.getWith(http.StatusOK, path, header)
		sum := sha256.Sum256(whole.body)
		if int64(len(whole.body)) != f.Bytes || hex.EncodeToString(sum[:]) != f.SHA256 || f.Rows == 0 {
			t.Errorf("%s: got %d bytes and %d rows, want %d bytes with the hash of the list", path, len(whole.body), f.Rows, f.Bytes)
		}
		if whole.header.Get("ETag") != `"`+f.SHA256+`"` || whole.header.Get("Content-Encoding") != "" || !strings.Contains(whole.header.Get("Cache-Control"), "private, max-age=604800, immutable") {
			t.Errorf("%s: got headers %v", path, whole.header)
		}
		ranged := header.Clone()
		ranged.Set("Range", "bytes=10-19")
		ranged.Set("If-Range", `"`+f.SHA256+`"`)
		if part := s.getWith(http.StatusPartialContent, path, ranged); !bytes.Equal(part.body, whole.body[10:20]) {
			t.Errorf("%s: got part %q, want %q", path, part.body, whole.body[10:20])
		}
		ranged.Set("If-Range", `"another"`)
		if again := s.getWith(http.StatusOK, path, ranged); !bytes.Equal(again.body, whole.body) {
			t.Errorf("%s: a range of another file is not answered with this one", path)
		}
		ranged.Del("If-Range")
		ranged.Set("Range", "bytes=99999999-")
		s.getWith(http.StatusRequestedRangeNotSatisfiable, path, ranged)
		ranged.Set("Range", "bytes=0-1,10-19")
		if all := s.getWith(http.StatusOK, path, ranged); !bytes.Equal(all.body, whole.body) {
			t.Errorf("%s: several ranges are not answered with the whole file", path)
		}
		known := header.Clone()
		known.Set("If-None-Match", `"`+f.SHA256+`"`)
		s.getWith(http.StatusNotModified, path, known)
		if head := s.do(http.MethodHead, path, header); head.status != http.StatusOK || head.header.Get("Content-Length") != whole.header.Get("Content-Length") {
			t.Errorf("HEAD %s: got %d, %v", path, head.status, head.header)
		}
	}
	for _, path := range []string{"/api/v1/bulk/20260101T000000Z-1/reports.parquet", "/api/v1/bulk/" + made.ID + "/manifest.json", "/api/v1/bulk/" + made.ID + "/..%2Fx"} {
		s.getWith(http.StatusNotFound, path, header)
	}
}

// A snapshot that was made during a back-fill says so.
func TestPartialSnapshot(t *testing.T) {
	s := start(t, "demo", market())
	header := s.credentials(access.AllScopes)[0]
	m := &bulk.Maker{Archive: s.bulk, Log: s.store, Source: func() string { return "demo" }, Logger: slog.New(slog.DiscardHandler)}
	for i, partial := range []bool{true, false} {
		m.Loading = func(context.Context) (bulk.Load, error) { return bulk.Load{Running: partial}, nil }
		if _, err := m.Make(t.Context()); err != nil {
			t.Fatal(err)
		}
		var list struct{ Data []struct{ Partial *bool } }
		s.getWith(http.StatusOK, "/api/v1/bulk", header).decode(&list)
		if len(list.Data) != i+1 || list.Data[0].Partial == nil || *list.Data[0].Partial != partial {
			t.Errorf("got %+v, want partial to be %t", list, partial)
		}
		s.append(store.Batch{Issuers: []disclosure.Issuer{{NIF: "A69000016", Name: "OTRO NOMBRE, S.A.", Kind: disclosure.Company}}})
	}
}

// The files of issuers and positions need their scope too.
func TestBulkScope(t *testing.T) {
	s := start(t, "demo", market())
	path := "/api/v1/bulk/" + s.makeSnapshot().ID
	reports := http.Header{"Authorization": {"Bearer read:reports"}}
	s.getWith(http.StatusOK, path+"/reports.parquet", reports)
	s.getWith(http.StatusForbidden, path+"/issuers.parquet", reports)
	s.getWith(http.StatusForbidden, path+"/positions.parquet", reports)
	s.get(http.StatusUnauthorized, path+"/reports.parquet")
	s.get(http.StatusUnauthorized, "/api/v1/bulk")
}

// A file that cannot be read is an error, not an empty file.
func TestBulkFileLost(t *testing.T) {
	s := start(t, "demo", market())
	made := s.makeSnapshot()
	header := s.credentials(access.AllScopes)[0]
	s.getWith(http.StatusOK, "/api/v1/bulk", header)
	if err := os.Remove(filepath.Join(s.path+".bulk", made.ID, "reports.parquet")); err != nil {
		t.Fatal(err)
	}
	a := s.getWith(http.StatusNotFound, "/api/v1/bulk/"+made.ID+"/reports.parquet", header)
	if a.header.Get("ETag") != "" || a.header.Get("Cache-Control") != "no-store" || a.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("got headers %v, want those of an error", a.header)
	}
	if made.File("reports.parquet").Format != transfer.Parquet {
		t.Errorf("got %+v, want a Parquet file", made.File("reports.parquet"))
	}
}
