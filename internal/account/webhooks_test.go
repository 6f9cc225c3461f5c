package account_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/account"
	"pregon/internal/account/accounttest"
	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
)

// webhook makes a webhook.
func (w world) webhook(by access.Principal, path string) account.Webhook {
	w.t.Helper()
	h, err := w.Account.CreateWebhook(w.t.Context(), by, account.WebhookDraft{URL: new("http://127.0.0.1:1/" + path)})
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

// A key, and a session that was opened with it, manages the webhooks that were made with
// it or with a key below. For others there are no other webhooks. A webhook pauses with
// its key, and the account adopts it, unless it has another address than was seen.
func TestWebhooksOfKeys(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	ana := w.person("ana", false)
	desk, deskKey := w.make(ana, "desk")
	export, exportKey := w.make(desk, "export")
	sibling, siblingKey := w.make(ana, "sibling")
	made := map[string]account.Webhook{}
	for name, by := range map[string]access.Principal{"ana": ana, "desk": desk, "export": export, "sibling": sibling} {
		made[name] = w.webhook(by, name)
	}
	if made["ana"].Key != nil || *made["desk"].Key != deskKey.ID || *made["export"].Key != exportKey.ID {
		t.Errorf("%+v", made)
	}
	operations := map[string]func(ctx context.Context, by access.Principal, id string) error{
		"get": func(ctx context.Context, by access.Principal, id string) error {
			_, err := w.Account.Webhook(ctx, by, id)
			return err
		},
		"rotate": func(ctx context.Context, by access.Principal, id string) error {
			_, err := w.Account.RotateWebhook(ctx, by, id)
			return err
		},
		"test": func(ctx context.Context, by access.Principal, id string) error {
			_, err := w.Account.TestWebhook(ctx, by, id)
			return err
		},
		"delete": w.Account.DeleteWebhook,
		"change": func(ctx context.Context, by access.Principal, id string) error {
			_, err := w.Account.ChangeWebhook(ctx, by, id, account.WebhookDraft{})
			return err
		},
		"adopt": func(ctx context.Context, by access.Principal, id string) error {
			_, err := w.Account.AdoptWebhook(ctx, by, id, account.Adoption{})
			return err
		},
		"deliveries": func(ctx context.Context, by access.Principal, id string) error {
			_, err := w.Account.ListDeliveries(ctx, by, id, account.DeliveryPage{Limit: 1})
			return err
		},
		"redeliver": func(ctx context.Context, by access.Principal, id string) error {
			_, err := w.Account.Redeliver(ctx, by, id, account.Redelivery{Seq: new(int64(1))})
			return err
		},
	}
	for _, c := range []struct {
		by   access.Principal
		sees []string
	}{
		{ana, []string{"ana", "desk", "export", "sibling"}},
		{desk, []string{"desk", "export"}},
		{w.withKey(deskKey), []string{"desk", "export"}},
		{export, []string{"export"}},
		{w.withKey(exportKey), []string{"export"}},
		{sibling, []string{"sibling"}},
		{w.withKey(siblingKey), []string{"sibling"}},
	} {
		list, err := w.Account.ListWebhooks(ctx, c.by)
		w.is(err, none, "list")
		var got []string
		for _, h := range list.Data {
			got = append(got, h.URL[strings.LastIndex(h.URL, "/")+1:])
		}
		slices.Sort(got)
		if !slices.Equal(got, c.sees) {
			t.Errorf("the list has %v, want %v", got, c.sees)
		}
		for name, h := range made {
			if slices.Contains(c.sees, name) {
				w.is(operations["get"](ctx, c.by, h.ID), none, "get")
				continue
			}
			for what, do := range operations {
				const unknown = "wh_0000000000000000"
				hidden, missing := do(ctx, c.by, h.ID), do(ctx, c.by, unknown)
				w.is(hidden, fault.NotFound, what)
				if hidden != nil && strings.ReplaceAll(hidden.Error(), h.ID, unknown) != missing.Error() {
					t.Errorf("%s: %v, want %v", what, hidden, missing)
				}
			}
		}
	}
	id := made["export"].ID
	w.is(w.Account.RevokeKey(ctx, ana, deskKey.ID), none, "revoke the key above")
	if read, err := w.Account.Webhook(ctx, ana, id); err != nil || read.PausedReason == nil || !strings.Contains(*read.PausedReason, exportKey.ID) || !read.Enabled {
		t.Errorf("after the key was revoked: %+v, %v", read, err)
	}
	for _, seen := range []string{"http://127.0.0.1:1/before", ""} {
		_, err := w.Account.AdoptWebhook(ctx, ana, id, account.Adoption{URL: &seen})
		w.is(err, fault.Conflict, "another address")
	}
	for _, seen := range []*string{new("http://127.0.0.1:1/export"), nil} {
		read, err := w.Account.AdoptWebhook(ctx, ana, id, account.Adoption{URL: seen})
		if err != nil || read.Key != nil || read.PausedReason != nil || !read.Enabled || read.Secret != nil {
			t.Errorf("adopted: %+v, %v", read, err)
		}
	}
}

// A caller selects only events that it may read, in a draft and when it sends again.
func TestScopesOfWebhooks(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	reports := w.FirstKey(access.Key{Plan: "pro", Scopes: access.ReadReports})
	made := w.webhook(reports, "x")
	if slices.Contains(made.Events, "issuer.updated") || len(made.Events) == 0 {
		t.Errorf("without events: %v", made.Events)
	}
	issuers := new([]string{"issuer.updated"})
	_, err := w.Account.CreateWebhook(ctx, reports, account.WebhookDraft{URL: new("http://127.0.0.1:1/"), Events: issuers})
	w.is(err, fault.Forbidden, "create")
	_, err = w.Account.ChangeWebhook(ctx, reports, made.ID, account.WebhookDraft{Events: issuers})
	w.is(err, fault.Forbidden, "change")
	_, err = w.Account.ChangeWebhook(ctx, reports, made.ID, account.WebhookDraft{Events: issuers, Enabled: new(false)})
	w.is(err, none, "change what is disabled")
	_, err = w.Account.ChangeWebhook(ctx, reports, made.ID, account.WebhookDraft{Enabled: new(true)})
	w.is(err, fault.Forbidden, "enable")
	_, err = w.Account.ChangeWebhook(ctx, reports, made.ID, account.WebhookDraft{Events: new([]string{"nonsense"})})
	w.is(err, fault.Invalid, "an unknown event")
}

func TestDeliveries(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	ana := w.person("ana", false)
	made := w.webhook(ana, "x")
	for _, asked := range []account.Redelivery{{}, {Seq: new(int64(1)), Since: new(int64(1))}, {Since: new(int64(-1))}} {
		_, err := w.Account.Redeliver(ctx, ana, made.ID, asked)
		w.is(err, fault.Invalid, "neither one change nor all after one")
	}
	sent, err := w.Account.Redeliver(ctx, ana, made.ID, account.Redelivery{Since: new(int64(0))})
	w.is(err, none, "redeliver")
	list, err := w.Account.ListDeliveries(ctx, ana, made.ID, account.DeliveryPage{State: "pending", Limit: 50})
	if err != nil || len(list.Data) != sent.Queued || sent.Queued == 0 || list.Data[0].DueAt == nil {
		t.Errorf("%d queued, listed %+v, %v", sent.Queued, list, err)
	}
	p := query.NewParams(map[string][]string{"state": {"odd"}, "limit": {"51"}, "before": {"x"}})
	account.ReadDeliveryPage(p)
	if e, ok := p.Err().(*fault.Error); !ok || len(e.Fields) != 3 {
		t.Errorf("three mistakes: %v", p.Err())
	}
}

// A webhook and a preview need the catalogue, and keys do not.
func TestBeforeTheCatalogueIsLoaded(t *testing.T) {
	w := world{accounttest.Empty(t), t}
	ana := w.person("ana", false)
	_, err := w.Account.CreateWebhook(t.Context(), ana, account.WebhookDraft{URL: new("http://127.0.0.1:1/")})
	w.is(err, fault.Unavailable, "a webhook")
	_, err = w.Account.Preview(t.Context(), ana, account.Selection{})
	w.is(err, fault.Unavailable, "a preview")
	w.make(ana, "key")
}

func TestPreview(t *testing.T) {
	w := start(t)
	ana := w.person("ana", false)
	found, err := w.Account.Preview(t.Context(), ana, account.Selection{})
	if err != nil || len(found.Days) != 30 || len(found.Samples) != min(5, found.Total) {
		t.Errorf("%+v, %v", found, err)
	}
	for _, bad := range []account.Selection{
		{Events: []string{"x"}},
		{Filter: query.FilterBody{Kind: "x"}},
		{Filter: query.FilterBody{Search: strings.Repeat("de ", 33)}},
	} {
		_, err := w.Account.Preview(t.Context(), ana, bad)
		w.is(err, fault.Invalid, "a selection that is not valid")
	}
}

// A caller without the scope of issuers sees no position in a preview and cannot make a
// webhook for positions. The filter and the events of a webhook must agree, also if a
// change has only one of them.
func TestWebhooksOfPositions(t *testing.T) {
	w := start(t)
	b := querytest.Positions()
	for i := range b.Positions {
		b.Positions[i].RegisteredOn = disclosure.DayOf(time.Now()).String()
	}
	querytest.Append(t, w.Store, w.Catalog, b)
	ana := w.person("ana", false)
	limited := ana
	limited.Scope = access.ReadReports
	names := []string{"position.published"}
	dealings := query.FilterBody{Position: "dealing"}
	asked := account.Selection{Events: names, Filter: dealings}
	if found, err := w.Account.Preview(t.Context(), ana, asked); err != nil || found.Total != 4 || len(found.Samples) != 4 {
		t.Errorf("a preview: %+v, %v", found, err)
	}
	_, err := w.Account.Preview(t.Context(), limited, asked)
	w.is(err, fault.Forbidden, "a preview without the scope")
	both := account.Selection{Events: []string{"report.published", "position.published"}}
	if found, err := w.Account.Preview(t.Context(), limited, both); err != nil || len(found.Positions) > 0 {
		t.Errorf("a preview without the scope: %+v, %v", found, err)
	}
	draft := account.WebhookDraft{URL: new("http://127.0.0.1:1/x"), Events: &names, Filter: &dealings}
	_, err = w.Account.CreateWebhook(t.Context(), limited, draft)
	w.is(err, fault.Forbidden, "a webhook without the scope")
	h, err := w.Account.CreateWebhook(t.Context(), ana, draft)
	if err != nil || h.Filter != dealings {
		t.Fatalf("%+v, %v", h, err)
	}
	for what, change := range map[string]account.WebhookDraft{
		"events of reports":    {Events: &[]string{"report.published"}},
		"no events":            {Events: &[]string{}},
		"a filter for reports": {Filter: &query.FilterBody{Type: "IP"}},
		"a filter for nothing": {Filter: &query.FilterBody{Position: "dealing", MinPercent: "5"}},
	} {
		_, err := w.Account.ChangeWebhook(t.Context(), ana, h.ID, change)
		w.is(err, fault.Invalid, what)
	}
	_, err = w.Account.CreateWebhook(t.Context(), ana, account.WebhookDraft{URL: draft.URL, Filter: &dealings})
	w.is(err, fault.Invalid, "the default events")
	changed, err := w.Account.ChangeWebhook(t.Context(), ana, h.ID, account.WebhookDraft{
		Events: &[]string{"report.published"},
		Filter: &query.FilterBody{Type: "IP"},
	})
	if err != nil || changed.Filter.Position != "" || changed.Events[0] != "report.published" {
		t.Errorf("both at once: %+v, %v", changed, err)
	}
}
