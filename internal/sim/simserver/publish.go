package simserver

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

// Report is what to publish. Everything may be left out: the market then makes
// it up.
type Report struct {
	Type     disclosure.Type // any letter case
	Title    string          // gets the mark of the simulation if it has none
	NIF      string          // of an issuer of the market, in any spelling
	Name     string          // one of its names
	Category string

	Document    *bool     // whether it has a document of its own
	Form        string    // what its document is: one of forms
	Text        string    // what its document says; paragraphs are parted by empty lines
	Link        string    // where its row leads instead: an href, as rows print it
	Related     string    // the number or id of an earlier report that it has to do with
	Corrects    string    // the same, of one that it rectifies
	PublishedAt time.Time // of a late registration; zero is now
	Number      int64     // leaves a gap, or repeats a report; zero is the next
}

// Publish files something and returns it as a perfect reader would end with.
// It is in the file before anybody is served it.
func (s *Server) Publish(p Report) (disclosure.Report, error) {
	f, err := s.publish(p)
	if err != nil {
		return disclosure.Report{}, err
	}
	s.log.Debug("published", "id", f.ID, "title", f.Title)
	return f.read(), nil
}

func (s *Server) publish(p Report) (*filing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.compose(p)
	if err != nil {
		return nil, err
	}
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if err := s.file.append(f); err != nil {
		return nil, err
	}
	s.live.add(f)
	return f, nil
}

// compose makes the report. The caller holds the lock.
func (s *Server) compose(p Report) (*filing, error) {
	if err := p.check(s.now()); err != nil {
		return nil, err
	}
	other, err := s.other(&p)
	if err != nil {
		return nil, err
	}
	who, err := s.filer(&p)
	if err != nil {
		return nil, err
	}
	if who == nil && other != nil {
		who = other.who
	}
	s.series(&p, who, other)
	k := p.Type.Index()
	again := s.findLocked(p.Type, p.Number)
	number := cmp.Or(p.Number, s.live.next[k])
	at := p.PublishedAt
	if at.IsZero() {
		at = s.now()
	}
	f := &filing{who: who}
	switch {
	case again != nil: // what is not said anew stays as it was
		f.Report, f.Link, f.Corrects, f.Other, f.Form, f.Text = again.Report, again.Link, again.Corrects, again.Other, again.Form, again.Text
		if who == nil {
			f.who = again.who
		}
		if !p.PublishedAt.IsZero() {
			f.PublishedAt = at
		}
	case who != nil:
		f.Report = s.market.NewReport(p.Type, number, at, who.ID)
	default:
		f.Report = s.market.NewReport(p.Type, number, at, "")
		f.who = s.people.of(&f.Report)
	}
	f.PublishedAt = f.PublishedAt.UTC().Truncate(time.Second)
	if who != nil && (p.NIF != "" || p.Name != "") {
		f.NIF, f.CompanyName = who.NIF, cmp.Or(p.Name, who.Name)
	}
	f.Category = cmp.Or(p.Category, f.Category)
	f.word(&p, other)
	f.Form, f.Text = cmp.Or(p.Form, f.Form), cmp.Or(p.Text, f.Text)
	s.lead(f, &p)
	switch {
	case other != nil:
		f.relate(other)
		if p.Corrects != "" && f.Type != disclosure.HR { // whose heading says it
			f.Related[0].Text = strings.Replace(f.Related[0].Text, "Relacionado con", "Rectifica", 1)
		}
	case again == nil && p.Title == "" && p.Category == "" && f.relates(s.seed):
		if to := s.before(f); to != nil {
			f.follow(to)
		}
	}
	return f, nil
}

// before returns the last report that an issuer made before another, or nil.
// The caller holds the lock.
func (s *Server) before(f *filing) *filing {
	for _, earlier := range slices.Backward(s.live.filed[f.who.ID]) {
		if earlier.PublishedAt.Before(f.PublishedAt) && f.near(earlier.Type) {
			return earlier
		}
	}
	return s.archive.before(f)
}

// word gives the report the subject asked for, or one that says what it mends.
func (f *filing) word(p *Report, other *filing) {
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
	f.Title = strings.Join(strings.Fields(p.Title), " ") // as it would be read from a page
	if !strings.HasPrefix(f.Title, market.Mark) {
		f.Title = market.Mark + f.Title
	}
}

// lead settles where the row leads.
func (s *Server) lead(f *filing, p *Report) {
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
		f.Link, f.PDFURL = "", documents+makeGUID(s.seed^filler.Mix(uint64(len(s.live.all)))^uint64(f.Number))+"%7d"
	}
	f.complete(s.seed)
}

// check refuses what is wrong in itself.
func (p *Report) check(now time.Time) error {
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
	if wanted := p.Form != "" || p.Text != ""; wanted && (p.Link != "" || p.Document != nil && !*p.Document) {
		refuse("document", "", "cannot be said of a report that has none of its own")
	} else if wanted {
		p.Document = new(true)
	}
	if p.Link != "" && !goodLink(p.Link) {
		refuse("link", p.Link, "must begin with ../ or "+origin+"/")
	}
	if p.Related != "" && p.Corrects != "" {
		refuse("corrects", p.Corrects, "cannot be joined with related")
	}
	return invalid(bad)
}

func goodLink(link string) bool {
	u, err := url.Parse(link)
	return err == nil && len(link) < 500 && u.String() == link && (strings.HasPrefix(link, "../") || strings.HasPrefix(link, origin+"/"))
}

func invalid(bad []fault.Field) error {
	if len(bad) == 0 {
		return nil
	}
	parts := make([]string, len(bad))
	for n, f := range bad {
		parts[n] = strings.TrimSpace(f.Name + " " + f.Value + " " + f.Reason)
	}
	return &fault.Error{Kind: fault.Invalid, Message: strings.Join(parts, "; "), Fields: bad}
}

// other finds the report that this one relates to.
func (s *Server) other(p *Report) (*filing, error) {
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
		if f := s.findLocked(series, number); ok && f != nil {
			return f, nil
		}
	}
	return nil, invalid([]fault.Field{{Name: name, Value: ref, Reason: "is not the number or id of a report of this market"}})
}

// filer finds who is asked to file; nobody when it does not matter.
func (s *Server) filer(p *Report) (*disclosure.Issuer, error) {
	var who *disclosure.Issuer
	if p.NIF != "" {
		if who = s.people.byID[disclosure.IssuerKey(p.NIF)]; who == nil {
			return nil, invalid([]fault.Field{{Name: "nif", Value: p.NIF, Reason: "is not of this fictional market"}})
		}
	}
	if p.Name != "" {
		named := s.people.byName[fold(p.Name)]
		if named == nil || who != nil && named != who {
			return nil, invalid([]fault.Field{{Name: "name", Value: p.Name, Reason: "is not a name of this fictional market, or not that issuer's"}})
		}
		who, p.Name = named, strings.Join(strings.Fields(p.Name), " ")
	}
	return who, nil
}

// series settles the type: that of the other report, one that the issuer uses,
// or any, as often as they come.
func (s *Server) series(p *Report, who *disclosure.Issuer, other *filing) {
	if p.Type != "" {
		return
	}
	if other != nil {
		p.Type = other.Type
		return
	}
	dice := rand.New(rand.NewPCG(s.seed, uint64(len(s.live.all))))
	p.Type = disclosure.OIR
	switch x := dice.IntN(100); {
	case x < 10:
		p.Type = disclosure.IP
	case x < 22:
		p.Type = disclosure.HR
	}
	if who == nil {
		return
	}
	if uses := s.market.Series(who.ID); !slices.Contains(uses, p.Type) {
		p.Type = uses[len(uses)-1]
	}
}

// read is the report as a perfect reader of the site would end with. The page
// about it is the one that its row leads to, else its permalink.
func (f *filing) read() disclosure.Report {
	r := f.Report
	r.Category = strings.Join(strings.Fields(r.Category), " ")
	r.Ticker = ""
	r.SourceURL = cmp.Or(f.page(), r.SourceURL)
	return r
}
