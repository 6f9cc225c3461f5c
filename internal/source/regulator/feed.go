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
	"pregon/internal/source/markup"
	"pregon/internal/source/throttle"
)

// Feed holds the reports since the close of the last session.
type Feed struct {
	Rows     []Row
	Digest   [32]byte // of the body; zero after a parse error
	Received time.Time
	Same     bool // the digest is the one seen before: Rows is empty
}

// Feed reads the feed of a series, unless its digest is still seen.
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

func parseFeed(t disclosure.Type, body []byte, s site) ([]Row, error) {
	bad := defects{surface: "feed of " + string(t)}
	items, line, err := readItems(body)
	if err != nil {
		bad.fail(line, "%s", err.Error())
	}
	var rows []Row
	for i, it := range items {
		row, lacks := it.row(t, s)
		switch {
		case lacks == "":
			rows = append(rows, row)
		case row.Number > 0:
			bad.add(it.line, "%s %s", disclosure.ReportID(t, row.Number), lacks)
		default:
			bad.add(it.line, "item %d %s", i+1, lacks)
		}
	}
	bad.count(len(rows), len(items)-len(rows))
	return rows, bad.err()
}

// item is an item of the feed.
type item struct {
	line  int
	texts map[string]*strings.Builder // of its children, by their names
}

func (it *item) text(name string) string {
	if b := it.texts[name]; b != nil {
		return b.String()
	}
	return ""
}

// write appends to the text of a child, which comes in pieces.
func (it *item) write(name string, piece []byte) {
	if it.texts[name] == nil {
		it.texts[name] = new(strings.Builder)
	}
	it.texts[name].Write(piece)
}

// maxItems is far more than are published between two sessions.
const maxItems = 10_000

// readItems returns the complete items, and an error with its line when the channel
// is missing or does not end.
func readItems(body []byte) (items []*item, line int, err error) {
	d, err := markup.NewDecoder(bytes.NewReader(body))
	if err != nil {
		return nil, 1, err
	}
	var (
		it      *item // current item
		child   string
		channel bool
		depth   int // below the item
	)
	for {
		token, err := d.Next()
		switch {
		case err != nil && !channel:
			return nil, 0, errors.New("it does not have a channel")
		case errors.Is(err, io.EOF):
			return items, 0, nil
		case err != nil:
			return items, d.Line(), errors.New("it ends too early, or its XML is broken")
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
				it, depth = &item{line: d.Line(), texts: map[string]*strings.Builder{}}, 0
			}
		case xml.EndElement:
			switch {
			case it == nil:
			case depth > 0:
				depth--
			case len(items) == maxItems:
				return items, it.line, errors.New("it has more items than there can be")
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

// row converts an item, and returns what it lacks.
func (it *item) row(t disclosure.Type, s site) (row Row, lacks string) {
	row = Row{Type: t, FromFeed: true, Name: markup.Collapse(it.text("title"))}
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

// setTime uses pubDate, which is exact and in UTC, unless it contradicts the
// registration time in the description.
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
		r.At = at
		r.Later = later
		r.Surface = disclosure.FromList
	}
}

// parsePubDate parses a date in the usual forms, and reports whether it has
// seconds. Zone names other than UTC are ambiguous and not accepted.
func parsePubDate(s string) (t time.Time, seconds bool) {
	s = markup.Collapse(s)
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

// description splits the HTML of an item: the time in bold, the category, an
// empty line, the subject.
func description(s string) (stamp, category, subject string) {
	var (
		bold, line strings.Builder
		lines      []string
		in         bool // in bold
		done       bool // the time was read; a subject may have bold words
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
	category, subject = split(append(lines, line.String()))
	return markup.Collapse(bold.String()), category, subject
}

// split divides the lines at the first empty one, or after the first line.
func split(lines []string) (category, subject string) {
	at, from := 1, 1
	for i := 1; i < len(lines)-1; i++ {
		if markup.Collapse(lines[i]) == "" {
			at, from = i, i+1
			break
		}
	}
	return markup.Collapse(strings.Join(lines[:at], " ")), markup.Collapse(strings.Join(lines[from:], " "))
}
