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
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper"
)

const welcome = `The simulated regulator and exchange of Pregón. Nothing it says is real.

POST   /_sim/publish   {"type":"oir","title":"…","nif":"…"}, all optional; also name, category, document, link,
                       related, corrects, published_at, number. Files something at once. Its document may be said:
                       "text":"…" is what it says, paragraphs parted by empty lines; "document" is true, false, or
                       what it is: pdf columns long scan xhtml zip, or corrupt … word as below.
GET    /_sim/filings   ?type=oir&from=2026-01-01&to=2026-01-31: the truth, one JSON line for each report.
POST   /_sim/fault     {"kind":"stall","surface":"list","type":"oir","for":"30s","times":3,"share":0.5,"by":"90s"}
                       kinds: error500 error403 errorpage stall truncate markup runaway feedcut silent frozen skew
                       huge endless bomb redirectloop reset; surfaces: feed list permalink hr document register exchange all;
                       on documents only: corrupt cut locked cycle billions empty page word, and bomb is a file there
GET    /_sim/fault     the faults that are armed
DELETE /_sim/fault     disarms them
`

// control answers what only the simulator has. No fault strikes here.
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
		if err = s.truth(w, r); err == nil {
			return
		}
	case path == "publish" && r.Method == http.MethodPost:
		v, err = s.order(w, r)
	case path == "fault" && r.Method == http.MethodPost:
		var want wanted
		if err = decode(w, r, &want); err == nil {
			v, err = s.faults.arm(want, s.next())
		}
	case path == "fault" && get:
		v = map[string]any{"faults": s.faults.list()}
	case path == "fault" && r.Method == http.MethodDelete:
		v = map[string]any{"cleared": s.faults.clear()}
	case path == "" || path == "filings" || path == "publish" || path == "fault":
		respond(w, http.StatusMethodNotAllowed, problem{"the method is not allowed here"})
		return
	default:
		err = fault.New(fault.NotFound, "there is no such endpoint; GET /_sim/ lists them")
	}
	if err != nil {
		s.apologise(w, r, err)
		return
	}
	respond(w, http.StatusOK, v)
}

type problem struct {
	Error string `json:"error"`
}

func (s *Server) apologise(w http.ResponseWriter, r *http.Request, err error) {
	switch fault.KindOf(err) {
	case fault.Invalid:
		respond(w, http.StatusBadRequest, problem{err.Error()})
	case fault.NotFound:
		respond(w, http.StatusNotFound, problem{err.Error()})
	default:
		s.log.ErrorContext(r.Context(), "the simulator failed", "path", r.URL.Path, "error", err)
		respond(w, http.StatusInternalServerError, problem{"the simulator failed; its log tells why"})
	}
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// longestBody is more than any order needs.
const longestBody = 64 << 10

// decode reads a JSON object, or nothing, which stands for an empty one.
func decode(w http.ResponseWriter, r *http.Request, into any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestBody))
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
		return fault.New(fault.Invalid, "the body is not what is asked for: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fault.New(fault.Invalid, "the body holds more than one JSON value")
	}
	return nil
}

// number is a number that may be written as a string, as the service does.
type number string

func (n *number) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err == nil {
		*n = number(text)
		return nil
	}
	var x json.Number
	if err := json.Unmarshal(raw, &x); err != nil {
		return errors.New("a number of a report must be a number or a string")
	}
	*n = number(x.String())
	return nil
}

// wish is whether there is to be a document, or what it is to be.
type wish struct {
	any  *bool
	form string
}

func (w *wish) UnmarshalJSON(raw []byte) error {
	var yes *bool
	if err := json.Unmarshal(raw, &yes); err == nil {
		w.any = yes
		return nil
	}
	if err := json.Unmarshal(raw, &w.form); err != nil || w.form == "" {
		return errors.New("a document must be true, false or one of " + strings.Join(paper.Forms(), ", "))
	}
	return nil
}

// order publishes what the body asks for.
func (s *Server) order(w http.ResponseWriter, r *http.Request) (any, error) {
	var in struct {
		Type        string `json:"type"`
		Title       string `json:"title"`
		NIF         string `json:"nif"`
		Name        string `json:"name"`
		Category    string `json:"category"`
		Document    wish   `json:"document"`
		Text        string `json:"text"`
		Link        string `json:"link"`
		Related     number `json:"related"`
		Corrects    number `json:"corrects"`
		PublishedAt string `json:"published_at"`
		Number      number `json:"number"`
	}
	if err := decode(w, r, &in); err != nil {
		return nil, err
	}
	p := Report{
		Type: disclosure.Type(in.Type), Title: in.Title, NIF: in.NIF, Name: in.Name, Category: in.Category,
		Document: in.Document.any, Form: in.Document.form, Text: in.Text, Link: in.Link, Related: string(in.Related), Corrects: string(in.Corrects),
	}
	var bad []fault.Field
	if in.PublishedAt != "" {
		at, err := time.Parse(time.RFC3339, in.PublishedAt)
		if err != nil {
			bad = append(bad, fault.Field{Name: "published_at", Value: in.PublishedAt, Reason: "must be a date and time with its offset"})
		}
		p.PublishedAt = at
	}
	if in.Number != "" {
		n, ok := disclosure.ParseNumber(string(in.Number))
		if !ok {
			bad = append(bad, fault.Field{Name: "number", Value: string(in.Number), Reason: "must be digits, without a leading zero"})
		}
		p.Number = n
	}
	if err := invalid(bad); err != nil {
		return nil, err
	}
	out, err := s.Publish(p)
	if err != nil {
		return nil, err
	}
	return struct {
		ID          string `json:"id"`
		Number      string `json:"number"`
		PublishedAt string `json:"published_at"`
	}{out.ID, strconv.FormatInt(out.Number, 10), stamp(out.PublishedAt)}, nil
}

func stamp(t time.Time) string { return t.In(disclosure.Madrid).Format(time.RFC3339) }

// told is a line of the truth: a report as a perfect reader would end with.
type told struct {
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
	Related     []toldRelation `json:"related,omitempty"`
	Corrects    string         `json:"corrects,omitempty"`
}

type toldRelation struct {
	ID          string `json:"id"`
	Number      string `json:"number"`
	PublishedAt string `json:"published_at"` // to the minute
	Text        string `json:"text"`
}

// truth writes every report from one day to another, oldest first. Of those
// with one number only the last stands.
func (s *Server) truth(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	kinds := disclosure.Types
	if text := q.Get("type"); text != "" {
		series, ok := disclosure.ParseType(strings.ToUpper(text))
		if !ok {
			return fault.New(fault.Invalid, "type %q: use ip, hr or oir", text)
		}
		kinds = []disclosure.Type{series}
	}
	from, to := market.Epoch, max(s.archive.timeline.Last(), s.lastDay())
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
		for _, f := range s.settled(kinds, d) {
			if out.Encode(f.told()) != nil {
				return nil // the client is gone
			}
		}
	}
	return nil
}

// settled returns a day's reports, oldest first, without those that another
// with the same number took the place of.
func (s *Server) settled(kinds []disclosure.Type, d disclosure.Day) []*filing {
	var all []*filing
	for _, series := range kinds {
		for _, f := range s.on(series, d) {
			s.mu.RLock()
			last := s.live.numbers[f.ID]
			s.mu.RUnlock()
			if last == nil || last == f {
				all = append(all, f)
			}
		}
	}
	sortOldest(all)
	return all
}

func (f *filing) told() told {
	r := f.read()
	t := told{
		ID: r.ID, Type: string(r.Type), Number: strconv.FormatInt(r.Number, 10), CompanyName: r.CompanyName, NIF: r.NIF, Title: r.Title,
		Category: r.Category, PublishedAt: stamp(r.PublishedAt), PDFURL: r.PDFURL, SourceURL: r.SourceURL, Corrects: f.Corrects,
	}
	for _, rel := range r.Related {
		t.Related = append(t.Related, toldRelation{rel.ID, strconv.FormatInt(rel.Number, 10), stamp(rel.At), rel.Text})
	}
	return t
}
