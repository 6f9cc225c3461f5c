package subscription

import (
	"path/filepath"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/push/alert"
	"pregon/internal/store/sqlite"
)

// What accounts left that ended for good is removed, also an alert without its channel, and
// what others have stays.
func TestRemoveEnded(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	box, err := secret.NewBox("a key of thirty-two bytes for tests")
	if err != nil {
		t.Fatal(err)
	}
	const gone, live = "https://id.example.com#gone", "https://id.example.com#live"
	r := New(Options{
		Store:  db,
		Sealer: box,
		Ended:  func(account string) bool { return account == gone },
	})
	for n, account := range []string{gone, live} {
		c := Channel{Channel: alert.Channel{
			ID:      channelPrefix + "channel" + string(rune('a'+n)),
			Account: account,
			Kind:    alert.Email,
			Address: "ana@example.com",
			State:   alert.Active,
		}}
		if _, err := r.putChannel(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		for _, channel := range []string{c.ID, channelPrefix + "removed"} {
			a := Alert{Alert: alert.Alert{
				ID:      alertPrefix + channel + string(rune('a'+n)),
				Account: account,
				Channel: channel,
				Rhythm:  alert.AtOnce,
			}}
			if _, err := r.putAlert(t.Context(), a, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.removeEnded(t.Context())
	for account, want := range map[string]int{gone: 0, live: 3} {
		by := access.WholeAccount(account)
		channels, err := r.ListChannels(t.Context(), by)
		if err != nil {
			t.Fatal(err)
		}
		alerts, err := r.ListAlerts(t.Context(), by)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(channels) + len(alerts); n != want {
			t.Errorf("%s has %d channels and alerts, want %d", account, n, want)
		}
	}
}
