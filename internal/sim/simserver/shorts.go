package simserver

import (
	"cmp"
	"net/http"
	"time"

	"pregon/internal/sim/shorts"
)

// ShortsOptions describe the register of net short positions. The zero value is that of
// a demonstration.
type ShortsOptions struct {
	Size  int           // notices since 2011; 0: defaultShorts
	Every time.Duration // between notices; 0: defaultShortsEvery; negative: in the evenings only
}

// A demonstration has a sixth of the real number of notices, so that its start does not
// take longer, and shows a visitor a new one within minutes.
const (
	defaultShorts      = 2000
	defaultShortsEvery = 3 * time.Minute
)

func (o ShortsOptions) register(of Options, began time.Time) *shorts.Register {
	return shorts.New(shorts.Options{
		Market: of.Market,
		Seed:   of.Seed,
		Size:   cmp.Or(o.Size, defaultShorts),
		Began:  began,
		Every:  max(0, cmp.Or(o.Every, defaultShortsEvery)),
	})
}

// netShortPositions answers the workbook, or that it has not changed.
func (s *Server) netShortPositions(r *request) answer {
	made := s.shorts.At
	if r.back > 0 {
		made = s.shorts.Before
	}
	file, err := made(r.now.Add(-r.back))
	if err != nil {
		s.log.Error("the simulator cannot write its workbook", "err", err)
		return answer{status: http.StatusInternalServerError}
	}
	a := answer{
		kind:     "application/vnd.ms-excel",
		body:     file.Body,
		etag:     file.ETag,
		modified: file.Modified,
	}
	if unchanged(r.Header, file) {
		a.status, a.body = http.StatusNotModified, nil
	}
	return a
}

// unchanged reports whether a client has the version of a file. An ETag takes
// precedence over the date.
func unchanged(h http.Header, file shorts.File) bool {
	if etag := h.Get("If-None-Match"); etag != "" {
		return etag == file.ETag
	}
	since, err := http.ParseTime(h.Get("If-Modified-Since"))
	return err == nil && !file.Modified.After(since)
}

// Shorts returns the register of net short positions.
func (s *Server) Shorts() *shorts.Register { return s.shorts }
