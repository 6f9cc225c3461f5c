package main

import (
	"context"
	"net/url"
	"strings"

	"pregon/internal/cli"
	"pregon/internal/cli/tail"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/server/origin"
	"pregon/internal/text"
)

type tailCmd struct {
	storeFlag
	URL      string `placeholder:"URL" help:"Service to follow, with the key in PREGON_KEY. Default: the store itself."`
	Search   string `placeholder:"TEXT" help:"Only reports that match, as in a search."`
	Type     string `placeholder:"IP|OIR|HR" help:"Only reports of one type: IP, HR or OIR."`
	Issuer   string `placeholder:"ID" help:"Only reports of one issuer, by its ticker, any of its identifiers or its full name; several, up to 50, with commas between them."`
	List     string `name:"watchlist" placeholder:"ID" help:"Only what a watchlist selects, by its id or the secret of a link. It needs --url."`
	Category string `placeholder:"TEXT" help:"Only reports of one category, by its name, or of several, by words of their names."`
	Position string `placeholder:"short|holding|own_shares|dealing" help:"Only positions of some kinds, separated by commas: short, holding, own_shares, dealing. It needs --events of positions."`
	HeldBy   string `name:"holder" placeholder:"TEXT" help:"Only positions whose holder has these words in the name. Natural persons only with one --issuer."`
	Percent  string `name:"min-percent" placeholder:"NUMBER" help:"Only positions of at least this percentage."`
	Side     string `placeholder:"buy|sell|other" help:"Only dealings with such a trade: buy, sell or other."`
	Events   string `default:"report.published" placeholder:"EVENTS" help:"Events to print, separated by commas: report.published, report.updated, report.corrected, report.backfilled, issuer.updated, position.published, position.updated, position.withdrawn, position.backfilled."`
	After    string `placeholder:"CURSOR" help:"Begin after this change, by its cursor or its seq; 0 for all changes. Default: new changes only."`
	Format   string `default:"line" enum:"line,json" help:"line for people, json (one object a line, as streams send them) for programs."`
	JSON     bool   `name:"json" help:"The same as --format json."`
}

// keyEnv is the variable that holds the key of the service to follow. It has no
// flag: see secretVariables.
const keyEnv = cli.EnvPrefix + "_KEY"

// Run prints events until the context ends.
func (c *tailCmd) Run(ctx context.Context, p *process) error {
	selection, err := c.selection()
	if err != nil {
		return err
	}
	printer := tail.Printer{
		Out:    p.stdout,
		Err:    p.stderr,
		JSON:   c.JSON || c.Format == "json",
		Colors: p.colors(p.stdout),
		Site:   c.URL,
	}
	if p.isTerminal(p.stdout) {
		printer.Terminal = func() int { return cli.Width(p.stdout) }
	}
	if c.URL != "" {
		if !origin.Valid(c.URL) {
			return fault.New(fault.Invalid,
				"--url %q must be http:// or https:// and a host, with nothing after it", c.URL)
		}
		key := p.getenv(keyEnv)
		if key == "" {
			return fault.New(fault.Invalid, "set %s to a key of the service", keyEnv)
		}
		filter := url.Values{
			"search": {c.Search}, "type": {strings.ToUpper(c.Type)}, "issuer": {c.Issuer}, "category": {c.Category}, "events": {c.Events},
			"position": {c.Position}, "holder": {c.HeldBy}, "min_percent": {c.Percent}, "side": {c.Side},
			"watchlist": {c.List},
		}
		return fault.UnlessCanceled(printer.Service(ctx, c.URL, key, filter, c.After))
	}
	if c.List != "" {
		return fault.New(fault.Invalid, "--watchlist needs --url: the service knows whose list it is, by the key in %s",
			keyEnv)
	}
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	return fault.UnlessCanceled(printer.Store(ctx, db, selection, c.After))
}

// selection validates the flags that select events.
func (c *tailCmd) selection() (events.Selection, error) {
	s := events.Selection{Filter: disclosure.Filter{
		Search:     c.Search,
		Issuer:     c.Issuer,
		Category:   c.Category,
		HeldBy:     c.HeldBy,
		MinPercent: c.Percent,
		Side:       disclosure.Side(c.Side),
	}}
	var ok bool
	if s.Filter.Positions, ok = disclosure.ParsePositionSet(c.Position); !ok {
		return s, fault.New(fault.Invalid,
			"--position %q must be some of short, holding, own_shares and dealing, with commas between them", c.Position)
	}
	if c.Type != "" {
		t, ok := disclosure.ParseType(strings.ToUpper(c.Type))
		if !ok {
			return s, fault.New(fault.Invalid, "--type %q must be IP, HR or OIR", c.Type)
		}
		s.Filter.Type = t
	}
	if _, ok := disclosure.ParseCursor(c.After); c.After != "" && !ok {
		return s, fault.New(fault.Invalid,
			"--after %q must be the cursor of a change, such as k3v9x2m7-4711, or its seq", c.After)
	}
	if text.Wordless(c.Search) {
		return s, fault.New(fault.Invalid,
			"--search %q does not have a word to search for: use letters or digits", c.Search)
	}
	for name := range strings.SplitSeq(c.Events, ",") {
		e, ok := events.ParseEvent(strings.TrimSpace(name))
		if !ok {
			return s, fault.New(fault.Invalid, "--events %q must be some of %s", c.Events,
				events.EventNames(events.AllEvents))
		}
		s.Events = append(s.Events, e)
	}
	return s, nil
}
