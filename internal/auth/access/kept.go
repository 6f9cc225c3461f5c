package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"pregon/internal/fault"
)

// AdmitKept is Admit for a request that has, in place of a credential, a text for which the
// caller was kept, such as the ticket of a stream. The caller has the rights that its credential
// has now, and the request must come from an address that may use the credential. The error of
// find is treated as that of a credential: it is Unavailable, or says what is wrong with the text.
func (g *Guard) AdmitKept(
	w http.ResponseWriter,
	r *http.Request,
	need Requirement,
	find func(context.Context) (Principal, error),
) (Principal, error) {
	from := g.o.Proxies.Client(r)
	c, err := credentialOf(r)
	if err == nil && c != (credential{}) {
		err = fault.New(fault.Invalid, "A request may carry one credential: leave out the ticket, or the header "+
			"with the key or token.")
	}
	if err != nil {
		return Principal{}, g.refuse(w, r, from, need, err)
	}
	kept, err := find(r.Context())
	var p Principal
	if err == nil {
		p, err = g.renew(r.Context(), kept, from)
	}
	if fault.KindOf(err) == fault.Unavailable { // it may be valid
		g.o.Observe("unavailable")
		return Principal{}, err
	}
	if err != nil {
		return Principal{}, g.refuse(w, r, from, need, err)
	}
	if err := g.countPlan(w.Header(), r, p); err != nil {
		return Principal{}, err
	}
	return p, g.Authorize(w, p, need)
}

// renew returns a caller that was kept, with the rights that its credential has now.
func (g *Guard) renew(ctx context.Context, kept Principal, from netip.Addr) (p Principal, err error) {
	switch {
	case reached(kept.Expires, time.Now()):
		err = errors.New("it has expired")
	case kept.Mode == ByKey:
		var f foundKey
		if f, err = g.o.Keys.again(ctx, kept, from); err == nil {
			p = f.principal()
		}
	case kept.Mode == ByToken && g.o.Signs != nil && !g.o.Signs(kept.SigningKey):
		err = errors.New("the key that signed it is not in use any more")
	case kept.Mode == ByToken:
		p, err = g.withOwner(ctx, kept, from)
	default:
		err = errors.New("it is neither a key nor a token")
	}
	if err != nil && fault.KindOf(err) != fault.Unavailable {
		err = fmt.Errorf("the key or token that created this ticket is not valid: %w", err)
	}
	return p, err
}
