package account_test

import (
	"strings"
	"testing"
	"time"

	"pregon/internal/account"
	"pregon/internal/account/accounttest"
	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/store"
)

func TestProfile(t *testing.T) {
	w := start(t)
	ana := w.person("ana", false)
	got := w.Account.Profile(ana)
	if got.ID != ana.ID || got.Email != "ana@example.com" || got.Provider != "corp" || got.CreatedAt == nil || got.SignedInAt == nil ||
		got.Credential != (account.Credential{Mode: "session", ID: ana.Credential}) {
		t.Errorf("the account of a person: %+v", got)
	}
	if n := got.Limits.RequestsPerMinute; n == nil || *n != 1000 {
		t.Errorf("the limit of the plan: %v", n)
	}
	withKey, made := w.make(ana, "export", "read:issuers")
	if got := w.Account.Profile(withKey); got.ID != ana.ID || got.Email != "ana@example.com" || len(got.Scopes) != 1 || got.Credential.ID != made.ID {
		t.Errorf("the account of a person by key: %+v", got)
	}
	desk := w.FirstKey(access.Key{Name: "desk", Plan: "pro", Scopes: access.AllScopes})
	if got := w.Account.Profile(desk); got.ID != desk.ID || got.Name != "desk" || got.CreatedAt == nil || got.SignedInAt != nil {
		t.Errorf("the account of a key before the first sign-in: %+v", got)
	}
}

func TestSessionsAndApplications(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	ana, again, bea := w.person("ana", false), w.person("ana", false), w.person("bea", false)
	list, err := w.Account.ListSessions(ctx, ana, "")
	if err != nil || len(list.Sessions) != 2 || !list.Sessions[0].Current || list.Sessions[1].Current {
		t.Errorf("%+v, %v", list, err)
	}
	w.is(w.Account.EndSession(ctx, bea, "", again.Credential), fault.NotFound, "the session of another")
	w.is(w.Account.EndSession(ctx, ana, "", again.Credential), none, "end")
	w.is(w.Account.EndSession(ctx, ana, "", again.Credential), fault.NotFound, "end again")
	w.is(w.Account.EndSessions(ctx, ana, ""), none, "end all")
	if list, _ := w.Account.ListSessions(ctx, ana, ""); len(list.Sessions) != 0 {
		t.Errorf("left are %+v", list)
	}
	first := w.FirstKey(access.Key{Plan: "pro", Scopes: access.AllScopes})
	w.is(w.Account.EndSessions(ctx, first, ""), none, "nobody has signed in")

	app := w.Grant(bea.ID, "Desk")
	apps, err := w.Account.ListApplications(ctx, bea, "")
	if err != nil || len(apps.Applications) != 1 || apps.Applications[0].Name != "Desk" || apps.Applications[0].ID != app {
		t.Errorf("%+v, %v", apps, err)
	}
	w.is(w.Account.RevokeApplication(ctx, ana, "", app), fault.NotFound, "the application of another")
	w.is(w.Account.RevokeApplication(ctx, bea, "", app), none, "revoke")
	w.is(w.Account.RevokeApplication(ctx, bea, "", app), fault.NotFound, "revoke again")
}

// Sessions, applications and figures of use are for the person, or the first key of an
// account. Other keys learn what to use.
func TestKeysDoNotManageTheAccount(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	ana := w.person("ana", false)
	root := w.FirstKey(access.Key{Name: "root", Plan: "pro", Scopes: access.AllScopes})
	ofAna, anaKey := w.make(ana, "export")
	ofRoot, childKey := w.make(root, "child")
	for _, c := range []struct {
		by  access.Principal
		use string // what the answer names
	}{
		{ofAna, "sign in without a key"},
		{w.withKey(anaKey), "sign in without a key"},
		{ofRoot, root.ID},
		{w.withKey(childKey), root.ID},
	} {
		_, sessions := w.Account.ListSessions(ctx, c.by, "")
		_, apps := w.Account.ListApplications(ctx, c.by, "")
		_, usage := w.Account.UsageOf(ctx, c.by, "", account.LatestUsage())
		for _, err := range []error{
			sessions, apps, usage,
			w.Account.EndSessions(ctx, c.by, ""),
			w.Account.EndSession(ctx, c.by, "", ana.Credential),
			w.Account.RevokeApplication(ctx, c.by, "", "grant_x"),
		} {
			w.is(err, fault.Forbidden, c.by.Key)
			if err != nil && !strings.Contains(err.Error(), c.use) {
				t.Errorf("%v does not name %s", err, c.use)
			}
		}
	}
	_, err := w.Account.ListSessions(ctx, root, "")
	w.is(err, none, "the first key")
}

// Operators see and end what belongs to others, and get no secrets of it. Nobody else
// may name another account.
func TestOperators(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	ana, ops := w.person("ana", false), w.person("ops", true)
	root := w.FirstKey(access.Key{Name: "root", Plan: access.OperatorPlan, Scopes: access.AllScopes})
	withKey, key := w.make(ana, "export")
	app := w.Grant(ana.ID, "Desk")
	if _, err := w.Account.CreateWebhook(ctx, withKey, account.WebhookDraft{URL: new("http://127.0.0.1:1/")}); err != nil {
		t.Fatal(err)
	}
	for _, operator := range []access.Principal{ops, root} {
		list, err := w.Account.ListAccounts(ctx, operator, account.Page{Number: 1, Limit: 500})
		if err != nil || len(list.Accounts) != 3 || list.Total != 3 {
			t.Errorf("%+v, %v", list, err)
		}
		got, err := w.Account.Account(ctx, operator, ana.ID)
		if err != nil || got.Email != "ana@example.com" || got.Keys != 1 || got.Webhooks != 1 || got.Applications != 1 || got.Sessions != 1 || got.Operator || got.LastUsedAt == nil {
			t.Errorf("ana: %+v, %v", got, err)
		}
		got, err = w.Account.Account(ctx, operator, root.ID)
		if err != nil || got.Name != "root" || got.Plan != access.OperatorPlan || !got.Operator || got.Keys != 1 || got.Sessions != 0 {
			t.Errorf("root: %+v, %v", got, err)
		}
	}
	second, err := w.Account.ListAccounts(ctx, ops, account.Page{Number: 2, Limit: 2})
	if err != nil || len(second.Accounts) != 1 || second.Total != 3 {
		t.Errorf("the second page: %+v, %v", second, err)
	}
	for _, page := range []account.Page{{}, {Number: -1, Limit: 2}, {Number: 1, Limit: -1}, {Number: 9, Limit: 2}} {
		if _, err := w.Account.ListAccounts(ctx, ops, page); err != nil {
			t.Errorf("%+v: %v", page, err)
		}
	}
	_, err = w.Account.Account(ctx, ops, "nobody")
	w.is(err, fault.NotFound, "an unknown account")

	_, keys := w.Account.ListKeys(ctx, ana, ops.ID)
	_, sessions := w.Account.ListSessions(ctx, ana, ops.ID)
	_, accounts := w.Account.ListAccounts(ctx, ana, account.Page{Number: 1, Limit: 1})
	_, one := w.Account.Account(ctx, ana, ops.ID)
	for what, err := range map[string]error{
		"keys":       keys,
		"sessions":   sessions,
		"accounts":   accounts,
		"account":    one,
		"block":      w.Account.Block(ctx, ana, account.Blocking{Account: ops.ID, Blocked: new(true)}),
		"session":    w.Account.EndSession(ctx, ana, ops.ID, ops.Credential),
		"all":        w.Account.EndSessions(ctx, ana, ops.ID),
		"revocation": w.Account.RevokeApplication(ctx, ana, ops.ID, app),
	} {
		w.is(err, fault.Forbidden, what+", not an operator")
	}
	if list, err := w.Account.ListSessions(ctx, ops, ""); err != nil || len(list.Sessions) != 1 {
		t.Errorf("the sessions of an operator: %+v, %v", list, err)
	}
	everyday, _ := w.make(root, "everyday") // a key that an operator makes is for everyday use
	_, err = w.Account.Account(ctx, everyday, ana.ID)
	w.is(err, fault.Forbidden, "an everyday key")

	if got := w.keys(ops, ana.ID); got["export"] != "active" || len(got) != 1 {
		t.Errorf("the keys of ana: %v", got)
	}
	_, err = w.Account.RotateKey(ctx, ops, key.ID, account.KeyRotation{})
	w.is(err, fault.Forbidden, "rotate the key of another")
	_, err = w.Account.ChangeKey(ctx, root, key.ID, account.KeyChange{Name: new("x")})
	w.is(err, fault.Forbidden, "change the key of another")
	w.is(w.Account.RevokeKey(ctx, root, key.ID), none, "revoke the key of another")
	w.is(w.Account.RevokeApplication(ctx, ops, "", app), fault.NotFound, "not of the operator's own")
	w.is(w.Account.RevokeApplication(ctx, ops, ana.ID, app), none, "revoke the application of another")
	w.is(w.Account.EndSession(ctx, ops, ana.ID, ana.Credential), none, "end the session of another")
	if got, _ := w.Account.Account(ctx, ops, ana.ID); got.Keys != 0 || got.Applications != 0 || got.Sessions != 0 {
		t.Errorf("left of ana is %+v", got)
	}
}

func TestBlocking(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	ana, ops := w.person("ana", false), w.person("ops", true)
	w.make(ana, "export")
	block := func(id string, blocked bool) error {
		return w.Account.Block(ctx, ops, account.Blocking{Account: id, Blocked: &blocked})
	}
	w.is(block(ana.ID, true), none, "block")
	if got := w.keys(ops, ana.ID)["export"]; got != "revoked" {
		t.Errorf("the key of a blocked account is %q", got)
	}
	w.is(block(ana.ID, false), none, "unblock")
	if got := w.keys(ops, ana.ID)["export"]; got != "active" {
		t.Errorf("the key of an account that is not blocked any more is %q", got)
	}
	w.is(block("nobody", true), fault.NotFound, "nobody")
	w.is(block(ops.ID, true), fault.Conflict, "oneself")
	w.is(block("key_000000000000", true), fault.Conflict, "a key")
	w.is(block("", true), fault.Invalid, "no id")
	w.is(w.Account.Block(ctx, ops, account.Blocking{Account: ana.ID}), fault.Invalid, "neither true nor false")
}

func TestUsage(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	ana := w.person("ana", false)
	today := disclosure.DayOf(time.Now())
	count := func(id string, day disclosure.Day, operation string, n int64) store.Count {
		return store.Count{Account: id, Day: day, Operation: operation, N: n}
	}
	if err := w.Store.AddCounts(ctx, "batch", count(ana.ID, today, "getReports", 3), count(ana.ID, today, "mcp", 4), count(ana.ID, today-29, "getReports", 2),
		count(ana.ID, today-30, "getReports", 100), count(accounttest.Issuer+"#bea", today, "getReports", 1000)); err != nil {
		t.Fatal(err)
	}
	got, err := w.Account.UsageOf(ctx, ana, "", account.LatestUsage())
	if err != nil || got.Total != 9 || len(got.Days) != 30 || got.Days[0].Total != 2 || got.Days[29].Operations["mcp"] != 4 ||
		len(got.Operations) != 2 || got.Operations[0] != (account.OperationUsage{Operation: "getReports", Total: 5}) {
		t.Errorf("%+v, %v", got, err)
	}
	for days, valid := range map[disclosure.Day]bool{1: true, 400: true, 401: false, 0: false} {
		p := query.NewParams(map[string][]string{"from": {(today - days + 1).String()}})
		account.ReadPeriod(p)
		if (p.Err() == nil) != valid {
			t.Errorf("%d days: %v", days, p.Err())
		}
	}
}
