package archive

import (
	"cmp"
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
	Type     disclosure.Type // any letter case
	Title    string          // gets market.Mark if it has none
	NIF      string          // of an issuer of the market, in any spelling
	Name     string          // one of its names
	Category string

	Document    *bool     // whether it has a document; nil leaves it to the market
	Form        string    // the form of its document: one of paper.Forms
	Text        string    // of its document; paragraphs are separated by empty lines
	Link        string    // the target of its row instead of a document, as rows print it
	Related     string    // the number or id of an earlier report
	Corrects    string    // the number or id of the report that it corrects
	PublishedAt time.Time // zero is now
	Number      int64     // leaves a gap or replaces a report; zero is the next
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
	by, err := a.issuerOf(&p)
	if err != nil {
		return nil, err
	}
	if by == nil && other != nil {
		by = other.Issuer
	}
	a.chooseType(&p, by, other)
	again := a.find(p.Type, p.Number)
	number := cmp.Or(p.Number, a.next()[p.Type.Index()])
	at := p.PublishedAt
	if at.IsZero() {
		at = a.now()
	}
	f := &Report{Issuer: by}
	switch {
	case again != nil: // fields that the draft leaves out stay as they were
		f.Report, f.Link, f.Corrects, f.Other, f.Form, f.Text = again.Report, again.Link, again.Corrects, again.Other, again.Form, again.Text
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
	if by != nil && (p.NIF != "" || p.Name != "") {
		f.NIF, f.CompanyName = by.NIF, cmp.Or(p.Name, by.Name)
	}
	f.Category = cmp.Or(p.Category, f.Category)
	f.setTitle(&p, other)
	f.Form, f.Text = cmp.Or(p.Form, f.Form), cmp.Or(p.Text, f.Text)
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
		p.Title = cmp.Or(p.Title, "Rectificación de la comunicación con número de registro "+strconv.FormatInt(other.Number, 10))
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
	case p.Document == nil:
	case !*p.Document:
		f.Link, f.PDFURL = "", ""
	case f.PDFURL == "":
		f.Link, f.PDFURL = "", documents+makeGUID(a.seed^filler.Mix(uint64(a.published))^uint64(f.Number))+"%7d"
	}
	f.complete(a.seed)
}

// check returns an error for values that no market accepts.
func (p *Draft) check(now time.Time) error {
	var bad []fault.Field
	refuse := func(name, value, reason string) {
		bad = append(bad, fault.Field{Name: name, Value: value, Reason: reason})
	}
	p.Type = disclosure.Type(strings.ToUpper(string(p.Type)))
	if p.Type != "" && p.Type.Index() < 0 {
		refuse("type", string(p.Type), "use ip, hr or oir")
	}
	if p.Number < 0 || p.Number >= 1<<31 {
		refuse("number", strconv.FormatInt(p.Number, 10), "must be positive, and of nine digits at most")
	}
	if at := p.PublishedAt; !at.IsZero() && (at.Before(market.Epoch.Start()) || at.After(now.AddDate(0, 0, 1))) {
		refuse("published_at", at.Format(time.RFC3339), "must lie between "+market.Epoch.String()+" and tomorrow")
	}
	for name, text := range map[string]string{"title": p.Title, "category": p.Category, "name": p.Name} {
		if text != "" && strings.TrimSpace(text) == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > 4000 {
			refuse(name, "", "must be text of 4000 characters at most")
		}
	}
	p.Form = strings.ToLower(p.Form)
	if p.Form != "" && !slices.Contains(paper.Forms(), p.Form) {
		refuse("document", p.Form, "use true, false or one of "+strings.Join(paper.Forms(), ", "))
	}
	if p.Text != "" && strings.TrimSpace(p.Text) == "" || !utf8.ValidString(p.Text) || utf8.RuneCountInString(p.Text) > 60_000 {
		refuse("text", "", "must be text of 60000 characters at most")
	}
	if ownDocument := p.Form != "" || p.Text != ""; ownDocument && (p.Link != "" || p.Document != nil && !*p.Document) {
		refuse("document", "", "cannot be said of a report that has none of its own")
	} else if ownDocument {
		p.Document = new(true)
	}
	if p.Link != "" && !goodLink(p.Link) {
		refuse("link", p.Link, "must begin with ../ or "+Origin+"/")
	}
	if p.Related != "" && p.Corrects != "" {
		refuse("corrects", p.Corrects, "cannot be joined with related")
	}
	return Invalid(bad)
}

func goodLink(link string) bool {
	u, err := url.Parse(link)
	return err == nil && len(link) < 500 && u.String() == link && (strings.HasPrefix(link, "../") || strings.HasPrefix(link, Origin+"/"))
}

// Invalid returns an error about fields, or nil if there are none.
func Invalid(bad []fault.Field) error {
	if len(bad) == 0 {
		return nil
	}
	parts := make([]string, len(bad))
	for n, f := range bad {
		parts[n] = strings.TrimSpace(f.Name + " " + f.Value + " " + f.Reason)
	}
	return &fault.Error{Kind: fault.Invalid, Message: strings.Join(parts, "; "), Fields: bad}
}

// other returns the report to which the draft relates, or nil.
func (a *Archive) other(p *Draft) (*Report, error) {
	name, ref := "related", p.Related
	if p.Corrects != "" {
		name, ref = "corrects", p.Corrects
	}
	if ref == "" {
		return nil, nil
	}
	kinds := []disclosure.Type{p.Type}
	if p.Type == "" {
		kinds = []disclosure.Type{disclosure.OIR, disclosure.IP, disclosure.HR}
	}
	number, ok := disclosure.ParseNumber(ref)
	if series, n, full := disclosure.ParseReportID(ref); full {
		kinds, number, ok = []disclosure.Type{series}, n, true
	}
	for _, series := range kinds {
		if f := a.find(series, number); ok && f != nil {
			return f, nil
		}
	}
	return nil, Invalid([]fault.Field{{Name: name, Value: ref, Reason: "is not the number or id of a report of this market"}})
}

// issuerOf returns the issuer that the draft names, or nil.
func (a *Archive) issuerOf(p *Draft) (*disclosure.Issuer, error) {
	var by *disclosure.Issuer
	if p.NIF != "" {
		if by = a.Directory.byID[disclosure.IssuerKey(p.NIF)]; by == nil {
			return nil, Invalid([]fault.Field{{Name: "nif", Value: p.NIF, Reason: "is not of this fictional market"}})
		}
	}
	if p.Name != "" {
		named := a.Directory.byName[Fold(p.Name)]
		if named == nil || by != nil && named != by {
			return nil, Invalid([]fault.Field{{Name: "name", Value: p.Name, Reason: "is not a name of this fictional market, or not that issuer's"}})
		}
		by, p.Name = named, strings.Join(strings.Fields(p.Name), " ")
	}
	return by, nil
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
