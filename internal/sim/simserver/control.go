package simserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/server/private"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/market"
	"pregon/internal/sim/stake"
)

const welcome = `The simulated regulator and exchange of Pregón. No data of it is real.

POST   /_sim/publish   {"type":"oir","title":"…","nif":"…"}, all optional; also category, document, link,
                       related, corrects, published_at, number. Publishes a report at once. "text":"…" is the text of
                       its document, paragraphs separated by empty lines; "document" is true, false, or
                       its form: pdf columns long scan xhtml zip, or corrupt … word as below.
POST   /_sim/register  {"kind":"dealing","issuer":"A…"}: enters it into a register at once and answers its number.
                       kinds: dealing holding own_shares annulment; without an issuer the register picks one
GET    /_sim/filings   ?type=oir&from=2026-01-01&to=2026-01-31: all reports, one JSON line each.
POST   /_sim/fault     {"kind":"stall","surface":"list","type":"oir","for":"30s","times":3,"share":0.5,"by":"90s"}
                       kinds: error500 error403 errorpage stall truncate markup runaway feedcut silent frozen skew
                       huge endless bomb redirectloop reset; surfaces: feed list permalink hr document register exchange shorts
                       positions all;
                       on shorts only: half (of the workbook) stale (as it was a week ago);
                       on documents only: corrupt cut locked cycle billions empty page word, and bomb is a file there
GET    /_sim/fault     the faults that are armed
DELETE /_sim/fault     disarms them
`

// control answers the endpoints of the simulator itself. Faults do not affect them.
func (s *Server) control(w http.ResponseWriter, r *http.Request, path string) {
	if err := (private.Guard{}).Check(r); err != nil {
		respond(w, http.StatusForbidden, problem{err.Error()})
		return
	}
	var v any
	var err error
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case path == "" && get:
		write(w, r, answer{kind: "text/plain; charset=utf-8", body: []byte(welcome)})
		return
	case path == "filings" && get:
		if err = s.reports(w, r); err == nil {
			return
		}
	case path == "publish" && r.Method == http.MethodPost:
		v, err = s.publish(w, r)
	case path == "register" && r.Method == http.MethodPost:
		var want struct {
			Kind   stake.Kind `json:"kind"`
			Issuer string     `json:"issuer"`
		}
		if err = decode(w, r, &want); err == nil {
			v, err = s.enter(want.Kind, want.Issuer)
		}
	case path == "fault" && r.Method == http.MethodPost:
		want := armed{Share: 1}
		if err = decode(w, r, &want); err == nil {
			v, err = s.faults.arm(want, s.archive.Next())
		}
	case path == "fault" && get:
		v = map[string]any{"faults": s.faults.list()}
	case path == "fault" && r.Method == http.MethodDelete:
		v = map[string]any{"cleared": s.faults.clear()}
	case path == "" || path == "filings" || path == "publish" || path == "register" || path == "fault":
		respond(w, http.StatusMethodNotAllowed, problem{"the method is not allowed here"})
		return
	default:
		err = fault.New(fault.NotFound, "unknown endpoint; GET /_sim/ lists them")
	}
	if err != nil {
		s.respondError(w, r, err)
		return
	}
	respond(w, http.StatusOK, v)
}

type problem struct {
	Error string `json:"error"`
}

func (s *Server) respondError(w http.ResponseWriter, r *http.Request, err error) {
	switch fault.KindOf(err) {
	case fault.Invalid:
		respond(w, http.StatusBadRequest, problem{err.Error()})
	case fault.NotFound:
		respond(w, http.StatusNotFound, problem{err.Error()})
	default:
		s.log.ErrorContext(r.Context(), "the simulator failed", "path", r.URL.Path, "err", err)
		respond(w, http.StatusInternalServerError, problem{"the simulator failed; see its log"})
	}
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// maxBody bounds the body of a request.
const maxBody = 64 << 10

// decode reads a JSON object. An empty body is an empty object.
func decode(w http.ResponseWriter, r *http.Request, into any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return fault.New(fault.Invalid, "the body is longer than 64 KB")
	}
	if err != nil {
		return fault.New(fault.Invalid, "the body cannot be read")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fault.New(fault.Invalid, "the body is invalid: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fault.New(fault.Invalid, "the body holds more than one JSON value")
	}
	return nil
}

// publish publishes the report of the body.
func (s *Server) publish(w http.ResponseWriter, r *http.Request) (any, error) {
	var draft archive.Draft
	if err := decode(w, r, &draft); err != nil {
		return nil, err
	}
	out, err := s.Publish(draft)
	if err != nil {
		return nil, err
	}
	return struct {
		ID          string `json:"id"`
		Number      string `json:"number"`
		PublishedAt string `json:"published_at"`
	}{out.ID, strconv.FormatInt(out.Number, 10), timestamp(out.PublishedAt)}, nil
}

func timestamp(t time.Time) string { return t.In(disclosure.Madrid).Format(time.RFC3339) }

// reportJSON is a report as a perfect reader would store it.
type reportJSON struct {
	ID          string         `json:"id"`
	Type        string         `json:"type"`
	Number      string         `json:"number"`
	CompanyName string         `json:"company_name"`
	NIF         string         `json:"nif,omitempty"`
	Title       string         `json:"title"`
	Category    string         `json:"category"`
	PublishedAt string         `json:"published_at"`
	PDFURL      string         `json:"pdf_url,omitempty"`
	SourceURL   string         `json:"source_url,omitempty"`
	Related     []relationJSON `json:"related,omitempty"`
	Corrects    string         `json:"corrects,omitempty"`
}

type relationJSON struct {
	ID          string `json:"id"`
	Number      string `json:"number"`
	PublishedAt string `json:"published_at"` // to the minute
	Text        string `json:"text"`
}

// reports writes every report from one day to another, oldest first. Of reports with
// the same number it writes the last one.
func (s *Server) reports(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	kinds := disclosure.Types
	if text := q.Get("type"); text != "" {
		series, ok := disclosure.ParseType(strings.ToUpper(text))
		if !ok {
			return fault.New(fault.Invalid, "type %q: use ip, hr or oir", text)
		}
		kinds = []disclosure.Type{series}
	}
	from, to := market.Epoch, s.archive.LastDay()
	for name, into := range map[string]*disclosure.Day{"from": &from, "to": &to} {
		if text := q.Get(name); text != "" {
			d, ok := disclosure.ParseDay(text)
			if !ok {
				return fault.New(fault.Invalid, "%s %q must be a day such as 2026-01-31", name, text)
			}
			*into = d
		}
	}
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for d := max(from, market.Epoch); d <= to; d++ {
		for _, f := range s.archive.Settled(kinds, d) {
			if out.Encode(toJSON(f)) != nil {
				return nil // the client is gone
			}
		}
	}
	return nil
}

func toJSON(f *archive.Report) reportJSON {
	r := f.Read()
	t := reportJSON{
		ID:          r.ID,
		Type:        string(r.Type),
		Number:      strconv.FormatInt(r.Number, 10),
		CompanyName: r.CompanyName,
		NIF:         r.NIF,
		Title:       r.Title,
		Category:    r.Category,
		PublishedAt: timestamp(r.PublishedAt),
		PDFURL:      r.PDFURL,
		SourceURL:   r.SourceURL,
		Corrects:    f.Corrects,
	}
	for _, rel := range r.Related {
		t.Related = append(t.Related, relationJSON{
			rel.ID, strconv.FormatInt(rel.Number, 10), timestamp(rel.At),
			rel.Text,
		})
	}
	return t
}
