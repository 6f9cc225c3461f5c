package archive

import (
	"cmp"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper"
)

// Draft is a report to publish. The market makes up the fields that are left out.
type Draft struct {
	Type        disclosure.Type `json:"type"`  // any letter case
	Title       string          `json:"title"` // gets market.Mark if it has none
	NIF         string          `json:"nif"`   // of an issuer of the market, in any spelling
	Category    string          `json:"category"`
	Document    Document        `json:"document"`
	Text        string          `json:"text"`         // of its document; paragraphs are separated by empty lines
	Link        string          `json:"link"`         // the target of its row instead of a document, as rows print it
	Related     Ref             `json:"related"`      // an earlier report
	Corrects    Ref             `json:"corrects"`     // the report that it corrects
	PublishedAt time.Time       `json:"published_at"` // zero is now
	Number      json.Number     `json:"number"`       // leaves a gap or replaces a report; empty is the next
}

// Ref is the number of a report, written as a number or a string, or its id.
type Ref string

// UnmarshalJSON accepts any value. A draft that refers to no report is refused.
func (r *Ref) UnmarshalJSON(raw []byte) error {
	if string(raw) != "null" {
		*r = Ref(strings.Trim(string(raw), `"`))
	}
	return nil
}

// Document says whether a report has a document, or which form it has. The zero
// Document leaves it to the market.
type Document struct {
	Present *bool
	Form    string // one of paper.Forms
}

// UnmarshalJSON parses a boolean or a form.
func (d *Document) UnmarshalJSON(raw []byte) error {
	var present *bool
	if json.Unmarshal(raw, &present) == nil {
		d.Present = present
		return nil
	}
	if err := json.Unmarshal(raw, &d.Form); err != nil || d.Form == "" {
		return errors.New("a document must be true, false or one of " + strings.Join(paper.Forms(), ", "))
	}
	return nil
}

// compose returns the report of a draft. The caller holds mu.
func (a *Archive) compose(p Draft) (*Report, error) {
	if err := p.check(a.now()); err != nil {
		return nil, err
	}
	other, err := a.other(&p)
	if err != nil {
		return nil, err
	}
	by := a.Directory.byID[disclosure.IssuerKey(p.NIF)]
	switch {
	case by == nil && p.NIF != "":
		return nil, fault.New(fault.Invalid, "nif %s is not of this fictional market", p.NIF)
	case by == nil && other != nil:
		by = other.Issuer
	}
	a.chooseType(&p, by, other)
	number, _ := disclosure.ParseNumber(string(p.Number)) // zero without one
	again := a.find(p.Type, number)
	number = cmp.Or(number, a.next()[p.Type.Index()])
	at := p.PublishedAt
	if at.IsZero() {
		at = a.now()
	}
	f := &Report{Issuer: by}
	switch {
	case again != nil: // fields that the draft leaves out stay as they were
		f.Report = again.Report
		f.Link = again.Link
		f.Corrects = again.Corrects
		f.Other = again.Other
		f.Form = again.Form
		f.Text = again.Text
		if by == nil {
			f.Issuer = again.Issuer
		}
		if !p.PublishedAt.IsZero() {
			f.PublishedAt = at
		}
	case by != nil:
		f.Report = a.market.NewReport(p.Type, number, at, by.ID)
	default:
		f.Report = a.market.NewReport(p.Type, number, at, "")
		f.Issuer = a.Directory.of(&f.Report)
	}
	f.PublishedAt = f.PublishedAt.UTC().Truncate(time.Second)
	if p.NIF != "" {
		f.NIF, f.CompanyName = by.NIF, by.Name
	}
	f.Category = cmp.Or(p.Category, f.Category)
	f.setTitle(&p, other)
	f.Form, f.Text = cmp.Or(p.Document.Form, f.Form), cmp.Or(p.Text, f.Text)
	a.setLink(f, &p)
	switch {
	case other != nil:
		f.relate(other)
		if p.Corrects != "" && f.Type != disclosure.HR { // the category of HR says it
			f.Related[0].Text = strings.Replace(f.Related[0].Text, "Relacionado con", "Rectifica", 1)
		}
	case again == nil && p.Title == "" && p.Category == "" && f.relates(a.seed):
		f.follow(cmp.Or(a.live.before(f, f.PublishedAt), a.history().before(f, a.file.Began)))
	}
	return f, nil
}

// setTitle sets the title of the draft, or one that names the report it corrects.
func (f *Report) setTitle(p *Draft, other *Report) {
	if p.Corrects != "" {
		f.Corrects = other.ID
		if f.Type == disclosure.HR && p.Category == "" {
			f.Category = "Rectificación Hecho Relevante"
		}
		p.Title = cmp.Or(p.Title, "Rectificación de la comunicación con número de registro "+
			strconv.FormatInt(other.Number, 10))
	}
	if p.Title == "" {
		return
	}
	f.Title = strings.Join(strings.Fields(p.Title), " ") // as a reader of a page would see it
	if !strings.HasPrefix(f.Title, market.Mark) {
		f.Title = market.Mark + f.Title
	}
}

// setLink sets the target of the row.
func (a *Archive) setLink(f *Report, p *Draft) {
	switch {
	case p.Link != "":
		f.Link, f.PDFURL = p.Link, ""
		if strings.Contains(p.Link, "/verdocumento/ver?") {
			f.PDFURL = p.Link
		}
		return
	case p.Document.Present == nil:
	case !*p.Document.Present:
		f.Link, f.PDFURL = "", ""
	case f.PDFURL == "":
		f.Link, f.PDFURL = "", documents+filler.NewRandom(a.seed^uint64(f.Number), uint64(a.published)).GUID()+"%7d"
	}
	f.complete(a.seed)
}

// check returns an error for values that no market accepts.
func (p *Draft) check(now time.Time) error {
	p.Type = disclosure.Type(strings.ToUpper(string(p.Type)))
	d := &p.Document
	d.Form = strings.ToLower(d.Form)
	own := d.Form != "" || p.Text != ""
	number, ok := disclosure.ParseNumber(string(p.Number))
	at := p.PublishedAt
	switch {
	case p.Type != "" && p.Type.Index() < 0:
		return fault.New(fault.Invalid, "type %s: use ip, hr or oir", p.Type)
	case p.Number != "" && (!ok || number >= 1<<31):
		return fault.New(fault.Invalid, "number %s must be positive, without a leading zero, and of nine digits at most", p.Number)
	case !at.IsZero() && (at.Before(market.Epoch.Start()) || at.After(now.AddDate(0, 0, 1))):
		return fault.New(fault.Invalid, "published_at %s must lie between %v and tomorrow",
			at.Format(time.RFC3339), market.Epoch)
	case !isText(p.Title, 4000) || !isText(p.Category, 4000):
		return fault.New(fault.Invalid, "title and category must be text of 4000 characters at most")
	case !isText(p.Text, 60_000):
		return fault.New(fault.Invalid, "text must be text of 60000 characters at most")
	case d.Form != "" && !slices.Contains(paper.Forms(), d.Form):
		return fault.New(fault.Invalid, "document %s: use true, false or one of %s", d.Form,
			strings.Join(paper.Forms(), ", "))
	case own && (p.Link != "" || d.Present != nil && !*d.Present):
		return fault.New(fault.Invalid, "document cannot be said of a report that has none of its own")
	case p.Link != "" && !goodLink(p.Link):
		return fault.New(fault.Invalid, "link %s must begin with ../ or %s/", p.Link, Origin)
	case p.Related != "" && p.Corrects != "":
		return fault.New(fault.Invalid, "corrects %s cannot be joined with related", p.Corrects)
	case own:
		d.Present = new(true)
	}
	return nil
}

// isText reports whether a value is left out, or a text of so many characters at most.
func isText(s string, most int) bool {
	return s == "" || strings.TrimSpace(s) != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= most
}

func goodLink(link string) bool {
	u, err := url.Parse(link)
	return err == nil && len(link) < 500 && u.String() == link &&
		(strings.HasPrefix(link, "../") || strings.HasPrefix(link, Origin+"/"))
}

// other returns the report to which the draft relates, or nil.
func (a *Archive) other(p *Draft) (*Report, error) {
	ref := string(cmp.Or(p.Corrects, p.Related))
	if ref == "" {
		return nil, nil
	}
	kinds := []disclosure.Type{p.Type}
	if p.Type == "" {
		kinds = []disclosure.Type{disclosure.OIR, disclosure.IP, disclosure.HR}
	}
	number, ok := disclosure.ParseNumber(ref)
	if series, n, full := disclosure.ParseReportID(ref); full {
		kinds = []disclosure.Type{series}
		number = n
		ok = true
	}
	for _, series := range kinds {
		if f := a.find(series, number); ok && f != nil {
			return f, nil
		}
	}
	return nil, fault.New(fault.Invalid, "%s is not the number or id of a report of this market", ref)
}

// chooseType sets the type of the draft: that of the other report, or a random one
// that the issuer uses.
func (a *Archive) chooseType(p *Draft, by *disclosure.Issuer, other *Report) {
	if p.Type != "" {
		return
	}
	if other != nil {
		p.Type = other.Type
		return
	}
	rng := rand.New(rand.NewPCG(a.seed, uint64(a.published)))
	p.Type = disclosure.OIR
	switch x := rng.IntN(100); {
	case x < 10:
		p.Type = disclosure.IP
	case x < 22:
		p.Type = disclosure.HR
	}
	if by == nil {
		return
	}
	if uses := a.market.Series(by.ID); !slices.Contains(uses, p.Type) {
		p.Type = uses[len(uses)-1]
	}
}
