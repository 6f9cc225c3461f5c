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
)

// Package is the open data on funds of one month.
type FundArchive struct {
	Year  int
	Month time.Month
	Link  string // its token changes, so it is no name for the content
}

// OpenData reads which months of a year there are, the earliest first.
func (c *Client) OpenData(ctx context.Context, year int) ([]FundArchive, error) {
	a, err := c.get(ctx, fmt.Sprintf("/portal/publicaciones/descarga-informacion-individual?ejercicio=%d&lang=es", year), c.limits.page)
	if err != nil {
		return nil, err
	}
	packages, err := parseOpenData(year, a.body, c.site())
	return packages, c.checkRedirects(&a, err)
}

// ParseOpenData reads the page of a year.
func ParseOpenData(year int, body []byte, public string) ([]FundArchive, error) {
	return parseOpenData(year, body, site{public: public})
}

var months = regexp.MustCompile(`(?i)\b(?:(enero)|(febrero)|(marzo)|(abril)|(mayo)|(junio)|(julio)|(agosto)|(sep?tiembre)|(octubre)|(noviembre)|(diciembre))\b`)

// monthOf finds the Spanish name of a month.
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
		p.defects.fail("it has no table of downloads")
	}
	found := map[time.Month]FundArchive{}
	for _, table := range p.tables {
		visit(table, func(n *html.Node) bool {
			if !isAnchor(n) {
				return true
			}
			month, ok := monthOf(attr(n, "title") + " " + text(n))
			link, document := s.link("/portal/publicaciones/", attr(n, "href"))
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

// FundRecord is what the open data tell of the identity of a fund.
type FundRecord struct {
	Register   string // as in Entity
	Number     int64
	Name       string
	ISINs      []string
	Manager    string // its name
	Depositary string // its name
	Gone       bool   // struck off the register
}

// FundRecords reads the funds of a package, and tells the digest of the whole.
// Records come with a MarkupError when a part could not be read.
func (c *Client) FundRecords(ctx context.Context, p FundArchive) (records []FundRecord, digest [32]byte, err error) {
	a, err := c.get(ctx, p.Link, c.limits.archive)
	if err != nil {
		return nil, digest, err
	}
	records, err = ParseFundRecords(a.body)
	return records, sha256.Sum256(a.body), c.checkRedirects(&a, err)
}

// What is read of an archive is bounded, each far above what there is.
const (
	maxUnpacked = 256 << 20 // bytes, in total
	maxFunds    = 100_000
	maxISINs    = 1000 // of one fund
)

// ParseFundRecords reads the members of a package that hold identities.
func ParseFundRecords(archive []byte) ([]FundRecord, error) {
	return parseFundRecords(archive, maxUnpacked)
}

func parseFundRecords(archive []byte, unpacked int64) ([]FundRecord, error) {
	bad := defects{surface: "package of open data"}
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		bad.fail("it is no archive")
		return nil, bad.err()
	}
	funds := fundReader{known: map[string]int{}}
	left, members := &io.LimitedReader{N: unpacked}, 0
	for _, f := range z.File {
		name := strings.ToUpper(path.Base(strings.ReplaceAll(f.Name, `\`, "/")))
		if !strings.HasSuffix(name, ".XML") || !strings.Contains(name, "FONDREGISTRO") && !strings.Contains(name, "SOCREGISTRO") {
			continue
		}
		members++
		if err := funds.member(f, left); err != nil {
			bad.fail("%s: %s", collapse(name), err.Error())
		}
	}
	if members == 0 {
		bad.fail("it has no FONDREGISTRO")
	} else if len(funds.records) == 0 {
		bad.fail("it has no fund")
	}
	return funds.records, bad.err()
}

// fundReader joins the elements that tell of one fund, of which there may be
// several.
type fundReader struct {
	records []FundRecord
	known   map[string]int // where a fund is in records
}

// member reads a file of the archive, as far as the rest of the allowance goes.
func (r *fundReader) member(f *zip.File, left *io.LimitedReader) error {
	in, err := f.Open()
	if err != nil {
		return errors.New("cannot be unpacked")
	}
	defer in.Close()
	left.R = in
	d, err := newDecoder(left)
	if err != nil {
		return err
	}
	err = r.decode(d)
	if left.N <= 0 {
		return errors.New("is too large when unpacked")
	}
	return err
}

// decode reads entity by entity. Files deviate from their own schema, so only
// the names of the elements are relied upon.
func (r *fundReader) decode(d *decoder) error {
	var (
		fund *FundRecord // that is being read
		kind string
		word strings.Builder
	)
	for {
		token, err := d.next()
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
			switch value := collapse(word.String()); strings.ToLower(token.Name.Local) {
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

// add keeps a fund, unless it lacks what names it: then nobody could tell
// whom it is about.
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

// registerOf returns the register of a kind of fund. Both sorts of hedge fund
// are listed in one place.
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

// fundName takes off what the open data write behind a name.
func fundName(s string) (name string, gone bool) {
	gone = struckOff.MatchString(s)
	s = liquidation.ReplaceAllString(struckOff.ReplaceAllString(s, ""), "")
	return collapse(s), gone
}
