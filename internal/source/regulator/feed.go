package regulator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/html"

	"pregon/internal/disclosure"
	"pregon/internal/source/throttle"
)

// Feed is what a feed holds: the reports since the close of the last session.
type Feed struct {
	Rows     []Row
	Digest   [32]byte // of the body; zero when it could not be read whole
	Received time.Time
	Same     bool // as the one seen before: it was not read again
}

// Feed reads the feed of a series. seen is the digest of the last one.
func (c *Client) Feed(ctx context.Context, t disclosure.Type, seen [32]byte) (Feed, error) {
	s, err := findSeries(t)
	if err != nil {
		return Feed{}, err
	}
	a, err := c.For(throttle.Feeds).get(ctx, s.feed, c.limits.feed)
	if err != nil {
		return Feed{}, err
	}
	f := Feed{Digest: sha256.Sum256(a.body), Received: a.received}
	if f.Digest == seen {
		f.Same = true
		return f, nil
	}
	f.Rows, err = parseFeed(t, a.body, c.site())
	if err != nil {
		f.Digest = [32]byte{}
	}
	return f, c.checkRedirects(&a, err)
}

// ParseFeed reads a feed. Its element names are in any case.
func ParseFeed(t disclosure.Type, body []byte, public string) ([]Row, error) {
	return parseFeed(t, body, site{public: public})
}

func parseFeed(t disclosure.Type, body []byte, s site) ([]Row, error) {
	bad := defects{surface: "feed of " + string(t)}
	items, err := readItems(body)
	if err != nil {
		bad.fail("%s", err.Error())
	}
	var rows []Row
	for i, it := range items {
		row, lacks := it.row(t, s)
		switch {
		case lacks == "":
			rows = append(rows, row)
		case row.Number > 0:
			bad.add("%s %s", disclosure.ReportID(t, row.Number), lacks)
		default:
			bad.add("item %d %s", i+1, lacks)
		}
	}
	bad.count(len(rows), len(items)-len(rows))
	return rows, bad.err()
}

// item is an element of the feed: the text of its children, by their names.
type item map[string]*strings.Builder

func (it item) text(name string) string {
	if b := it[name]; b != nil {
		return b.String()
	}
	return ""
}

// write adds to the text of a child, which comes in any number of pieces.
func (it item) write(name string, piece []byte) {
	if it[name] == nil {
		it[name] = new(strings.Builder)
	}
	it[name].Write(piece)
}

// mostItems is far more than are filed between two sessions.
const maxItems = 10_000

// readItems returns the items that are whole, and an error when there is no
// channel or it does not end.
func readItems(body []byte) ([]item, error) {
	d, err := newDecoder(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	var (
		items   []item
		it      item // that is being read
		child   string
		channel bool
		depth   int // below the item
	)
	for {
		token, err := d.next()
		switch {
		case err != nil && !channel:
			return nil, errors.New("it has no channel")
		case errors.Is(err, io.EOF):
			return items, nil
		case err != nil:
			return items, errors.New("it ends too early, or its XML is broken")
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := strings.ToLower(token.Name.Local)
			switch {
			case it != nil:
				if depth++; depth == 1 {
					child = name
				}
			case name == "channel":
				channel = true
			case name == "item" && channel:
				it, depth = item{}, 0
			}
		case xml.EndElement:
			switch {
			case it == nil:
			case depth > 0:
				depth--
			case len(items) == maxItems:
				return items, errors.New("it has more items than there can be")
			default:
				items, it = append(items, it), nil
			}
		case xml.CharData:
			if it != nil && depth > 0 {
				it.write(child, token)
			}
		}
	}
}

var (
	numberParam = regexp.MustCompile(`(?i)[?&]nreg=(\d{1,18})\b`)
	seriesName  = regexp.MustCompile(`(?i)/resultado(?:-|busqueda)([a-z]+)\b`)
)

// row reads an item, and says what it lacks.
func (it item) row(t disclosure.Type, s site) (row Row, lacks string) {
	row = Row{Type: t, FromFeed: true, Name: collapse(it.text("title"))}
	for _, link := range []string{it.text("guid"), it.text("link")} {
		if m := numberParam.FindStringSubmatch(link); m != nil && row.Number == 0 {
			row.Number, _ = disclosure.ParseNumber(m[1])
			if m := seriesName.FindStringSubmatch(link); m != nil && !strings.EqualFold(m[1], string(t)) {
				return row, "is of another series"
			}
		}
	}
	if row.Number > 0 {
		row.SourceURL = s.permalink(seriesOf[t], row.Number)
	}
	var stamp string
	stamp, row.Category, row.Title = description(it.text("description"))
	row.Category = trimCategory(row.Category)
	if row.Title == "" {
		row.Title = row.Category
	}
	row.setTime(it.text("pubdate"), stamp)
	return row, missingFields(&row)
}

// clock takes the time from pubDate, which is exact and universal, as long as
// the stamp of the description, which is the register's own, agrees with it.
func (r *Row) setTime(pubDate, stamp string) {
	published, seconds := parsePubDate(pubDate)
	w, stamped := parseWallTime(stamp, stamp)
	at, later := w.instants()
	agrees := func(minute time.Time) bool {
		d := published.Sub(minute)
		return !minute.IsZero() && d >= -time.Minute && d < 2*time.Minute
	}
	switch {
	case !published.IsZero() && (!stamped || agrees(at) || agrees(later)):
		r.At, r.Surface = published, disclosure.FromFeed
		if !seconds {
			r.Surface = disclosure.FromList
		}
	case stamped:
		r.At, r.Later, r.Surface = at, later, disclosure.FromList
	}
}

// parsePubDate reads the date of a feed in any of its usual forms, and tells
// whether it has seconds. Names of zones other than the universal one are not
// understood: their meaning depends on where one stands.
func parsePubDate(s string) (t time.Time, seconds bool) {
	s = collapse(s)
	if _, rest, ok := strings.Cut(s, ","); ok {
		s = strings.TrimSpace(rest)
	}
	for _, zone := range []string{" GMT", " UTC", " UT", " Z"} {
		if day, ok := strings.CutSuffix(s, zone); ok {
			s = day + " +0000"
			break
		}
	}
	for _, layout := range []string{"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04 -0700"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), strings.Contains(layout, ":05")
		}
	}
	return time.Time{}, false
}

// description takes apart the HTML of an item: the stamp in bold, the heading,
// an empty line, the subject.
func description(s string) (stamp, heading, subject string) {
	var (
		bold, line strings.Builder
		lines      []string
		in         bool // in bold
		done       bool // the stamp was read; a subject may have bold words
	)
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind == html.TextToken {
			if in {
				bold.Write(z.Text())
			} else {
				line.Write(z.Text())
			}
			continue
		}
		switch name, _ := z.TagName(); {
		case string(name) == "br" && kind != html.EndTagToken:
			lines = append(lines, line.String())
			line.Reset()
		case string(name) == "b" && kind == html.StartTagToken && !done:
			in, done = true, true
		case string(name) == "b" && kind == html.EndTagToken:
			in = false
		}
	}
	heading, subject = split(append(lines, line.String()))
	return collapse(bold.String()), heading, subject
}

// split parts lines at the first empty one; without one, after the first.
func split(lines []string) (heading, subject string) {
	at, from := 1, 1
	for i := 1; i < len(lines)-1; i++ {
		if collapse(lines[i]) == "" {
			at, from = i, i+1
			break
		}
	}
	return collapse(strings.Join(lines[:at], " ")), collapse(strings.Join(lines[from:], " "))
}
