package regulator

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/markup"
)

// The origins of the site in public links, whatever address is read.
const (
	PublicOrigin    = "https://www.cnmv.es"
	SimulatedOrigin = "https://regulator.example" // of a source that declares itself a simulation
)

// The hosts that pages use for the same site.
var (
	publicHosts    = []string{"www.cnmv.es", "cnmv.es", "internet.cnmv.es"}
	simulatedHosts = []string{"regulator.example", "internet.regulator.example"}
)

// maxLink is the longest link that is kept.
const maxLink = 4096

// series holds the addresses of the reports of one type.
type series struct {
	feed      string // path of the feed
	list      string // path of the list by dates; HR has none
	dir       string // base of the relative links of its pages
	page      string // path and query of a report's page, up to the number
	permalink string // the same, as in feeds and public links
	tail      string // follows the number in both
}

var seriesOf = map[disclosure.Type]series{
	disclosure.IP: {
		feed:      "/portal/informacion-privilegiada/RSS.asmx/GetNoticiasCNMV",
		list:      "/portal/informacion-privilegiada/resultado-ip",
		dir:       "/portal/informacion-privilegiada/",
		page:      "/portal/informacion-privilegiada/resultado-ip?nreg=",
		permalink: "/Portal/Informacion-privilegiada/Resultado-IP.aspx?nreg=",
	},
	disclosure.OIR: {
		feed:      "/portal/Otra-Informacion-Relevante/RSS.asmx/GetNoticiasCNMV",
		list:      "/portal/otra-informacion-relevante/resultado-oir",
		dir:       "/portal/otra-informacion-relevante/",
		page:      "/portal/otra-informacion-relevante/resultado-oir?nreg=",
		permalink: "/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=",
	},
	disclosure.HR: hrOf(Funds),
}

// Division is a part of the relevant facts (HR) with lists of its own.
type Division int

const (
	Funds   Division = 2 // funds and other authorised entities, still live
	Issuers Division = 3 // issuers of securities, until 8 February 2020
)

// hrOf returns the series of a division of HR. The feed is that of the funds.
func hrOf(d Division) series {
	query := fmt.Sprintf("?division=%d&nreg=", d)
	return series{
		feed:      "/portal/hr/hechosrelevantes.asmx/GetNoticiasCNMV",
		dir:       "/portal/hr/",
		page:      "/portal/hr/resultadobusquedahr" + query,
		permalink: "/Portal/HR/ResultadoBusquedaHR.aspx" + query,
		tail:      "&th=H",
	}
}

// findSeries returns the series of a type.
func findSeries(t disclosure.Type) (series, error) {
	s, ok := seriesOf[t]
	if !ok {
		return s, fault.New(fault.Invalid, "the regulator does not have a series %q: use IP, HR or OIR", t)
	}
	return s, nil
}

// withNumber appends a registration number to an address of the series.
func (s series) withNumber(address string, number int64) string {
	return address + strconv.FormatInt(number, 10) + s.tail
}

// site decides which hosts are the regulator's and how public links are written.
type site struct {
	public string // PublicOrigin or SimulatedOrigin
	own    string // host that receives the requests, if it is another
}

// origin returns the public origin of a host, or "" when it is not the regulator's.
func (s site) origin(u *url.URL) string {
	switch {
	case isHost(publicHosts, u):
		return PublicOrigin
	case s.own != "" && strings.EqualFold(u.Host, s.own):
		return s.public
	case s.public == SimulatedOrigin && isHost(simulatedHosts, u):
		return SimulatedOrigin
	}
	return ""
}

func isHost(hosts []string, u *url.URL) bool {
	port := u.Port()
	return (port == "" || port == "443" || port == "80") && slices.Contains(hosts, strings.ToLower(u.Hostname()))
}

// link resolves an href of a page in dir to a public link, and reports whether
// it is a document of the regulator. It returns "" for what is no web address.
func (s site) link(dir, href string) (shown string, document bool) {
	base, err := url.Parse(s.public + dir)
	if err != nil {
		return "", false
	}
	href = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(strings.TrimSpace(href))
	if href == "" || href[0] == '#' {
		return "", false
	}
	ref, err := url.Parse(href)
	if err != nil {
		return "", false
	}
	u := base.ResolveReference(ref)
	if (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.Opaque != "" {
		return "", false
	}
	u.RawQuery = escapeQuery(u.RawQuery)
	if origin := s.origin(u); origin != "" {
		shown, document = origin+pathOf(u), isDocument(u.Path)
	} else {
		shown = u.String()
	}
	if _, err := url.Parse(shown); err != nil || len(shown) > maxLink {
		return "", false
	}
	return shown, document
}

// isDocument reports whether a path is that of a document, not of a page about it.
func isDocument(path string) bool {
	path = strings.ToLower(path)
	return strings.Contains(path, "/verdocumento/ver") || strings.Contains(path, "verdoc.axd")
}

// pathOf returns the path and the query, escaped as they were.
func pathOf(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// escapeQuery escapes what a request line cannot hold. The rest is unchanged,
// because the tokens of documents are compared byte by byte.
func escapeQuery(q string) string {
	isPlain := func(c byte) bool { return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>' }
	var b strings.Builder
	for i := range len(q) {
		if c := q[i]; isPlain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// permalink returns the public link of a report.
func (s site) permalink(of series, number int64) string {
	return s.public + of.withNumber(of.permalink, number)
}

// query returns a parameter of an href. Names are compared without case.
func query(href, name string) string {
	_, raw, _ := strings.Cut(href, "?")
	raw, _, _ = strings.Cut(raw, "#")
	for pair := range strings.SplitSeq(raw, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if !strings.EqualFold(key, name) {
			continue
		}
		if plain, err := url.QueryUnescape(value); err == nil {
			value = plain
		}
		return markup.Collapse(value)
	}
	return ""
}
