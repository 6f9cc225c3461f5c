package delivery

import (
	"encoding/json"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/text"
)

// maxBody is the largest body that a receiver gets.
const maxBody = 20_000

// fit returns the body of an event. A body that is too long loses its summary, or the last
// of its trades, then the end of its title, then the ends of its other texts, and has the
// field truncated.
func fit(body []byte) []byte {
	if len(body) <= maxBody {
		return body
	}
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		return body // cannot happen: we wrote it
	}
	members["truncated"] = true
	if _, has := members["summary"]; has {
		members["summary"] = nil
	}
	for {
		trades, _ := members["trades"].([]any)
		if body = encode(members); len(body) <= maxBody {
			return body
		}
		if len(trades) == 0 {
			break
		}
		members["trades"] = trades[:len(trades)/2]
	}
	for longest := maxBody; longest > 0; longest /= 2 {
		if body = encode(members); len(body) <= maxBody {
			return body
		}
		if title, ok := members["title"].(string); ok {
			members["title"] = text.ClipBytes(title, longest)
		}
	}
	for name, value := range members {
		if s, ok := value.(string); ok {
			members[name] = text.ClipBytes(s, 200)
		}
	}
	delete(members, "changed")
	return encode(members)
}

func encode(members map[string]any) []byte {
	body, err := json.Marshal(members)
	if err != nil {
		panic(err) // cannot happen: it was read from JSON
	}
	return body
}

// sample returns the body of a test.
func sample(now time.Time) []byte {
	b := disclosure.AppendReport(nil, &disclosure.Report{
		ID:          "oir-1",
		Type:        disclosure.OIR,
		Number:      1,
		CompanyName: "EMPRESA DE PRUEBA, S.A.",
		Title:       "A test: this report does not exist.",
		PublishedAt: now.Truncate(time.Second),
	}, "TEST")
	b = append(b[:len(b)-1], `,"seq":0,"event":"webhook.test","test":true,"occurred_at":"`...)
	b = now.In(disclosure.Madrid).AppendFormat(b, time.RFC3339Nano)
	return append(b, `","changed":[]}`...)
}

// bodies caches the newest bodies: one that was just created is sent next, to
// many receivers.
type bodies struct {
	// mu guards the fields below: the fan-out adds bodies, and the workers of all claims
	// read and add them. It is held for one operation on the map.
	mu   sync.Mutex
	of   map[disclosure.Cursor][]byte
	keys [1024]disclosure.Cursor // a ring of the keys in of
	next int                     // the index of the oldest
}

func newBodies() *bodies { return &bodies{of: map[disclosure.Cursor][]byte{}} }

// add returns the body of an event, and keeps it unless it has a name that may be erased:
// every delivery of such an event reads the log again.
func (b *bodies) add(c disclosure.Cursor, e *events.Event) []byte {
	body := fit(e.JSON)
	if e.HasErasableName() {
		return body
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[c] == nil {
		delete(b.of, b.keys[b.next])
		b.keys[b.next] = c
		b.next = (b.next + 1) % len(b.keys)
	}
	b.of[c] = body
	return body
}

func (b *bodies) get(c disclosure.Cursor) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[c]
}
