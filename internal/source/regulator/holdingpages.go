package regulator

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"pregon/internal/disclosure"
	"pregon/internal/source/markup"
	"pregon/internal/text"
)

// Suffixes of the ids of the pages of holdings, in lower case.
const (
	hubList      = "listaenlaces"
	presentGrid  = "gridaccionistassignificativos"
	historyGrid  = "gridnotifant"
	othersGrid   = "gvotrasnotificaciones"
	totalLabel   = "lblderechos"
	sharesLabel  = "lblporacciones"
	loyaltyLabel = "lblporaccioneslealtad"
	changedLabel = "lblfechamodificacion"
)

// Bounds of the tables. The longest of the site have a fifth of it.
const (
	mostHoldings   = 500
	mostNotices    = 5000
	mostAnnulments = 500
)

// Names of columns, folded: «% Total (A)» is "total a".
const (
	nameColumn        = "denominacion"
	sharesColumn      = "total a"
	directColumn      = "directo"
	indirectColumn    = "indirecto"
	instrumentsColumn = "b"
	sumColumn         = "a b"
	dateColumn        = "f registro entrada cnmv"
	moreColumn        = "informacion adicional"
	detailColumn      = "detalle anulaciones"

	oldSharesColumn      = "total acciones a"
	oldInstrumentsColumn = "total inst financieros b"
	oldSumColumn         = "total a b"
	numberColumn         = "numero de registro"
)

// parseHub reads the hub of an issuer. A page without its list has no steps: the site
// answers so for one of two spellings, and for an issuer without notices.
func parseHub(body []byte) (hub, error) {
	s, err := openSheet("hub of holdings", body)
	if err != nil {
		return hub{}, err
	}
	h := hub{name: s.entity}
	list := s.find(hubList)
	if list == nil {
		return h, nil
	}
	h.steps = steps(list)
	switch {
	case h.name == "":
		s.defects.fail(0, "its title does not name the issuer")
	case len(h.steps) == 0 && firstLink(list) != nil:
		s.defects.fail(s.line(list), "its links have no session")
	case len(h.steps) > 0 && h.steps[presentPage].page == "" && h.steps[ownSharesPage].page == "" &&
		!isOtherHub(h.steps):
		s.defects.fail(s.line(list), "its links lead to unknown pages")
	}
	return h, s.defects.err()
}

// isOtherHub reports whether a hub links pages that are known and not read.
func isOtherHub(of map[string]step) bool {
	return of["sociedadesparticipa"].page != "" || of["hspactosparasociales"].page != ""
}

// presentTable is the content of the page of the present holdings.
type presentTable struct {
	rights VotingRights
	rows   []Holding
	others step // to the list of other notices, if there is one
}

// present reads the page of the present holdings.
func (s *sheet) present(at site) (t presentTable, err error) {
	t.rights = s.rights()
	t.others = steps(s.root)[otherPage]
	table := s.find(presentGrid)
	if table == nil {
		if s.find(totalLabel) == nil {
			s.defects.fail(0, "it has neither the table of holdings nor the voting rights")
			return t, s.defects.err()
		}
		return t, s.noTable("table of holdings")
	}
	g := s.readGrid(table, mostHoldings,
		[]string{nameColumn, sharesColumn, directColumn, indirectColumn, instrumentsColumn, sumColumn, dateColumn},
		[]string{moreColumn, detailColumn})
	for _, r := range g.rows {
		if h, ok := s.holding(r, at); ok {
			t.rows = append(t.rows, h)
		}
	}
	s.defects.count(len(t.rows), len(g.rows)-len(t.rows))
	return t, s.defects.err()
}

// noTable is the error of a page that has cells, but not in the table it should have.
func (s *sheet) noTable(what string) error {
	if s.hasCells() {
		s.defects.fail(0, "it has no %s, but another table", what)
	}
	return s.defects.err()
}

// holding reads a row of the present table.
func (s *sheet) holding(r gridRow, at site) (h Holding, ok bool) {
	ok = true
	h = Holding{
		Name:        r.text(nameColumn),
		Shares:      s.percent(r, sharesColumn, &ok),
		Direct:      s.percent(r, directColumn, &ok),
		Indirect:    s.percent(r, indirectColumn, &ok),
		Instruments: s.percent(r, instrumentsColumn, &ok),
		Total:       s.percent(r, sumColumn, &ok),
	}
	if h.Name == "" {
		s.defects.add(s.line(r.node), "a row of the table has no name")
		return h, false
	}
	label := isAgreement(h.Name)
	h.RegisteredOn = s.day(r, label, &ok)
	h.DocumentURL = s.document(r, at, &ok)
	of := steps(r.node)
	h.history, h.HasHistory = of[historyPage]
	h.annulled, h.HasAnnulled = of[annulledPage]
	if ok && h.Total == "" && !label {
		s.defects.add(s.line(r.node), "a row of the table has no percentage")
		ok = false
	}
	return h, ok
}

// isAgreement reports whether the name of a row is the label of an agreement.
func isAgreement(name string) bool { return strings.HasPrefix(text.Fold(name), "accion concertada") }

// day reads the day of registration of a row. A label may have none.
func (s *sheet) day(r gridRow, mayLack bool, ok *bool) disclosure.Day {
	written := r.text(dateColumn)
	if written == "" && mayLack {
		return 0
	}
	day, valid := parseDay(written)
	if !valid {
		s.defects.add(s.line(r.node), "%.40q in the column %q is not a date", written, dateColumn)
		*ok = false
	}
	return day
}

// document returns the public link of the document of a row, or "" if it has none.
func (s *sheet) document(r gridRow, at site, ok *bool) string {
	a := firstLink(r.cells[dateColumn])
	if a == nil {
		a = firstLink(r.cells[numberColumn])
	}
	if a == nil {
		return ""
	}
	href := markup.Attr(a, "href")
	shown, document := at.link("/portal/consultas/derechosvoto/", href)
	if !document || WithoutSession(shown) != shown {
		s.defects.add(s.line(r.node), "a link of a row does not lead to a document")
		*ok = false
		return ""
	}
	return shown
}

// countForm is a number at the end of a label.
var countForm = regexp.MustCompile(`:\s*([\d.]+(?:,\d+)?)\s*$`)

// rights reads the totals above the table. A label that cannot be read is a defect.
func (s *sheet) rights() (v VotingRights) {
	for _, label := range []struct {
		suffix string
		into   *string
	}{
		{totalLabel, &v.Total},
		{sharesLabel, &v.Shares},
		{loyaltyLabel, &v.Loyalty},
	} {
		written := s.text(label.suffix)
		if written == "" {
			continue
		}
		m := countForm.FindStringSubmatch(written)
		valid := m != nil
		if valid {
			*label.into, valid = parseDecimal(m[1])
		}
		if !valid {
			s.defects.add(s.line(s.find(label.suffix)), "the voting rights %.120q cannot be read", written)
		}
	}
	if m := dateForm.FindString(s.text(changedLabel)); m != "" {
		v.ModifiedOn, _ = parseDay(m)
	}
	return v
}

// history reads the page of the notices of a row, or of the own shares if name is empty.
// Its caption must be the name.
func (s *sheet) history(name string, at site) (out []HoldingNotice, err error) {
	table := s.find(historyGrid)
	if table == nil {
		s.defects.fail(0, "it has no table of notices")
		return nil, s.defects.err()
	}
	g := s.readGrid(table, mostNotices,
		[]string{oldSharesColumn, oldInstrumentsColumn, oldSumColumn, numberColumn, dateColumn},
		[]string{moreColumn, detailColumn})
	if name != "" && text.Fold(g.caption) != text.Fold(name) {
		s.defects.fail(s.line(table), "it is not of the row that links it")
		return nil, s.defects.err()
	}
	seen := map[int64]bool{}
	for _, r := range g.rows {
		n, ok := s.notice(r, at)
		if ok && seen[n.Number] {
			s.defects.add(s.line(r.node), "%d comes twice", n.Number)
			continue
		}
		if ok {
			seen[n.Number] = true
			out = append(out, n)
		}
	}
	s.defects.count(len(out), len(g.rows)-len(out))
	return out, s.defects.err()
}

// notice reads a row of a history.
func (s *sheet) notice(r gridRow, at site) (n HoldingNotice, ok bool) {
	ok = true
	n = HoldingNotice{
		Shares:      s.percent(r, oldSharesColumn, &ok),
		Instruments: s.percent(r, oldInstrumentsColumn, &ok),
		Total:       s.percent(r, oldSumColumn, &ok),
	}
	number, valid := disclosure.ParseNumber(r.text(numberColumn))
	if !valid {
		s.defects.add(s.line(r.node), "%.40q is not a registration number", r.text(numberColumn))
		return n, false
	}
	n.Number = number
	n.RegisteredOn = s.day(r, false, &ok)
	n.DocumentURL = s.document(r, at, &ok)
	return n, ok
}

// others reads the list of those who are not in the present table. Its columns were never
// seen: the name is the first cell, and the row links the history.
func (s *sheet) others() (out []Holding, err error) {
	table := s.find(othersGrid)
	if table == nil {
		s.defects.fail(0, "it has no list of other notices")
		return nil, s.defects.err()
	}
	rows := 0
	markup.Visit(table, func(n *html.Node) bool {
		if n.Type != html.ElementNode || n.Data != "tr" {
			return true
		}
		of := steps(n)
		h := Holding{Name: firstCell(n), Former: true}
		h.history, h.HasHistory = of[historyPage]
		h.annulled, h.HasAnnulled = of[annulledPage]
		switch {
		case !h.HasHistory && !h.HasAnnulled: // a head, or one without notices
		case h.Name == "":
			s.defects.add(s.line(n), "a row of the list has no name")
		case rows == mostHoldings:
			s.defects.fail(s.line(table), "the list has more than %d rows", mostHoldings)
		default:
			rows++
			out = append(out, h)
		}
		return false
	})
	return out, s.defects.err()
}

// firstCell returns the text of the first cell of a row that has one.
func firstCell(tr *html.Node) string {
	for n := tr.FirstChild; n != nil; n = n.NextSibling {
		if isCell(n) {
			if t := markup.Text(n); t != "" {
				return t
			}
		}
	}
	return ""
}

var (
	// annulsForm is «Notificación con nº de registro de entrada 2021035057 anula la siguiente
	// notificación:», or «anula la/s siguiente/es notificación/es:».
	annulsForm = regexp.MustCompile(`(?i)n\S{0,8}\s+de\s+registro(?:\s+de\s+entrada)?\s*:?\s*(\d{6,18})\s+anula\s[^:]{1,80}:`)
	// annulledForm is the next of the annulled notices: «2021034475 de 17/03/2021».
	annulledForm = regexp.MustCompile(`^(?:\s|[,;.•-]|y\s)*(\d{6,18})(?:\s+del?\s+(\d{1,2}/\d{1,2}/\d{4}))?`)
	annulsWord   = regexp.MustCompile(`(?i)\d\s+anula\s`)
)

// annulments reads the sentences that name annulled notices.
func (s *sheet) annulments() (out []HoldingAnnulment, err error) {
	page := markup.Text(s.root)
	found := annulsForm.FindAllStringSubmatchIndex(page, mostAnnulments+1)
	if len(found) > mostAnnulments {
		s.defects.fail(0, "it has more than %d annulments", mostAnnulments)
		return nil, s.defects.err()
	}
	for _, at := range found {
		a := HoldingAnnulment{}
		a.By, _ = disclosure.ParseNumber(page[at[2]:at[3]])
		a.Annuls = annulled(page[at[1]:])
		if a.By == 0 || len(a.Annuls) == 0 {
			s.defects.add(0, "the annulment by %s does not name what it annuls", page[at[2]:at[3]])
			continue
		}
		out = append(out, a)
	}
	if n := len(annulsWord.FindAllStringIndex(page, -1)); n > len(found) {
		s.defects.add(0, "%d annulments cannot be read", n-len(found))
	}
	if len(found) == 0 && len(s.defects.found) == 0 {
		s.defects.fail(0, "it names no annulment")
	}
	return out, s.defects.err()
}

// annulled reads the notices that follow the colon of an annulment.
func annulled(rest string) (out []AnnulledNotice) {
	for len(out) < mostAnnulments {
		m := annulledForm.FindStringSubmatchIndex(rest)
		if m == nil {
			return out
		}
		number, ok := disclosure.ParseNumber(rest[m[2]:m[3]])
		if !ok {
			return out
		}
		n := AnnulledNotice{Number: number}
		if m[4] >= 0 {
			n.RegisteredOn, _ = parseDay(rest[m[4]:m[5]])
		}
		out = append(out, n)
		rest = rest[m[1]:]
	}
	return out
}
