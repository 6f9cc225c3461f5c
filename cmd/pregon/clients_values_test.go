package main_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"pregon/internal/test/waittest"
)

// value returns what a name between braces means in a case. clients/README.md has the list.
func (l *clientLab) value(name string) (any, error) {
	group, field, whole := strings.Cut(name, ".")
	switch group {
	case "start":
		return l.newest()
	case "issuer":
		return l.issuer, nil
	case "report":
		return l.report, nil
	case "watchlist":
		return l.watchlist, nil
	case "restricted":
		return l.restricted, nil
	case "elsewhere":
		return l.elsewhere.URL, nil
	case "reports":
		var list struct{ Total int }
		err := l.ask(http.MethodGet, "/api/v1/reports?limit=1&type="+strings.ToUpper(field), nil, &list)
		return list.Total, err
	case "snapshot":
		values, err := l.snapshot()
		if !whole {
			field = "id"
		}
		return pick(values, field, err)
	case "delivery":
		values, err := l.deliver(false)
		return pick(values, field, err)
	case "rotated":
		values, err := l.deliver(true)
		return pick(values, field, err)
	case "proof":
		values, err := l.prove()
		return pick(values, field, err)
	}
	return nil, fmt.Errorf("{%s} is not known", name)
}

func pick(values map[string]any, field string, err error) (any, error) {
	v, ok := values[field]
	if err == nil && !ok {
		err = fmt.Errorf("the value %q is not known", field)
	}
	return v, err
}

// ask sends a request to the program itself, with the key of the test.
func (l *clientLab) ask(method, path string, body, into any) error {
	status, err := call(l.ctx, l.running.Load().url, l.key, method, path, body, into)
	if err == nil && status >= 300 {
		err = fmt.Errorf("%s %s is answered with %d", method, path, status)
	}
	return err
}

// retry calls f until it succeeds.
func (l *clientLab) retry(f func() error) error {
	for end := time.Now().Add(patient); ; {
		err := f()
		if err == nil || l.ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		waittest.Pace(l.ctx, 50*time.Millisecond)
	}
}

// newest returns the cursor of the newest change.
func (l *clientLab) newest() (string, error) {
	var list struct {
		Next   string
		Newest int64
	}
	err := l.ask(http.MethodGet, "/api/v1/changes?limit=1&after=0", nil, &list)
	epoch, _, _ := strings.Cut(list.Next, "-")
	return fmt.Sprintf("%s-%d", epoch, list.Newest), err
}

// prepare makes what the values of cases refer to.
func (l *clientLab) prepare() error {
	const text = `{"type":"oir","text":%q}`
	out, err := l.source.control(l.ctx, http.MethodPost, "/_sim/publish", fmt.Sprintf(text, dividend))
	if err != nil {
		return err
	}
	var made struct{ ID string }
	if err := json.Unmarshal(out, &made); err != nil {
		return err
	}
	l.report = made.ID
	if err := l.retry(l.findDividend); err != nil {
		return err
	}
	var list struct{ ID string }
	if err := l.ask(http.MethodPost, "/api/v1/account/watchlists", map[string]any{"name": "Mis valores"}, &list); err != nil {
		return err
	}
	l.watchlist = list.ID
	return l.ask(http.MethodPost, "/api/v1/account/watchlists/"+list.ID+"/entries", map[string]any{"issuer": l.issuer}, nil)
}

// findDividend returns an error unless the service states the dividend of the report, and
// has what the cases list.
func (l *clientLab) findDividend() error {
	var dates struct {
		Data []struct {
			ReportID string `json:"report_id"`
			IssuerID string `json:"issuer_id"`
		}
	}
	if err := l.ask(http.MethodGet, "/api/v1/calendar", nil, &dates); err != nil {
		return err
	}
	for _, d := range dates.Data {
		if d.ReportID == l.report {
			l.issuer = d.IssuerID
		}
	}
	if l.issuer == "" {
		return fmt.Errorf("the date of %s is not in the calendar", l.report)
	}
	shorts, err := l.running.Load().total("shorts")
	if err == nil && shorts == 0 {
		err = errors.New("no short positions")
	}
	return err
}

// snapshot returns the newest snapshot, once there is one.
func (l *clientLab) snapshot() (map[string]any, error) {
	var list snapshotList
	err := l.retry(func() error {
		err := l.ask(http.MethodGet, "/api/v1/bulk", nil, &list)
		if err == nil && len(list.Data) == 0 {
			err = errors.New("there is no snapshot")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s := list.Data[0]
	values := map[string]any{"id": s.ID, "cursor": s.Cursor}
	for _, f := range s.Files {
		if f.Kind == "reports" && f.Format == "jsonl" {
			values["sha256"] = f.SHA256
		}
	}
	return values, nil
}

// received is a request that a webhook of the test received.
type received struct {
	headers map[string]any
	body    string
}

// receive is the server to which the webhook of the test sends.
func (l *clientLab) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return
	}
	got := received{headers: map[string]any{}, body: string(body)}
	for name := range r.Header {
		got.headers[strings.ToLower(name)] = r.Header.Get(name)
	}
	l.received <- got
	w.WriteHeader(http.StatusNoContent)
}

// deliver has a new webhook send a request, or one that was rotated before. It returns the
// request, and versions of it that a receiver must refuse.
func (l *clientLab) deliver(rotated bool) (map[string]any, error) {
	if known := l.deliveries[rotated]; known != nil {
		return known, nil
	}
	var created, current hook
	if err := l.ask(http.MethodPost, "/api/v1/webhooks", map[string]any{"url": l.receiver.URL}, &created); err != nil {
		return nil, err
	}
	current = created
	if rotated {
		if err := l.ask(http.MethodPost, "/api/v1/webhooks/"+created.ID+"/rotate", nil, &current); err != nil {
			return nil, err
		}
	}
	if err := l.ask(http.MethodPost, "/api/v1/webhooks/"+created.ID+"/test", nil, nil); err != nil {
		return nil, err
	}
	select {
	case got := <-l.received:
		values := map[string]any{
			"headers":    got.headers,
			"body":       got.body,
			"secret":     current.Secret,
			"old_secret": created.Secret,
			"old":        got.signed(current.Secret, -time.Hour),
			"future":     got.signed(current.Secret, time.Hour),
			"altered":    strings.Replace(got.body, "A test", "A fact", 1),
			"unsigned":   map[string]any{"content-type": "application/json"},
		}
		l.deliveries[rotated] = values
		return values, l.ask(http.MethodDelete, "/api/v1/webhooks/"+created.ID, nil, nil)
	case <-time.After(patient):
		return nil, errors.New("the webhook sends nothing")
	}
}

// signed returns the headers of the request if it had been sent at another time.
func (r received) signed(secret string, shift time.Duration) map[string]any {
	at := fmt.Sprint(time.Now().Add(shift).Unix())
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%v.%s.%s", r.headers["webhook-id"], at, r.body)
	return map[string]any{
		"content-type":      "application/json",
		"webhook-id":        r.headers["webhook-id"],
		"webhook-timestamp": at,
		"webhook-signature": "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	}
}

// prove returns a report with its proof, and versions of both that are not valid.
func (l *clientLab) prove() (map[string]any, error) {
	report, err := l.download("/api/v1/reports/" + l.report)
	if err != nil {
		return nil, err
	}
	proof, err := l.download("/api/v1/reports/" + l.report + "/proof")
	if err != nil {
		return nil, err
	}
	vkey, err := l.download("/log/vkey")
	if err != nil {
		return nil, err
	}
	var parsed struct {
		Seq        int64
		Leaf       []byte
		Checkpoint string
	}
	if err := json.Unmarshal([]byte(proof), &parsed); err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(strings.TrimSpace(vkey), "+")
	_, other, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return nil, err
	}
	root := strings.Split(parsed.Checkpoint, "\n")[2]
	leaf := base64.StdEncoding.EncodeToString(parsed.Leaf)
	forged := base64.StdEncoding.EncodeToString(bytes.Replace(parsed.Leaf, []byte(`"title":"`), []byte(`"title":"No: `), 1))
	values := map[string]any{
		"report":         report,
		"proof":          proof,
		"vkey":           strings.TrimSpace(vkey),
		"seq":            parsed.Seq,
		"other_vkey":     other,
		"altered_report": strings.Replace(report, `"title":"`, `"title":"No: `, 1),
		"altered_root":   strings.Replace(proof, root, base64.StdEncoding.EncodeToString(make([]byte, sha256.Size)), 1),
		"altered_leaf":   strings.Replace(proof, leaf, forged, 1),
	}
	for _, name := range []string{"altered_report", "altered_root", "altered_leaf"} {
		if values[name] == report || values[name] == proof {
			return nil, fmt.Errorf("%s is not altered", name)
		}
	}
	return values, nil
}

// download returns an answer of the program as it is.
func (l *clientLab) download(path string) (string, error) {
	resp, err := http.Get(l.running.Load().url + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s is answered with %s", path, resp.Status)
	}
	return string(text), err
}
