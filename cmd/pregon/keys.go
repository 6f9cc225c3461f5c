package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

type keysCmd struct {
	Create createKeyCmd `cmd:"" help:"Make a key and print it, this once."`
	List   listKeysCmd  `cmd:"" help:"List all keys: who has them, what for, and when they were last used."`
	Revoke revokeKeyCmd `cmd:"" help:"End a key for good, on all replicas within two seconds."`
	Rotate rotateKeyCmd `cmd:"" help:"Make another key for a holder and print it, this once. The one before it goes on for a while."`
}

// keyFlags are taken by every command on keys.
type keyFlags struct {
	storeFlag
	auditFlag
}

// keyring opens the store, which must be there (a key in a new one would open
// nothing), and reads the keys in it.
func (f *keyFlags) keyring(ctx context.Context) (k *access.Keyring, end func() error, err error) {
	db, err := f.open(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	audit, closeAudit, err := f.audit(nil)
	if err != nil {
		return nil, nil, joinClose(err, db.Close)
	}
	end = func() error { return joinClose(closeAudit(), db.Close) }
	k = access.NewKeyring(db, audit)
	if err := k.Refresh(ctx); err != nil {
		return nil, nil, joinClose(err, end)
	}
	return k, end, nil
}

type createKeyCmd struct {
	keyFlags
	Plan     string    `required:"" enum:"pro,enterprise" help:"What the holder has subscribed to: pro or enterprise."`
	Name     string    `placeholder:"TEXT" help:"Whose key it is, for you to know it by."`
	Scopes   []string  `name:"scope" placeholder:"SCOPE" help:"What it is for: read:reports, read:issuers, read:analytics. May be repeated. Default: all of them."`
	Expires  string    `placeholder:"WHEN" help:"When it ends: a date (2027-06-30, to the end of that day in Madrid) or a time from now (90d, 12h). Default: never."`
	Networks []network `name:"network" placeholder:"CIDR" help:"Network from which it may be used, such as 203.0.113.0/24. May be repeated. Default: anywhere."`
}

// Run prints the key alone on standard output, so that it can be piped, and
// what belongs to it on standard error.
func (c *createKeyCmd) Run(ctx context.Context, p *process) (err error) {
	key := access.Key{Plan: c.Plan, Name: c.Name, Scopes: access.AllScopes}
	if len(c.Scopes) > 0 {
		if key.Scopes, err = access.ParseScopes(c.Scopes); err != nil {
			return err
		}
	}
	if key.ExpiresAt, err = parseExpiry(c.Expires, time.Now()); err != nil {
		return err
	}
	for _, n := range c.Networks {
		key.Networks = append(key.Networks, n.Prefix)
	}
	k, end, err := c.keyring(ctx)
	if err != nil {
		return err
	}
	key, raw, err := k.Create(ctx, key)
	if err := joinClose(err, end); err != nil {
		return err
	}
	return tellKey(p, key, raw)
}

func tellKey(p *process, key access.Key, raw string) error {
	fmt.Fprintf(p.stderr, "%s: keep it safe, it is not shown again; pregon keys revoke %s ends it\n", key.ID, key.ID)
	_, err := fmt.Fprintln(p.stdout, raw)
	return err
}

type revokeKeyCmd struct {
	keyFlags
	ID string `arg:"" help:"The key's id, or - to read the key itself from standard input: for one that was found somewhere."`
}

// Run revokes.
func (c *revokeKeyCmd) Run(ctx context.Context, p *process) error {
	k, end, err := c.keyring(ctx)
	if err != nil {
		return err
	}
	key, err := c.revoke(ctx, k, p)
	if err := joinClose(err, end); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stderr, "%s is revoked\n", key.ID)
	return err
}

func (c *revokeKeyCmd) revoke(ctx context.Context, k *access.Keyring, p *process) (access.Key, error) {
	id := c.ID
	if id == "-" {
		line, _ := bufio.NewReader(p.stdin).ReadString('\n') // a key that is cut off is not found
		var err error
		if id, err = k.Find(line); err != nil {
			return access.Key{}, err
		}
	}
	return k.Revoke(ctx, id)
}

type rotateKeyCmd struct {
	keyFlags
	ID      string        `arg:"" help:"The key's id."`
	Overlap time.Duration `default:"24h" help:"How long the one before it goes on working."`
}

// Run rotates.
func (c *rotateKeyCmd) Run(ctx context.Context, p *process) error {
	if c.Overlap < 0 || c.Overlap > 90*24*time.Hour {
		return fault.New(fault.Invalid, "--overlap %v must be from 0 to 2160h, which is 90 days", c.Overlap)
	}
	k, end, err := c.keyring(ctx)
	if err != nil {
		return err
	}
	key, raw, err := k.Rotate(ctx, c.ID, c.Overlap)
	if err := joinClose(err, end); err != nil {
		return err
	}
	return tellKey(p, key, raw)
}

type listKeysCmd struct {
	keyFlags
	Format string `default:"table" enum:"table,json" help:"table for people, json (one object a line) for programs."`
}

// Run lists.
func (c *listKeysCmd) Run(ctx context.Context, p *process) error {
	k, end, err := c.keyring(ctx)
	if err != nil {
		return err
	}
	keys, err := k.List(ctx)
	if err := joinClose(err, end); err != nil {
		return err
	}
	now := time.Now()
	if c.Format == "json" {
		out := json.NewEncoder(p.stdout)
		for _, key := range keys {
			if err := out.Encode(newKeyLine(key, now)); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tPLAN\tSTATE\tSCOPES\tNETWORKS\tCREATED\tEXPIRES\tLAST USED")
	for _, key := range keys {
		l := newKeyLine(key, now)
		fmt.Fprintln(table, strings.Join([]string{
			l.ID, orDash(l.Name), l.Plan, l.State, strings.Join(l.Scopes, ","), orDash(strings.Join(l.Networks, ",")),
			day(&l.CreatedAt), day(l.ExpiresAt), minute(l.LastUsedAt),
		}, "\t"))
	}
	return table.Flush()
}

// keyLine is a key as it is listed.
type keyLine struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Plan        string     `json:"plan"`
	State       string     `json:"state"`
	Scopes      []string   `json:"scopes"`
	Networks    []string   `json:"networks"`
	CreatedAt   time.Time  `json:"created_at"`
	ExpiresAt   *time.Time `json:"expires_at"`
	Overlap     *time.Time `json:"overlap_until"` // while a rotation lasts
	RevokedAt   *time.Time `json:"revoked_at"`
	FirstUsedAt *time.Time `json:"first_used_at"`
	LastUsedAt  *time.Time `json:"last_used_at"`
}

func newKeyLine(k access.ListedKey, now time.Time) keyLine {
	networks := make([]string, 0, len(k.Networks))
	for _, n := range k.Networks {
		networks = append(networks, n.String())
	}
	return keyLine{
		ID: k.ID, Name: k.Name, Plan: k.Plan, State: k.State(now), Scopes: k.Scopes.Names(), Networks: networks, CreatedAt: k.CreatedAt,
		ExpiresAt: orNull(k.ExpiresAt), Overlap: orNull(k.OverlapEnds(now)), RevokedAt: orNull(k.RevokedAt), FirstUsedAt: orNull(k.First), LastUsedAt: orNull(k.Last),
	}
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func day(t *time.Time) string { return formatted(t, time.DateOnly) }

func minute(t *time.Time) string { return formatted(t, "2006-01-02 15:04") }

func formatted(t *time.Time, layout string) string {
	if t == nil {
		return "-"
	}
	return t.In(disclosure.Madrid).Format(layout)
}

// parseExpiry reads a date, whose end it means, or a time from now.
func parseExpiry(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, disclosure.Madrid); err == nil {
		return t.AddDate(0, 0, 1).UTC(), nil
	}
	const most = 100 * 365 // days
	d, err := time.ParseDuration(s)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(min(n, most+1)) * 24 * time.Hour
	}
	if err != nil || d <= 0 || d > most*24*time.Hour {
		return time.Time{}, fault.New(fault.Invalid, "--expires %q must be a date to come, such as 2027-06-30, or a time from now, such as 90d or 12h", s)
	}
	return now.Add(d).UTC().Truncate(time.Second), nil
}
