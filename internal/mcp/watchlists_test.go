package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/watchlist"
)

type listedDoc struct {
	ID, Name string
	Entries  int
	Issuers  []struct{ ID, Name, Ticker string }
	More     []string
	Filters  []struct {
		Name   string
		Filter map[string]string
	}
}

// watchlistsOf calls the tool.
func (s *service) watchlistsOf(key []string, arguments string) (lists []listedDoc, text string) {
	s.t.Helper()
	out := s.call("list_watchlists", arguments, key...)
	if out.IsError {
		s.t.Fatal(out.text())
	}
	var doc struct{ Data []listedDoc }
	if err := json.Unmarshal(out.StructuredContent, &doc); err != nil {
		s.t.Fatal(err)
	}
	return doc.Data, out.text()
}

// reachOf returns the account of a key.
func (s *service) reachOf(header []string) access.Reach {
	s.t.Helper()
	by, err := s.keys.ByText(s.t.Context(), header[1], netip.MustParseAddr("192.0.2.1"))
	if err != nil {
		s.t.Fatal(err)
	}
	return s.keys.Reach(by)
}

// The tool reads the lists of the caller, and no others. Secrets of links are not in it.
func TestListWatchlists(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	key := s.key(access.AllScopes)
	lists, text := s.watchlistsOf(key, `{}`)
	if len(lists) != 0 || !strings.Contains(text, "There are no watchlists") {
		t.Errorf("%+v %s", lists, text)
	}
	account := s.reachOf(key)
	made, err := s.lists.Create(t.Context(), account, watchlist.Draft{
		Name:    "Wineries <b>",
		Issuers: []string{"A69000016", "fi-1"},
		Filters: []watchlist.SavedSearch{{Name: "Dividends", Filter: disclosure.Filter{Fact: disclosure.Dividend}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	shared, err := s.lists.Share(t.Context(), account, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, 400)
	for i := range all {
		all[i] = fmt.Sprint("fi-", i+1)
	}
	long, err := s.lists.Create(t.Context(), account, watchlist.Draft{Name: "Long", Issuers: all})
	if err != nil {
		t.Fatal(err)
	}

	lists, text = s.watchlistsOf(key, `{}`)
	if len(lists) != 2 || lists[0].ID != made.ID || lists[0].Entries != 3 || lists[0].Issuers[0].Name == "" ||
		lists[0].Issuers[1].Name != "" || lists[0].Filters[0].Filter["fact"] != "dividend" {
		t.Errorf("%+v", lists)
	}
	if len(lists[1].Issuers) != 8 || lists[1].Entries != 400 || lists[1].More != nil {
		t.Errorf("%+v", lists[1])
	}
	if strings.Contains(text, shared.Share.Secret) || strings.Contains(fmt.Sprint(lists), shared.Share.Secret) ||
		!strings.Contains(text, made.ID) {
		t.Error(text)
	}
	lists, _ = s.watchlistsOf(key, `{"id":"`+long.ID+`"}`)
	if len(lists) != 1 || len(lists[0].Issuers)+len(lists[0].More) != 400 {
		t.Errorf("%+v", lists)
	}

	other := s.key(access.AllScopes)
	if lists, _ := s.watchlistsOf(other, `{}`); len(lists) != 0 {
		t.Errorf("%+v", lists)
	}
	if out := s.call("list_watchlists", `{"id":"`+made.ID+`"}`, other...); !out.IsError || !strings.Contains(out.text(), "You have no watchlist") {
		t.Error(out.text())
	}
}

// Tools that filter take a list of the caller, and do not reveal another's.
func TestToolsByWatchlist(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	key, other := s.key(access.AllScopes), s.key(access.AllScopes)
	made, err := s.lists.Create(t.Context(), s.reachOf(key), watchlist.Draft{Name: "Mine", Issuers: []string{"A69000016"}})
	if err != nil {
		t.Fatal(err)
	}
	argument := `{"watchlist":"` + made.ID + `"}`
	found, _ := s.search(argument, key...)
	all, _ := s.search(`{}`, key...)
	same, _ := s.search(`{"issuer":"A69000016"}`, key...)
	if found.Total == 0 || found.Total != same.Total || found.Total >= all.Total {
		t.Errorf("%d reports with the list, %d of its issuer, %d in all", found.Total, same.Total, all.Total)
	}
	for _, tool := range []string{"search_reports", "list_facts", "calendar", "list_dealings", "list_shorts", "propose_alert"} {
		if out := s.call(tool, argument, key...); out.IsError {
			t.Errorf("%s: %s", tool, out.text())
		}
		if out := s.call(tool, argument, other...); !out.IsError || !strings.Contains(out.text(), "You have no watchlist") {
			t.Errorf("%s with a list of another account: %s", tool, out.text())
		}
		a := s.post(legacy("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, argument)))
		if a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s without a credential: %d", tool, a.status)
		}
	}
}
