package regulator

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// The site as the public sees it, whatever address it is read from.
const (
	PublicOrigin    = "https://www.cnmv.es"
	SimulatedOrigin = "https://regulator.example" // of a source that says it is a simulation
)

// Pages name each other by several hosts, which are all the same site.
var (
	publicHosts    = []string{"www.cnmv.es", "cnmv.es", "internet.cnmv.es"}
	simulatedHosts = []string{"regulator.example", "internet.regulator.example"}
)

// longestLink is more than any link of the site has.
const maxLink = 4096

// series is where the site keeps the reports of one type.
type series struct {
	feed      string // path of the feed
	list      string // path of the list by dates; HR has none
	dir       string // that relative links of its pages start from
	page      string // path and query of a report's page, up to the number
	permalink string // the same, as feeds and people write it
	tail      string // what follows the number in both
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

// Division is a part of the relevant facts (HR) that the site keeps by itself.
type Division int

const (
	Funds   Division = 2 // of funds and other authorised entities, still live
	Issuers Division = 3 // of issuers of securities, until 8 February 2020
)

// hrOf returns where the relevant facts of a division are. The feed is of funds.
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

// find returns the series of a type.
func findSeries(t disclosure.Type) (series, error) {
	s, ok := seriesOf[t]
	if !ok {
		return s, fault.New(fault.Invalid, "the regulator has no series %q: use IP, HR or OIR", t)
	}
	return s, nil
}

// numbered completes an address of the series with a number.
func (s series) withNumber(address string, number int64) string {
	return address + strconv.FormatInt(number, 10) + s.tail
}

// site returns which addresses are the regulator's and how the public sees them.
type site struct {
	public string // PublicOrigin or SimulatedOrigin
	own    string // the host that is really asked, if it is another
}

// origin returns the public origin of a host, or nothing when it is not the
// regulator's.
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

// link resolves an href of a page in dir to an address for the public, and
// reports whether a document of the regulator is there. What is no web address
// is dropped.
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

// isDocument tells a document from a page about it, of which there are many
// forms.
func isDocument(path string) bool {
	path = strings.ToLower(path)
	return strings.Contains(path, "/verdocumento/ver") || strings.Contains(path, "verdoc.axd")
}

// pathOf is the path and the query, to the letter.
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

// escapeQuery escapes what a request line cannot hold and leaves the rest: the
// tokens of documents are compared to the letter.
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

// permalink is the public address of a report.
func (s site) permalink(of series, number int64) string {
	return s.public + of.withNumber(of.permalink, number)
}

// query returns a parameter of an href; the site spells their names in any
// case.
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
		return collapse(value)
	}
	return ""
}
