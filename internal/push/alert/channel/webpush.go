package channel

import (
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
	"pregon/internal/server/outbound"
	"pregon/internal/text"
)

// WebPushSettings configure messages to browsers.
type WebPushSettings struct {
	Key *PushKey
	// Subject is how push services reach the operator: mailto:ADDRESS, or an https address.
	Subject string
	// Hosts are those of push services besides the known ones, and with a dot in front all
	// below a name.
	Hosts []string
}

// pushHosts are those of the makers of browsers. A browser proves nothing about its address,
// so that with any other host this service could be made to send requests to third parties.
var pushHosts = []string{
	"fcm.googleapis.com",
	".push.services.mozilla.com",
	".push.apple.com",
	".notify.windows.com",
}

var pushHost = regexp.MustCompile(`^\.?[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$`)

// CheckPushHost returns an error unless a host can be among the Hosts of WebPushSettings.
func CheckPushHost(host string) error {
	if len(host) > maxHost || !pushHost.MatchString(host) {
		return fault.New(fault.Invalid, "%q is not a host of a push service: use a name in small letters, such as "+
			"push.example.com, or .push.example.com for all below it", host)
	}
	return nil
}

const (
	pushLifetime = 4 * 24 * time.Hour // that a push service keeps a message for a browser that is away
	maxPushItems = 5
	maxPushLine  = 160  // characters
	maxEndpoint  = 1000 // bytes
	maxHost      = 253  // bytes
)

// webPush sends messages to browsers, by the services of their makers.
type webPush struct {
	poster  *poster
	key     *PushKey
	subject string
	hosts   []string
}

func newWebPush(s WebPushSettings, p *poster) (*webPush, error) {
	if !strings.HasPrefix(s.Subject, "mailto:") && !strings.HasPrefix(s.Subject, "https://") {
		return nil, fault.New(fault.Invalid, "push services need an address of the operator: mailto:ADDRESS or https://…")
	}
	for _, host := range s.Hosts {
		if err := CheckPushHost(host); err != nil {
			return nil, err
		}
	}
	return &webPush{
		poster:  p,
		key:     s.Key,
		subject: s.Subject,
		hosts:   slices.Concat(pushHosts, s.Hosts),
	}, nil
}

// pushSubscription is what a browser gives to the page: PushSubscription.toJSON.
type pushSubscription struct {
	Endpoint string   `json:"endpoint"`
	Keys     pushKeys `json:"keys"`
}

type pushKeys struct {
	P256dh string `json:"p256dh"`
	Auth   string `json:"auth"`
}

// Check accepts the subscription of a browser as JSON.
func (w *webPush) Check(address string) (Address, error) {
	s, endpoint, receiver, err := w.parse(address)
	if err != nil {
		return Address{}, err
	}
	normal, err := json.Marshal(pushSubscription{
		Endpoint: s.Endpoint,
		Keys: pushKeys{
			P256dh: base64.RawURLEncoding.EncodeToString(receiver.public.Bytes()),
			Auth:   base64.RawURLEncoding.EncodeToString(receiver.auth),
		},
	})
	if err != nil {
		return Address{}, err
	}
	return Address{Value: string(normal), Shown: browserOf(endpoint.Hostname())}, nil
}

// parse reads the subscription of a browser.
func (w *webPush) parse(address string) (s pushSubscription, endpoint *url.URL, r *pushReceiver, err error) {
	refused := fault.New(fault.Invalid, "this is not the subscription of a browser, with endpoint, keys.p256dh and keys.auth")
	if err := json.Unmarshal([]byte(address), &s); err != nil || len(s.Endpoint) > maxEndpoint {
		return s, nil, nil, refused
	}
	if err := outbound.Check(s.Endpoint, w.poster.allowPrivate); err != nil {
		return s, nil, nil, err
	}
	if endpoint, err = url.Parse(s.Endpoint); err != nil {
		return s, nil, nil, refused
	}
	if host := strings.ToLower(endpoint.Hostname()); !w.poster.allowPrivate && !isAmong(w.hosts, host) {
		return s, nil, nil, fault.New(fault.Invalid, "%s is not a known push service. Use Chrome, Edge, Firefox or Safari, "+
			"or ask the operator to allow the host.", text.Clip(host, maxPushLine))
	}
	point, err := decodeKey(s.Keys.P256dh)
	if err != nil {
		return s, nil, nil, refused
	}
	public, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return s, nil, nil, refused
	}
	auth, err := decodeKey(s.Keys.Auth)
	if err != nil || len(auth) != pushSecret {
		return s, nil, nil, refused
	}
	return s, endpoint, &pushReceiver{public: public, auth: auth}, nil
}

// decodeKey decodes base64url with or without padding.
func decodeKey(s string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
}

// browserOf names the maker of a browser by the host of its push service.
func browserOf(host string) string {
	switch {
	case host == "fcm.googleapis.com":
		return "Chrome (" + host + ")"
	case strings.HasSuffix(host, ".push.services.mozilla.com"):
		return "Firefox (" + host + ")"
	case strings.HasSuffix(host, ".push.apple.com"):
		return "Safari (" + host + ")"
	case strings.HasSuffix(host, ".notify.windows.com"):
		return "Edge (" + host + ")"
	}
	return host
}

func (w *webPush) Send(ctx context.Context, to alert.Channel, m *message.Message) Outcome {
	_, endpoint, receiver, err := w.parse(to.Address)
	if err != nil {
		return Outcome{Permanent: true, Error: "the stored subscription cannot be used: " + err.Error()}
	}
	body, err := receiver.encrypt([]byte(pushPayload(m)))
	if err != nil {
		return Outcome{Error: "the message could not be encrypted"}
	}
	authorization, err := w.key.authorization(endpoint, w.subject, time.Now())
	if err != nil {
		return Outcome{Error: "the message could not be signed"}
	}
	o, got := w.poster.post(ctx, endpoint.String(), http.Header{
		"Authorization":    {authorization},
		"Content-Encoding": {"aes128gcm"},
		"Content-Type":     {"application/octet-stream"},
		"Ttl":              {strconv.Itoa(int(pushLifetime / time.Second))},
		"Urgency":          {"normal"},
		"Topic":            {pushTopic(m.ID)},
	}, body)
	switch got.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusRequestEntityTooLarge:
		o.Permanent = false // it concerns this service and its clock, not the browser
	}
	return o
}

// pushTopic lets a message replace itself if it is sent again, and no other.
func pushTopic(id string) string {
	sum := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:32]
}

// pushNote is what the service worker of the site shows.
type pushNote struct {
	Title    string `json:"title"`
	Body     string `json:"body"`
	URL      string `json:"url,omitempty"`
	Tag      string `json:"tag"`
	Language string `json:"lang"`
}

// pushPayload returns the JSON of a message that fits into a record.
func pushPayload(m *message.Message) string {
	form := func(n int) string {
		out, err := json.Marshal(pushNote{
			Title:    m.Subject(),
			Body:     pushBody(m, n),
			URL:      m.Target(),
			Tag:      pushTopic(m.ID),
			Language: m.Language,
		})
		if err != nil {
			return "" // cannot happen: it is made of strings
		}
		return string(out)
	}
	return form(m.Fit(maxPushItems, func(n int) bool { return len(form(n)) <= maxPushPlain }))
}

// pushBody says in a few lines what a message says. The title has the issuers, and of one
// event all but the facts.
func pushBody(m *message.Message, n int) string {
	var lines []string
	add := func(line string) {
		if line != "" {
			lines = append(lines, text.Clip(line, maxPushLine))
		}
	}
	entries := m.Entries(n)
	if m.Total() == 1 && len(entries) == 1 {
		add(entries[0].Detail())
	} else {
		for _, e := range entries {
			add(e.Issuer + ": " + e.Title)
		}
		if rest, ok := m.Rest(n); ok && n > 0 {
			add(rest.Text)
		}
	}
	for _, p := range m.Paragraphs() {
		add(p)
	}
	add(m.Notice())
	return strings.Join(lines, "\n")
}
