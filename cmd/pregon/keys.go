package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/cli"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/service/authorization"
	"pregon/internal/store/engine"
)

type keysCmd struct {
	Create createKeyCmd `cmd:"" help:"Create a key and print it. It is not shown again."`
	List   listKeysCmd  `cmd:"" help:"List all keys with their names, scopes and last use."`
	Revoke revokeKeyCmd `cmd:"" help:"Revoke a key permanently. All replicas refuse it within two seconds."`
	Rotate rotateKeyCmd `cmd:"" help:"Replace a key and print the new one. Its id stays the same, and the previous key stays valid for a while."`
}

// auditFlag is embedded by every command that changes or decides on access.
type auditFlag struct {
	AuditLog string `placeholder:"FILE" help:"File to which security events are appended, as JSON Lines. Serve writes them to its log too, and opens the file again on SIGHUP."`
}

// adminFlags are embedded by commands that change keys and webhooks.
type adminFlags struct {
	storeFlag
	auditFlag
}

// with calls do with the store, which must exist, and the audit log.
func (f *adminFlags) with(ctx context.Context, do func(engine.Store, access.Audit) error) (err error) {
	db, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	audit, file, err := authorization.OpenAudit(f.AuditLog, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return do(db, audit)
}

// withKeys calls do with the keys of the store.
func (f *adminFlags) withKeys(ctx context.Context, do func(*access.Keyring) error) error {
	return f.with(ctx, func(db engine.Store, audit access.Audit) error {
		k := access.NewKeyring(db, audit)
		if err := k.Refresh(ctx); err != nil {
			return err
		}
		return do(k)
	})
}

type createKeyCmd struct {
	adminFlags
	Plan     string        `required:"" enum:"pro,enterprise,operator" help:"Plan of the holder: pro or enterprise; or operator, who may also see all accounts and end their access."`
	Name     string        `placeholder:"TEXT" help:"Name of the holder, for your own use."`
	Scopes   []string      `name:"scope" placeholder:"read:reports|read:issuers|read:analytics" help:"Scope of the key: read:reports, read:issuers or read:analytics. May be repeated. Default: all of them."`
	Expires  string        `placeholder:"WHEN" help:"When the key expires: a date (2027-06-30 means the end of that day in Madrid) or a time from now (90d, 12h). Default: never."`
	Networks []cli.Network `name:"network" placeholder:"CIDR" help:"Network from which it may be used, such as 203.0.113.0/24. May be repeated. Default: anywhere."`
}

// Run prints the key alone to standard output, so that it can be piped, and a note
// about it to standard error.
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
	return c.withKeys(ctx, func(k *access.Keyring) error {
		key, raw, err := k.Create(ctx, key)
		if err != nil {
			return err
		}
		return printKey(p, key, raw)
	})
}

func printKey(p *process, key access.Key, raw string) error {
	fmt.Fprintf(p.stderr, "%s: keep it safe, it is not shown again; pregon keys revoke %s ends it\n", key.ID, key.ID)
	_, err := fmt.Fprintln(p.stdout, raw)
	return err
}

type revokeKeyCmd struct {
	adminFlags
	ID string `arg:"" help:"The key's id, or - to read the key itself from standard input, such as a leaked key."`
}

// Run revokes the key.
func (c *revokeKeyCmd) Run(ctx context.Context, p *process) error {
	return c.withKeys(ctx, func(k *access.Keyring) (err error) {
		if c.ID == "-" {
			line, _ := bufio.NewReader(p.stdin).ReadString('\n') // a key that is cut off is not found
			if c.ID, err = k.Find(line); err != nil {
				return err
			}
		}
		if _, err := k.Revoke(ctx, c.ID); err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stderr, "%s is revoked\n", c.ID)
		return err
	})
}

type rotateKeyCmd struct {
	adminFlags
	ID      string        `arg:"" help:"The key's id."`
	Overlap time.Duration `default:"24h" help:"How long the previous key stays valid."`
}

// Run rotates the key.
func (c *rotateKeyCmd) Run(ctx context.Context, p *process) error {
	if c.Overlap < 0 || c.Overlap > 90*24*time.Hour {
		return fault.New(fault.Invalid, "--overlap %v must be from 0 to 2160h, which is 90 days", c.Overlap)
	}
	return c.withKeys(ctx, func(k *access.Keyring) error {
		key, raw, err := k.Rotate(ctx, c.ID, c.Overlap)
		if err != nil {
			return err
		}
		return printKey(p, key, raw)
	})
}

type listKeysCmd struct {
	adminFlags
	Format string `default:"table" enum:"table,json" help:"table for people, json (one object a line) for programs."`
}

// Run lists the keys.
func (c *listKeysCmd) Run(ctx context.Context, p *process) error {
	var lines []keyLine
	if err := c.withKeys(ctx, func(k *access.Keyring) error {
		keys, err := k.List(ctx)
		for _, key := range keys {
			lines = append(lines, newKeyLine(key, time.Now()))
		}
		return err
	}); err != nil {
		return err
	}
	const header = "ID\tNAME\tPLAN\tSTATE\tSCOPES\tNETWORKS\tCREATED\tEXPIRES\tLAST USED\tOWNER"
	return cli.PrintList(p.stdout, lines, c.Format == "json", header, func(l keyLine) []string {
		return []string{
			l.ID, l.Name, l.Plan, l.State, strings.Join(l.Scopes, ","), strings.Join(l.Networks, ","),
			day(&l.CreatedAt), day(l.ExpiresAt), minute(l.LastUsedAt), l.Owner,
		}
	})
}

// keyLine is a key in the list.
type keyLine struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Plan        string     `json:"plan"`
	State       string     `json:"state"`
	Scopes      []string   `json:"scopes"`
	Networks    []string   `json:"networks"`
	CreatedAt   time.Time  `json:"created_at"`
	ExpiresAt   *time.Time `json:"expires_at"`
	Overlap     *time.Time `json:"overlap_until"` // during a rotation
	RevokedAt   *time.Time `json:"revoked_at"`
	FirstUsedAt *time.Time `json:"first_used_at"`
	LastUsedAt  *time.Time `json:"last_used_at"`
	Owner       string     `json:"owner"` // the account that it belongs to
}

func newKeyLine(k access.ListedKey, now time.Time) keyLine {
	networks := make([]string, 0, len(k.Networks))
	for _, n := range k.Networks {
		networks = append(networks, n.String())
	}
	return keyLine{
		ID:          k.ID,
		Name:        k.Name,
		Plan:        k.Plan,
		State:       k.State(now),
		Scopes:      k.Scopes.Names(),
		Networks:    networks,
		CreatedAt:   k.CreatedAt,
		ExpiresAt:   orNull(k.ExpiresAt),
		Overlap:     orNull(k.OverlapEnds(now)),
		RevokedAt:   orNull(k.RevokedAt),
		FirstUsedAt: orNull(k.First),
		LastUsedAt:  orNull(k.Last),
		Owner:       k.Account(),
	}
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func day(t *time.Time) string { return formatted(t, time.DateOnly) }

func minute(t *time.Time) string { return formatted(t, "2006-01-02 15:04") }

func formatted(t *time.Time, layout string) string {
	if t == nil {
		return ""
	}
	return t.In(disclosure.Madrid).Format(layout)
}

// parseExpiry parses a date, which means the end of that day, or a duration.
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
		return time.Time{}, fault.New(fault.Invalid, "--expires %q must be a date in the future, such as "+
			"2027-06-30, or a time from now, such as 90d or 12h", s)
	}
	return now.Add(d).UTC().Truncate(time.Second), nil
}
