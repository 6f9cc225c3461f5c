package regulator

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"pregon/internal/disclosure"
	"pregon/internal/source/markup"
)

// FundArchive is the archive of open data on funds of one month.
type FundArchive struct {
	Year  int
	Month time.Month
	Link  string // has a token that changes, so it does not identify the content
}

// OpenData returns the archives of a year, earliest first.
func (c *Client) OpenData(ctx context.Context, year int) ([]FundArchive, error) {
	a, err := c.get(ctx, fmt.Sprintf("/portal/publicaciones/descarga-informacion-individual?ejercicio=%d&lang=es", year), c.limits.page)
	if err != nil {
		return nil, err
	}
	packages, err := parseOpenData(year, a.body, c.site())
	return packages, c.checkRedirects(&a, err)
}

var months = regexp.MustCompile(`(?i)\b(?:(enero)|(febrero)|(marzo)|(abril)|(mayo)|(junio)|(julio)|(agosto)|(sep?tiembre)|(octubre)|(noviembre)|(diciembre))\b`)

// monthOf returns the month whose Spanish name is in s.
func monthOf(s string) (time.Month, bool) {
	m := months.FindStringSubmatch(s)
	for n := range m {
		if n > 0 && m[n] != "" {
			return time.Month(n), true
		}
	}
	return 0, false
}

func parseOpenData(year int, body []byte, s site) ([]FundArchive, error) {
	p, err := readPage(fmt.Sprintf("open data of %d", year), body)
	if err != nil {
		return nil, err
	}
	if len(p.tables) == 0 {
		p.defects.fail(0, "it has no table of downloads")
	}
	found := map[time.Month]FundArchive{}
	for _, table := range p.tables {
		markup.Visit(table, func(n *html.Node) bool {
			if !markup.IsLink(n) {
				return true
			}
			month, ok := monthOf(markup.Attr(n, "title") + " " + markup.Text(n))
			link, document := s.link("/portal/publicaciones/", markup.Attr(n, "href"))
			if _, twice := found[month]; ok && document && !twice {
				found[month] = FundArchive{Year: year, Month: month, Link: link}
			}
			return false
		})
	}
	var out []FundArchive
	for month := time.January; month <= time.December; month++ {
		if p, ok := found[month]; ok {
			out = append(out, p)
		}
	}
	return out, p.defects.err()
}

// FundRecord is the identity of a fund in the open data.
type FundRecord struct {
	Register   string // as in Entity
	Number     int64
	Name       string
	ISINs      []string
	Manager    string // name
	Depositary string // name
	Gone       bool   // removed from the register
}

// FundRecords returns the funds of an archive and its digest. When a part could
// not be read, it returns the others with a MarkupError.
func (c *Client) FundRecords(ctx context.Context, p FundArchive) (records []FundRecord, digest [32]byte, err error) {
	a, err := c.get(ctx, p.Link, c.limits.archive)
	if err != nil {
		return nil, digest, err
	}
	records, err = parseFundRecords(a.body, maxUnpacked)
	return records, sha256.Sum256(a.body), c.checkRedirects(&a, err)
}

// Limits of an archive, far above the real sizes.
const (
	maxUnpacked = 256 << 20 // bytes in total
	maxFunds    = 100_000
	maxISINs    = 1000 // per fund
)

// parseFundRecords reads the files of an archive that hold identities, up to a size.
func parseFundRecords(archive []byte, unpacked int64) ([]FundRecord, error) {
	bad := defects{surface: "package of open data"}
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		bad.fail(0, "it is not an archive")
		return nil, bad.err()
	}
	funds := fundReader{known: map[string]int{}}
	left, members := &io.LimitedReader{N: unpacked}, 0
	for _, f := range z.File {
		name := strings.ToUpper(path.Base(strings.ReplaceAll(f.Name, `\`, "/")))
		if !strings.HasSuffix(name, ".XML") || !strings.Contains(name, "FONDREGISTRO") &&
			!strings.Contains(name, "SOCREGISTRO") {
			continue
		}
		members++
		if err := funds.member(f, left); err != nil {
			bad.fail(0, "%s: %s", markup.Collapse(name), err.Error())
		}
	}
	if members == 0 {
		bad.fail(0, "it has no FONDREGISTRO")
	} else if len(funds.records) == 0 {
		bad.fail(0, "it has no fund")
	}
	return funds.records, bad.err()
}

// fundReader merges the elements of the same fund.
type fundReader struct {
	records []FundRecord
	known   map[string]int // index in records
}

// member reads a file of the archive within the remaining size limit.
func (r *fundReader) member(f *zip.File, left *io.LimitedReader) error {
	in, err := f.Open()
	if err != nil {
		return errors.New("cannot be unpacked")
	}
	defer in.Close()
	left.R = in
	d, err := markup.NewDecoder(left)
	if err != nil {
		return err
	}
	err = r.decode(d)
	if left.N <= 0 {
		return errors.New("is too large when unpacked")
	}
	return err
}

// decode reads the funds of a file. Files do not follow their schema, so only the
// names of elements matter.
func (r *fundReader) decode(d *markup.Decoder) error {
	var (
		fund *FundRecord // current fund
		kind string
		word strings.Builder
	)
	for {
		token, err := d.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.New("ends too early, or its XML is broken")
		}
		switch token := token.(type) {
		case xml.StartElement:
			word.Reset()
			if strings.EqualFold(token.Name.Local, "Entidad") {
				fund, kind = &FundRecord{}, ""
			}
		case xml.CharData:
			if fund != nil {
				word.Write(token)
			}
		case xml.EndElement:
			if fund == nil {
				continue
			}
			switch value := markup.Collapse(word.String()); strings.ToLower(token.Name.Local) {
			case "tipo":
				kind = value
			case "entidad":
				r.add(*fund, kind)
				fund = nil
				if len(r.records) > maxFunds {
					return errors.New("has more funds than there can be")
				}
			default:
				fund.set(strings.ToLower(token.Name.Local), value)
			}
			word.Reset()
		}
	}
}

func (f *FundRecord) set(name, value string) {
	switch name {
	case "numeroregistro":
		f.Number, _ = disclosure.ParseNumber(strings.TrimLeft(value, "0"))
	case "denominacion":
		f.Name, f.Gone = fundName(value)
	case "denominaciongestora":
		f.Manager = value
	case "denominaciondepositario":
		f.Depositary = value
	case "isin":
		f.addISIN(strings.ToUpper(value))
	}
}

func (f *FundRecord) addISIN(isin string) {
	if disclosure.IsISIN(isin) && len(f.ISINs) < maxISINs && !slices.Contains(f.ISINs, isin) {
		f.ISINs = append(f.ISINs, isin)
	}
}

// add stores a fund, unless it lacks its identity.
func (r *fundReader) add(f FundRecord, kind string) {
	f.Register = registerOf(kind)
	if f.Register == "" || f.Number == 0 || f.Name == "" {
		return
	}
	key := fmt.Sprintf("%s %d", strings.ToLower(kind), f.Number)
	n, ok := r.known[key]
	if !ok {
		r.known[key] = len(r.records)
		r.records = append(r.records, f)
		return
	}
	for _, isin := range f.ISINs {
		r.records[n].addISIN(isin)
	}
}

var kindForm = regexp.MustCompile(`^[a-z]{1,10}$`)

// registerOf returns the register of a kind of fund. Both kinds of hedge fund are
// in one register.
func registerOf(kind string) string {
	switch kind = strings.ToLower(kind); {
	case kind == "fhf" || kind == "shf":
		return "fil"
	case kindForm.MatchString(kind):
		return kind
	}
	return ""
}

var (
	struckOff   = regexp.MustCompile(`(?i)[\s,;(-]*\bbaja\s*:?\s*\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\)?`)
	liquidation = regexp.MustCompile(`(?i)\s*\(\s*en\s+liquidaci[óo]n\s*\)`)
)

// fundName removes the remarks that the open data append to a name.
func fundName(s string) (name string, gone bool) {
	gone = struckOff.MatchString(s)
	s = liquidation.ReplaceAllString(struckOff.ReplaceAllString(s, ""), "")
	return markup.Collapse(s), gone
}
