package oauth_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/oauth"
)

// register registers a client from an address of its own.
func (w *world) register(body string) answer {
	w.t.Helper()
	from := w.from
	defer func() { w.from = from }()
	w.from = fmt.Sprintf("203.0.113.%d:1", w.count("client.registered")%250+1)
	a := w.send("/oauth/register", "application/json", body)
	if a.Code != 201 {
		w.t.Fatal(a)
	}
	return a
}

func TestRegister(t *testing.T) {
	w := newWorld(t)
	a := w.register(`{"client_name":"Agent","redirect_uris":["http://localhost:1234/cb"],"token_endpoint_auth_method":"client_secret_basic",
		"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"scope":"read:reports","logo_uri":"https://x.example/x.png"}`)
	var got map[string]any
	if err := json.Unmarshal(a.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	// It gets no secret, and so authenticates with none.
	if got["token_endpoint_auth_method"] != "none" || got["client_secret"] != nil || got["client_name"] != "Agent" || got["client_id_issued_at"] == nil {
		t.Errorf("%v", got)
	}
	// It is known at every replica, without being stored.
	other := replica(t, w.dir, config())
	ana := other.person("ana")
	const uri = "http://localhost:5555/cb"
	code := other.allow(query(a.ClientID, uri), ana).Get("code")
	b := w.post("/api/auth/token", exchange(a.ClientID, uri, code))
	if b.Code != 200 || !w.works(b.Access) {
		t.Fatal(b)
	}
	if c := other.post("/api/auth/token", refresh(a.ClientID, b.Refresh)); c.Code != 200 {
		t.Error(c)
	}
	if one, _ := other.accounts.Account(ana.ID); len(one.Grants) != 1 || one.Grants[0].ClientName != "Agent" || one.Grants[0].ClientHost != "localhost:5555" {
		t.Errorf("the grant is %+v", one.Grants)
	}
	if len(code) > 800 || len(a.ClientID) > 300 {
		t.Errorf("the code has %d bytes, the client id %d", len(code), len(a.ClientID))
	}
}

// The longest id works everywhere.
func TestLongRegistration(t *testing.T) {
	w := newWorld(t)
	uri := "https://app.example/" + strings.Repeat("x", 400)
	id := w.register(`{"client_name":"` + strings.Repeat("ñ", 100) + `","redirect_uris":["` + uri + `","` + uri + `1","` + uri + `2","` + uri + `3"]}`).ClientID
	code := w.allow(query(id, uri), w.person("ana")).Get("code")
	a := w.post("/api/auth/token", exchange(id, uri, code))
	if len(id) < 2500 || a.Code != 200 || !w.works(a.Access) {
		t.Errorf("id of %d bytes: %s", len(id), a)
	}
	if b := w.post("/api/auth/token", refresh(id, a.Refresh)); b.Code != 200 {
		t.Error(b)
	}
}

func TestRegisterErrors(t *testing.T) {
	w := newWorld(t)
	uris := func(n, length int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`"https://app.example/%d%s"`, i, strings.Repeat("x", length))
		}
		return `{"redirect_uris":[` + strings.Join(all, ",") + `]}`
	}
	for body, code := range map[string]string{
		``:                      "invalid_client_metadata",
		`[]`:                    "invalid_client_metadata",
		`{"redirect_uris":"x"}`: "invalid_client_metadata",
		`{"redirect_uris":["https://a.example/"],"redirect_uris":["https://b.example/"]}`: "invalid_client_metadata",
		`{}`:                     "invalid_redirect_uri",
		`{"redirect_uris":[]}`:   "invalid_redirect_uri",
		`{"redirect_uris":[""]}`: "invalid_redirect_uri",
		`{"redirect_uris":["http://app.example/cb"]}`:                                       "invalid_redirect_uri",
		`{"redirect_uris":["https://app.example/cb","javascript:alert(1)"]}`:                "invalid_redirect_uri",
		`{"redirect_uris":["https://app.example/cb"],"grant_types":["client_credentials"]}`: "invalid_client_metadata",
		`{"redirect_uris":["https://app.example/cb"],"response_types":["token"]}`:           "invalid_client_metadata",
		uris(11, 1):   "invalid_redirect_uri",
		uris(1, 500):  "invalid_redirect_uri",
		uris(10, 400): "invalid_client_metadata", // together too long
		`{"redirect_uris":["https://app.example/cb"],"x":"` + strings.Repeat("x", 16<<10) + `"}`: "invalid_client_metadata",
	} {
		w.from = fmt.Sprintf("203.0.113.%d:1", len(body)%250+1)
		if a := w.send("/oauth/register", "application/json", body); a.Code != 400 || a.Error != code || a.ClientID != "" {
			t.Errorf("%.80s: %s", body, a)
		}
	}
	if a := w.send("/oauth/register", "text/plain", `{"redirect_uris":["https://app.example/cb"]}`); a.Code != 400 {
		t.Errorf("as text: %s", a)
	}
}

// A flood ends after sixty, and leaves nothing behind.
func TestRegistrationFlood(t *testing.T) {
	w := newWorld(t)
	const body = `{"redirect_uris":["https://app.example/cb"]}`
	before := records(t, w)
	for i := range 70 {
		a := w.send("/oauth/register", "application/json", body)
		if want := http.StatusCreated; i < 60 && a.Code != want || i >= 60 && (a.Code != 429 || a.Header().Get("Retry-After") == "") {
			t.Errorf("number %d: %s", i, a)
		}
	}
	if after := records(t, w); after != before {
		t.Errorf("%d records are stored", after-before)
	}
	w.from = "192.0.2.1:1"
	if a := w.send("/oauth/register", "application/json", body); a.Code != 201 {
		t.Errorf("another address: %s", a)
	}
}

func records(t *testing.T, w *world) (n int) {
	t.Helper()
	for _, kind := range []string{"account", "client", "key", "sealing-key"} {
		all, err := w.db.RecordsSince(t.Context(), kind, 0)
		if err != nil {
			t.Fatal(err)
		}
		n += len(all)
	}
	return n
}

// A registration that is not used expires; one with a grant does not.
func TestRegistrationExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.db.Close()
		const uri = "https://app.example/cb"
		used := w.register(`{"client_name":"used","redirect_uris":["` + uri + `"]}`).ClientID
		unused := w.register(`{"client_name":"unused","redirect_uris":["` + uri + `"]}`).ClientID
		code := w.allow(query(used, uri), w.person("ana")).Get("code")
		if a := w.post("/api/auth/token", exchange(used, uri, code)); a.Code != 200 {
			t.Fatal(a)
		}
		time.Sleep(30 * 24 * time.Hour)
		w.ask(query(unused, uri))
		time.Sleep(time.Hour)
		w.ask(query(used, uri))
		if why := w.refused(query(unused, uri)); !strings.Contains(why.Text, "expired") {
			t.Errorf("%+v", why)
		}
	})
}

// Registration can be turned off.
func TestRegistrationOff(t *testing.T) {
	on := newWorld(t)
	id := on.register(`{"redirect_uris":["https://app.example/cb"]}`).ClientID
	c := config()
	c.Registration = new(bool)
	off := replica(t, on.dir, c)
	off.refused(query(id, "https://app.example/cb"))
	if _, pattern := off.mux.Handler(mustRequest("POST", "/oauth/register")); pattern != "" {
		t.Errorf("there is %s", pattern)
	}
	if m := off.metadata(); m["registration_endpoint"] != nil {
		t.Errorf("%v", m["registration_endpoint"])
	}
}

// A name is text of one line, whatever is in it.
func TestClientName(t *testing.T) {
	for name, want := range map[string]string{
		"Agent":                     "Agent",
		" two\n lines\t":            "two lines",
		"<script>alert(1)</script>": "<script>alert(1)</script>", // the page shows it as text
		"safe\u202eevil\u2066":      "safeevil",
		"z\u200be\u200dr\ufeffo":    "zero",
		"\x00\x1b[31mred":           "[31mred",
		"España & Cía":              "España & Cía",
		"\u2028\u2029":              "",
		strings.Repeat("ñ", 101):    strings.Repeat("ñ", 100),
	} {
		if got := oauth.CleanName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
	w := newWorld(t)
	id := w.register(`{"client_name":"<b>Pregón</b>\u202e\n<img src=x>","redirect_uris":["https://app.example/cb"]}`).ClientID
	if q := w.ask(query(id, "https://app.example/cb")); q.Client.Name != "<b>Pregón</b> <img src=x>" {
		t.Errorf("%q", q.Client.Name)
	}
	id = w.register(`{"client_name":"\u202e","redirect_uris":["https://app.example/cb"]}`).ClientID
	if q := w.ask(query(id, "https://app.example/cb")); q.Client.Name != "app.example" {
		t.Errorf("without a name it is %q", q.Client.Name)
	}
}
