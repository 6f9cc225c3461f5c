package signin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
	"pregon/internal/text"
)

// attempts limits how often one may try to sign in. A limit that is nil refuses nothing.
type attempts struct {
	refused   ratelimit.Limiter // failures of an address
	byAddress ratelimit.Limiter // sign-ins with a key from an address
	byKey     ratelimit.Limiter // sign-ins with the same key
	audit     access.Audit
	limits    *access.LimitAudit
}

// attempt is an attempt to sign in that a limit decides on.
type attempt struct {
	limit   string            // its name
	of      ratelimit.Subject // for which it is counted
	from    netip.Addr
	key     string // empty if it is not known
	message string // of the refusal
}

// admit returns an error if too many attempts of an address failed.
func (a *attempts) admit(ctx context.Context, w http.ResponseWriter, from netip.Addr) error {
	return a.check(ctx, w, a.refused, ratelimit.Limiter.Peek, attempt{
		limit:   "signin",
		of:      ratelimit.Address(from),
		from:    from,
		message: "Too many attempts to sign in from this address failed.",
	})
}

// admitAddress counts a sign-in with a key for its address. It returns an error if that
// is over the limit, or if too many attempts of the address failed.
func (a *attempts) admitAddress(ctx context.Context, w http.ResponseWriter, from netip.Addr) error {
	if err := a.admit(ctx, w, from); err != nil {
		return err
	}
	return a.check(ctx, w, a.byAddress, ratelimit.Limiter.Take, attempt{
		limit:   "signin-address",
		of:      ratelimit.Address(from),
		from:    from,
		message: "There were too many sign-ins with keys from this address.",
	})
}

// admitKey counts a sign-in for its key, and returns an error if it is over the limit.
// The caller has found the key: only who has it is counted, so that nobody else can lock
// its holders out.
func (a *attempts) admitKey(ctx context.Context, w http.ResponseWriter, from netip.Addr, key string) error {
	return a.check(ctx, w, a.byKey, ratelimit.Limiter.Take, attempt{
		limit:   "signin-key",
		of:      ratelimit.Name(key),
		from:    from,
		key:     key,
		message: "There were too many sign-ins with this key.",
	})
}

// check asks a limit, if there is one. It returns an error for an attempt over it, and
// records that in the audit.
func (a *attempts) check(
	ctx context.Context,
	w http.ResponseWriter,
	limit ratelimit.Limiter,
	ask func(ratelimit.Limiter, context.Context, ratelimit.Subject) ratelimit.Decision,
	by attempt,
) error {
	if limit == nil {
		return nil
	}
	d := ask(limit, ctx, by.of)
	if d.OK {
		return nil
	}
	attrs := []slog.Attr{slog.String("client_ip", by.from.String())}
	if by.key != "" {
		attrs = append(attrs, slog.String("key", by.key))
	}
	a.limits.Record(ctx, by.limit, string(by.of[:]), attrs...)
	w.Header().Set("Retry-After", d.RetryAfter())
	return fault.New(fault.RateLimited, "%s Wait as long as Retry-After says.", by.message)
}

// textError is an error whose text has known parts.
type textError interface {
	error
	Parts() fault.Text
}

// refuse counts and audits a failed attempt. The reason is shown.
func (a *attempts) refuse(ctx context.Context, from netip.Addr, how string, reason error) error {
	if a.refused != nil {
		a.refused.Take(ctx, ratelimit.Address(from))
	}
	if a.audit != nil {
		a.audit(ctx, "signin.refused", slog.String("provider", how), slog.String("reason", reason.Error()),
			slog.String("client_ip", from.String()))
	}
	refusal := fault.New(fault.Forbidden, "%s", text.Sentence(reason.Error()))
	if e, ok := errors.AsType[textError](reason); ok {
		refusal.Text = e.Parts()
	}
	return refusal
}
