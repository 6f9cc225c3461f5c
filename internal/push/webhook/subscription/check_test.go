package subscription_test

import (
	"errors"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/server/outbound/outboundtest"
)

func TestBadDrafts(t *testing.T) {
	n := &outboundtest.Names{}
	p := newWorld(t).process(t, func(o *subscription.Options) {
		o.AllowPrivate = false
		o.Resolver = n.Resolver(t)
	})
	good := subscription.Draft{URL: "https://hook.example.com/x?token=hunter2"}
	for name, c := range map[string]struct {
		change      func(*subscription.Draft)
		addrs       []string
		field, says string
	}{
		"no address":      {func(d *subscription.Draft) { d.URL = "" }, nil, "url", "https://"},
		"http":            {func(d *subscription.Draft) { d.URL = "http://hook.example.com/" }, nil, "url", "https://"},
		"private":         {func(d *subscription.Draft) { d.URL = "https://10.0.0.1/" }, nil, "url", "private"},
		"long":            {func(d *subscription.Draft) { d.URL += strings.Repeat("x", 2000) }, nil, "url", "2000"},
		"not found":       {func(*subscription.Draft) {}, nil, "url", "hook.example.com was not found"},
		"leads inside":    {func(*subscription.Draft) {}, []string{"93.184.216.34", "127.0.0.1"}, "url", "does not lead to a public address"},
		"metadata":        {func(*subscription.Draft) {}, []string{"169.254.169.254"}, "url", "does not lead to a public address"},
		"description":     {func(d *subscription.Draft) { d.Description = strings.Repeat("ñ", 501) }, nil, "description", "500"},
		"odd description": {func(d *subscription.Draft) { d.Description = "a\x1b" }, nil, "description", "plain"},
		"event":           {func(d *subscription.Draft) { d.Events = []disclosure.Event{"report.eaten"} }, nil, "events", "report.published"},
	} {
		t.Run(name, func(t *testing.T) {
			n.Set(c.addrs...)
			d := good
			c.change(&d)
			_, _, err := p.Create(t.Context(), owner, d)
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Kind != fault.Invalid || len(e.Fields) != 1 || e.Fields[0].Name != c.field || !strings.Contains(e.Fields[0].Reason, c.says) || len(c.addrs) > 0 && strings.Contains(err.Error(), c.addrs[len(c.addrs)-1]) || strings.Contains(e.Fields[0].Value, "hunter2") {
				t.Errorf("%+v", err)
			}
		})
	}
	n.Set("93.184.216.34")
	hook, _, err := p.Create(t.Context(), owner, good)
	if err != nil {
		t.Fatal(err)
	}
	n.Set("10.1.2.3")
	_, err = p.Update(t.Context(), owner, hook.ID, func(d *subscription.Draft) error { d.URL = "https://other.example.com/"; return nil })
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("an update to a private address: %v", err)
	}
}

func TestFilterBounds(t *testing.T) {
	p := newWorld(t).process(t, nil)
	draft := func(search string) subscription.Draft {
		return subscription.Draft{URL: address, Enabled: true, Filter: disclosure.Filter{Search: search}}
	}
	for name, search := range map[string]string{
		"501 characters": strings.Repeat("ñ", 501),
		"33 words":       strings.Repeat("de ", 33),
		"33 in one":      strings.Repeat("aa,", 33),
	} {
		if _, _, err := p.Create(t.Context(), owner, draft(search)); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "at most") {
			t.Errorf("%s: %v", name, err)
		}
	}
	first, _, err := p.Create(t.Context(), owner, draft(strings.Repeat("de ", 32)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Update(t.Context(), owner, first.ID, func(d *subscription.Draft) error { d.Filter.Search = strings.Repeat("ñ", 501); return nil })
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("a change to 501 characters: %v", err)
	}
	if _, _, err := p.Create(t.Context(), owner, draft("abcd")); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("ñ", 500)
	for n := 0; ; n++ {
		_, _, err := p.Create(t.Context(), owner, draft(long))
		if err == nil && n < subscription.MostPerAccount {
			continue
		}
		if n != (subscription.LongestFilters-100)/500 || fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "of all your webhooks") {
			t.Errorf("after %d long filters: %v", n, err)
		}
		break
	}
	_, err = p.Update(t.Context(), owner, first.ID, func(d *subscription.Draft) error { d.Filter.Search = long; return nil })
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("a change that is too much together: %v", err)
	}
	if _, _, err := p.Create(t.Context(), other, draft(long)); err != nil {
		t.Errorf("another owner: %v", err)
	}
}
