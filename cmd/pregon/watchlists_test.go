package main_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/test/longtest"
)

// A watchlist that is made at one replica filters at another one. A change of it, and the end of
// its link, are known there within seconds. No log has the secret of a link.
func TestWatchlistsOfReplicas(t *testing.T) {
	longtest.Skip(t, "it starts four services")
	t.Parallel()
	for engine, newStore := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			spec := newStore(t)
			start := func() *service { return startReplica(t, spec, "--source", "none", "--log-level", "debug") }
			one, other := start(), start()
			file := filepath.Join(t.TempDir(), "reports.jsonl")
			lines := ""
			for n, nif := range []string{"A69000016", "A69831790", "A69000016"} {
				lines += fmt.Sprintf(`{"type":"OIR","cnmv_registration_number":"%d","company_name":"FICTICIA %s, S.A.","nif":%q,"title":"[Simulación] %d","published_at":%q}`+"\n",
					43001+n, nif, nif, n, time.Now().UTC().Add(time.Duration(n-10)*time.Second).Format(time.RFC3339))
			}
			if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
				t.Fatal(err)
			}
			pregon(t, spec, "import", "reports", file)
			key := pregon(t, spec, "keys", "create", "--plan", "pro")
			var list struct {
				ID          string
				Share, Feed *struct{ Secret string }
			}
			const lists = "/api/v1/account/watchlists"
			demand(t, one.url, key, http.MethodPost, lists, map[string]any{"name": "Mine", "issuers": []string{"A69000016"}}, &list, http.StatusCreated)
			demand(t, one.url, key, http.MethodPost, lists+"/"+list.ID+"/share", map[string]any{}, &list, http.StatusOK)
			demand(t, one.url, key, http.MethodPost, lists+"/"+list.ID+"/feed", map[string]any{}, &list, http.StatusOK)
			has := func(key, value string, want ...string) {
				t.Helper()
				for _, s := range []*service{one, other} {
					for _, path := range []string{"/api/v1/reports?watchlist=", "/api/v1/changes?events=report.published,report.backfilled&watchlist="} {
						if key == "" && strings.Contains(path, "changes") {
							continue
						}
						eventually(t, func() error {
							var found struct{ Data []struct{ ID string } }
							status, err := call(t.Context(), s.url, key, http.MethodGet, path+value, nil, &found)
							if err != nil || status != http.StatusOK {
								return fmt.Errorf("%s: %d, %v", path, status, err)
							}
							ids := map[string]bool{}
							for _, r := range found.Data {
								ids[r.ID] = true
							}
							for _, id := range want {
								if !ids[id] || len(ids) != len(want) {
									return fmt.Errorf("%s has %v, want %v", path, found.Data, want)
								}
							}
							return nil
						})
					}
				}
			}
			has(key, list.ID, "oir-43001", "oir-43003")
			has("", list.Share.Secret, "oir-43001", "oir-43003")
			has(key, list.Feed.Secret, "oir-43001", "oir-43003")
			for _, s := range []*service{one, other} {
				for _, path := range []string{"/feed.atom", "/api/v1/calendar.ics", "/search", "/live"} {
					if got := s.status(t, path+"?watchlist="+list.Feed.Secret, "", ""); got != http.StatusOK {
						t.Errorf("%s of a link: status %d", path, got)
					}
					if got := s.status(t, path+"?watchlist="+list.ID, "", ""); got != http.StatusUnauthorized {
						t.Errorf("%s of a list without a key: status %d", path, got)
					}
				}
			}
			demand(t, other.url, key, http.MethodPatch, lists+"/"+list.ID, map[string]any{"issuers": []string{}, "filters": []any{
				map[string]any{"name": "One", "filter": map[string]any{"search": "43002"}},
			}}, nil, http.StatusOK)
			has(key, list.ID, "oir-43002")
			has("", list.Share.Secret, "oir-43002")
			demand(t, other.url, key, http.MethodDelete, lists+"/"+list.ID+"/share", nil, nil, http.StatusOK)
			for _, s := range []*service{one, other} {
				eventually(t, func() error {
					if got := s.status(t, "/api/v1/reports?watchlist="+list.Share.Secret, "", ""); got != http.StatusNotFound {
						return errors.New("the ended link is valid")
					}
					return nil
				})
				if log := s.log.String(); strings.Contains(log, list.Share.Secret) || strings.Contains(log, list.Feed.Secret) {
					t.Errorf("the log has a secret:\n%s", log)
				} else if !strings.Contains(log, "/api/v1/reports") {
					t.Error("the log has no requests")
				}
			}
		})
	}
}
