package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sync/errgroup"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/events"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/retry"
	"pregon/internal/text"
)

type tailCmd struct {
	storeFlag
	URL      string `placeholder:"URL" help:"Service to follow, with the key in PREGON_KEY. Default: the store itself."`
	Search   string `placeholder:"TEXT" help:"Only reports that match, as in a search."`
	Type     string `placeholder:"TYPE" help:"Only reports of one type: IP, HR or OIR."`
	Issuer   string `placeholder:"ID" help:"Only reports of one issuer, by its ticker or any of its identifiers."`
	Category string `placeholder:"TEXT" help:"Only reports under one heading."`
	Events   string `default:"report.published" placeholder:"EVENTS" help:"What to print, with commas between: report.published, report.updated, report.corrected, report.backfilled, issuer.updated."`
	After    string `placeholder:"CURSOR" help:"Begin after this change, by its cursor or its seq; 0 for all that ever happened. Default: with what comes."`
	Format   string `default:"line" enum:"line,json" help:"line for people, json (one object a line, as streams send them) for programs."`
	JSON     bool   `name:"json" help:"The same as --format json."`

	colors bool // of lines
}

// keyEnv names the variable that holds a key for another service; like the
// secret it has no flag.
const keyEnv = envPrefix + "_KEY"

// Run prints events until the context ends.
func (c *tailCmd) Run(ctx context.Context, p *process) error {
	selection, err := c.selection()
	if err != nil {
		return err
	}
	c.colors = p.colors(p.stdout)
	if c.URL != "" {
		return untilStopped(c.followService(ctx, p))
	}
	return untilStopped(c.followStore(ctx, p, selection))
}

func (c *tailCmd) selection() (events.Selection, error) {
	s := events.Selection{Filter: disclosure.Filter{Search: c.Search, Issuer: c.Issuer, Category: c.Category}}
	if c.Type != "" {
		t, ok := disclosure.ParseType(strings.ToUpper(c.Type))
		if !ok {
			return s, fault.New(fault.Invalid, "--type %q must be IP, HR or OIR", c.Type)
		}
		s.Filter.Type = t
	}
	if _, ok := disclosure.ParseCursor(c.After); c.After != "" && !ok {
		return s, fault.New(fault.Invalid, "--after %q must be the cursor of a change, such as k3v9x2m7-4711, or its seq", c.After)
	}
	if text.Wordless(c.Search) {
		return s, fault.New(fault.Invalid, "--search %q has no word to search for: give letters or digits", c.Search)
	}
	for name := range strings.SplitSeq(c.Events, ",") {
		e, ok := events.ParseEvent(strings.TrimSpace(name))
		if !ok {
			return s, fault.New(fault.Invalid, "--events %q must be some of %s", c.Events, events.EventNames(events.AllEvents))
		}
		s.Events = append(s.Events, e)
	}
	return s, nil
}

// followStore reads the store as serve does.
func (c *tailCmd) followStore(ctx context.Context, p *process, selection events.Selection) error {
	db, err := c.open(ctx, false)
	if err != nil {
		return err
	}
	defer db.Close()
	cat := catalog.New(db, slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	hub := events.NewHub(cat, db)
	if err := cat.Load(ctx); err != nil {
		return err
	}
	if c.Issuer != "" {
		key, reason := query.IssuerKey(cat.Snapshot(), c.Issuer)
		if reason != "" {
			return fault.New(fault.Invalid, "--issuer %q %s", c.Issuer, reason)
		}
		selection.Filter.Issuer = key
	}
	selector := selection.Compile()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return cat.Follow(ctx) })
	g.Go(func() error {
		after, located := hub.Head().Cursor, c.After == ""
		if !located {
			after, _ = disclosure.ParseCursor(c.After) // which selection has checked
		}
		for {
			if !located || after.Epoch != hub.Head().Epoch {
				place, err := hub.Locate(ctx, after)
				if err != nil {
					return err
				}
				if place.Reset != nil {
					c.tellReset(p, place.Reset)
				}
				after, located = place.After, true
			}
			_, wake, _ := hub.Since(after, 0)
			events, err := hub.After(ctx, after, 500)
			if err != nil {
				return err
			}
			for _, e := range events {
				if after.Seq = e.Seq; selector.Match(e) {
					if err := c.print(p.stdout, e.JSON); err != nil {
						return err
					}
				}
			}
			if len(events) > 0 {
				continue
			}
			select {
			case <-wake:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return g.Wait()
}

// tellReset prints why events come again that were printed before.
func (c *tailCmd) tellReset(p *process, r *events.Reset) {
	fmt.Fprintf(p.stderr, "pregon: %s (%s)\n", printable(r.Reason), printable(r.After))
}

// followService asks a service for changes again and again.
func (c *tailCmd) followService(ctx context.Context, p *process) error {
	if !isOrigin(c.URL) {
		return fault.New(fault.Invalid, "--url %q must be http:// or https:// and a host, with nothing after it", c.URL)
	}
	key := p.getenv(keyEnv)
	if key == "" {
		return fault.New(fault.Invalid, "set %s to a key of the service", keyEnv)
	}
	query := url.Values{"search": {c.Search}, "type": {strings.ToUpper(c.Type)}, "issuer": {c.Issuer}, "category": {c.Category}, "events": {c.Events}}
	after := c.After
	if after == "" {
		answer, err := c.ask(ctx, key, url.Values{"after": {"0"}, "limit": {"1"}}) // which tells the newest
		if err != nil {
			return err
		}
		next, _ := disclosure.ParseCursor(answer.Next)
		after = disclosure.Cursor{Epoch: next.Epoch, Seq: answer.Newest}.String()
	}
	for {
		query.Set("after", after)
		query.Set("wait", "25")
		answer, err := c.ask(ctx, key, query)
		if fault.KindOf(err) == fault.Unavailable && ctx.Err() == nil {
			fmt.Fprintln(p.stderr, "pregon:", oneLine(err))
			_ = retry.Sleep(ctx, 2*time.Second)
			continue
		}
		if err != nil {
			return err
		}
		if answer.Reset != nil {
			c.tellReset(p, answer.Reset)
		}
		for _, event := range answer.Data {
			if err := c.print(p.stdout, event); err != nil {
				return err
			}
		}
		after = cmp.Or(answer.Next, strconv.FormatInt(answer.NextAfter, 10)) // an older service has no cursors
	}
}

// asker follows no redirects: the key is for the service that was named.
var asker = &http.Client{
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

type changesAnswer struct {
	Data      []json.RawMessage `json:"data"`
	NextAfter int64             `json:"next_after"`
	Newest    int64             `json:"newest"`
	Next      string            `json:"next"`
	Reset     *events.Reset     `json:"reset"`
}

func (c *tailCmd) ask(ctx context.Context, key string, query url.Values) (answer changesAnswer, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.URL, "/")+"/api/v1/changes?"+query.Encode(), nil)
	if err != nil {
		return answer, err
	}
	req.Header.Set("X-API-Key", key)
	resp, err := asker.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
		return answer, fault.Wrap(fault.Unavailable, err, "%s does not answer", c.URL)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return answer, fault.Wrap(fault.Unavailable, err, "the answer of %s broke off", c.URL)
	}
	if resp.StatusCode != http.StatusOK {
		var problem struct{ Detail string }
		_ = json.Unmarshal(body, &problem) // what is no problem document has no detail
		kind := fault.Invalid
		if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
			kind = fault.Unavailable
		}
		return answer, fault.New(kind, "%s answers %s: %s", c.URL, resp.Status, problem.Detail)
	}
	return answer, json.Unmarshal(body, &answer)
}

// print writes one event.
func (c *tailCmd) print(w io.Writer, event []byte) error {
	if c.JSON || c.Format == "json" {
		_, err := fmt.Fprintf(w, "%s\n", event)
		return err
	}
	var e struct {
		ID, Event, Type, Title, Name string
		CompanyName                  string    `json:"company_name"`
		PublishedAt                  time.Time `json:"published_at"`
		OccurredAt                   time.Time `json:"occurred_at"`
		Changed                      []string
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return err
	}
	what := ""
	if disclosure.Event(e.Event) != disclosure.Published {
		what = c.paint(" ("+strings.Join(append([]string{e.Event}, e.Changed...), " ")+")", dim)
	}
	at := e.PublishedAt
	if at.IsZero() {
		at = e.OccurredAt
	}
	_, err := fmt.Fprintf(w, "%s  %s  %-10s  %-32s  %s%s\n", c.paint(at.In(disclosure.Madrid).Format("2006-01-02 15:04:05"), dim),
		c.paint(fmt.Sprintf("%-3s", e.Type), typeColors[e.Type]), printable(e.ID), printable(e.CompanyName+e.Name), printable(e.Title), what)
	return err
}

// Colours of a terminal, as ECMA-48 numbers them.
const dim = "2"

var typeColors = map[string]string{"IP": "1;31", "HR": "33", "OIR": "36"}

func (c *tailCmd) paint(s, color string) string {
	if !c.colors || color == "" {
		return printable(s)
	}
	return "\x1b[" + color + "m" + printable(s) + "\x1b[0m"
}

// printable takes out what a terminal would obey: the text is somebody else's.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != ' ' && !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}
