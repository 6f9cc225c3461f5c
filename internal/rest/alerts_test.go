package rest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"pregon/internal/auth/access"
)

const (
	channels = "/api/v1/account/channels"
	alerts   = "/api/v1/account/alerts"
)

type channelDoc struct {
	ID, Kind, To, Language, State string
	Reason                        *string
	QuietHours                    *struct{ From, To string } `json:"quiet_hours"`
	Link                          string
}

type alertDoc struct {
	ID, Channel, Rhythm string
	Watchlist           string
	Filter              map[string]string
	At, Weekday         *string
	Enabled             bool
}

// channelOf makes a channel and returns it with its path.
func (s *service) channelOf(who http.Header, body string) (made channelDoc, path string) {
	s.t.Helper()
	a := s.call("POST", channels, who, body, 201, &made)
	path = channels + "/" + made.ID
	if got := a.header.Get("Location"); got != path {
		s.t.Errorf("Location: %q, want %q", got, path)
	}
	return made, path
}

func TestChannels(t *testing.T) {
	s := start(t, "demo", market())
	mine, others := s.credentials(access.ReadReports)[0], s.credentials(access.ReadReports)[0]
	made, path := s.channelOf(mine, `{"kind":"email","to":"Reader@example.com","language":"en",`+
		`"quiet_hours":{"from":"22:00","to":"07:30"}}`)
	if made.State != "unconfirmed" || made.To != "…@example.com" || made.QuietHours.From != "22:00" ||
		made.QuietHours.To != "07:30" || made.Link != "" {
		t.Errorf("%+v", made)
	}
	for _, what := range []string{"GET ", "PATCH ", "DELETE ", "POST /test", "POST /confirmation"} { // of another account
		method, rest, _ := strings.Cut(what, " ")
		s.call(method, path+rest, others, `{}`, 404, nil)
	}
	s.call("POST", path+"/test", mine, "", 409, nil) // its receiver has not confirmed it
	s.call("PATCH", path, mine, `{"state":"active"}`, 409, nil)

	var changed channelDoc
	s.call("PATCH", path, mine, `{"language":"es","quiet_hours":{}}`, 200, &changed)
	if changed.Language != "es" || changed.QuietHours != nil || changed.To != made.To {
		t.Errorf("%+v", changed)
	}
	const secret = "https://hooks.slack.com/services/T1/B1/kept"
	if a := s.call("PATCH", path, mine, `{"to":"`+secret+`"}`, 400, nil); strings.Contains(string(a.body), secret) {
		t.Errorf("an error repeats an address, which may be a secret: %s", a.body)
	}
	chat, _ := s.channelOf(mine, `{"kind":"telegram"}`)
	if !strings.HasPrefix(chat.Link, "https://chat.invalid/") || chat.State != "unconfirmed" {
		t.Errorf("%+v", chat)
	}
	for body, reason := range map[string]string{
		`{"kind":"pigeon","to":"x"}`:                                              "telegram, slack",
		`{"kind":"slack","to":"https://a.example/x"}`:                             "not configured",
		`{"kind":"email"}`:                                                        "address",
		`{"kind":"telegram","to":"42"}`:                                           "left out",
		`{"kind":"email","to":"a@b","language":"fr"}`:                             "es or en",
		`{"kind":"email","to":"a@b","state":"active"}`:                            "confirmation",
		`{"kind":"email","to":"a@b","quiet_hours":{"from":"25:00","to":"07:00"}}`: "HH:MM",
	} {
		if a := s.call("POST", channels, mine, body, 400, nil); !strings.Contains(string(a.body), reason) {
			t.Errorf("%s: %s, want %q in it", body, a.body, reason)
		}
	}
	var list struct {
		Data  []channelDoc
		Kinds []struct {
			Kind    string
			Offered bool
			Reason  *string
		}
	}
	s.call("GET", channels, mine, "", 200, &list)
	if len(list.Data) != 2 || len(list.Kinds) != 9 || !list.Kinds[0].Offered || list.Kinds[2].Reason == nil {
		t.Errorf("%+v", list)
	}
	s.call("DELETE", path, mine, "", 204, nil)
	s.call("GET", path, mine, "", 404, nil)
}

// The answer says so if the receiver of a new alert was not reached.
func TestAlertOfUnreachedChannel(t *testing.T) {
	s := start(t, "demo", market())
	mine := s.credentials(access.ReadReports)[0]
	for to, failure := range map[string]error{
		"one@example.com": nil,
		"two@example.com": errors.New("the mail server cannot be reached"),
	} {
		s.asked.Fail(failure)
		a := s.call("POST", alerts, mine, `{"filter":{"type":"IP"},"channel":{"kind":"email","to":"`+to+`"}}`, 201, nil)
		got := a.header.Get("Pregon-Warning")
		if said := strings.Contains(got, "cannot be reached"); said != (failure != nil) || strings.Contains(got, "was sent") == said {
			t.Errorf("with the failure %v: %q", failure, got)
		}
	}
}

func TestAlerts(t *testing.T) {
	s := start(t, "demo", market())
	mine, others := s.credentials(access.ReadReports)[0], s.credentials(access.ReadReports)[0]
	var made alertDoc
	s.call("POST", alerts, mine, `{"filter":{"search":"dividendo"},"channel":{"kind":"email","to":"reader@example.com"},`+
		`"rhythm":"weekly","at":"08:30","weekday":"Monday"}`, 201, &made)
	if made.Channel == "" || *made.At != "08:30" || *made.Weekday != "monday" || !made.Enabled || made.Filter["search"] != "dividendo" {
		t.Errorf("%+v", made)
	}
	var again alertDoc
	s.call("POST", alerts, mine, `{"filter":{"type":"IP"},"channel":{"id":"`+made.Channel+`"}}`, 201, &again)
	if again.Rhythm != "grouped" || again.At != nil || again.Weekday != nil || again.Channel != made.Channel {
		t.Errorf("%+v", again)
	}
	path := alerts + "/" + made.ID
	for _, method := range []string{"GET", "PATCH", "DELETE"} { // of another account
		s.call(method, path, others, `{}`, 404, nil)
	}
	s.call("POST", alerts, others, `{"filter":{"type":"IP"},"channel":{"id":"`+made.Channel+`"}}`, 400, nil)

	var changed alertDoc
	s.call("PATCH", path, mine, `{"rhythm":"at_once","enabled":false}`, 200, &changed)
	if changed.Rhythm != "at_once" || changed.At != nil || changed.Enabled || changed.Filter["search"] != "dividendo" {
		t.Errorf("%+v", changed)
	}
	for body, reason := range map[string]string{
		`{}`:                           "channel",
		`{"channel":{"id":"ch_none"}}`: "filter",
		`{"filter":{},"channel":{"id":"` + made.Channel + `"}}`:                              "every report",
		`{"filter":{"type":"IP"},"channel":{"id":"ch_none"}}`:                                "not one of your channels",
		`{"filter":{"type":"IP"},"channel":{"id":"x","kind":"email"}}`:                       "leave out",
		`{"filter":{"type":"XX"},"channel":{"id":"` + made.Channel + `"}}`:                   "IP, HR or OIR",
		`{"filter":{"type":"IP"},"channel":{"id":"` + made.Channel + `"},"rhythm":"hourly"}`: "at_once",
		`{"filter":{"type":"IP"},"channel":{"id":"` + made.Channel + `"},"at":"8h"}`:         "HH:MM",
		`{"filter":{"type":"IP"},"channel":{"id":"` + made.Channel + `"},"weekday":"lunes"}`: "monday",
	} {
		a := s.send("POST", alerts, mine, body)
		if a.status != 400 && a.status != 404 || !strings.Contains(string(a.body), reason) {
			t.Errorf("%s: %d %s, want %q in it", body, a.status, a.body, reason)
		}
	}
	s.call("POST", alerts, mine, `{"watchlist":"wl_none","channel":{"id":"`+made.Channel+`"}}`, 400, nil)
	theirs, _ := s.listOf(others, `{"name":"Theirs"}`)
	s.call("POST", alerts, mine, `{"watchlist":"`+theirs.ID+`","channel":{"id":"`+made.Channel+`"}}`, 400, nil)
	own, _ := s.listOf(mine, `{"name":"Mine","issuers":["BVB"]}`)
	var onList alertDoc
	s.call("POST", alerts, mine, `{"watchlist":"`+own.ID+`","channel":{"id":"`+made.Channel+`"}}`, 201, &onList)
	if onList.Watchlist != own.ID || onList.Filter["watchlist"] != own.ID {
		t.Errorf("%+v", onList)
	}
	s.call("DELETE", alerts+"/"+onList.ID, mine, "", 204, nil)

	var list struct{ Data []alertDoc }
	s.call("GET", alerts, mine, "", 200, &list)
	if len(list.Data) != 2 {
		t.Errorf("%+v", list)
	}
	s.call("DELETE", channels+"/"+made.Channel, mine, "", 204, nil)
	s.call("GET", alerts, mine, "", 200, &list)
	if len(list.Data) != 0 {
		t.Errorf("the alerts of a deleted channel are left: %+v", list)
	}
}
