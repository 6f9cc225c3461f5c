package mcp_test

import (
	"bufio"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/mcp"
	"pregon/internal/server/httpserver/pipetest"
)

// A listener outlives the write deadline and the timeouts of the server with
// every protocol. With HTTP/2 a deadline ends a stream even while nothing is
// written.
func TestListenerOutlivesDeadlines(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { outlive(t, protocol) })
		})
	}
}

func outlive(t *testing.T, protocol string) {
	var protocols http.Protocols
	protocols.SetHTTP1(protocol == "HTTP/1.1")
	protocols.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
	l := pipetest.New()
	server := &http.Server{
		Protocols: &protocols, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			q := mcp.NewQueue(w, func() { t.Error("the listener is disconnected") })
			defer q.Close()
			fmt.Fprint(q, "first\n")
			select {
			case <-time.After(10 * mcp.HeartbeatInterval):
			case <-r.Context().Done():
			}
			fmt.Fprint(q, "last\n")
		}),
	}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	transport := &http.Transport{DialContext: l.Dial, Protocols: &protocols}
	defer transport.CloseIdleConnections()

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, baseURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Scheme = "http"
	began := time.Now()
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.Proto != protocol {
		t.Fatalf("%s %s", res.Proto, res.Status)
	}
	beats, last := 0, ""
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		switch lines.Text() {
		case ": all is well":
			beats++
		case "":
		default:
			last = lines.Text()
		}
	}
	if lived := time.Since(began); last != "last" || beats < 10 || lived != 10*mcp.HeartbeatInterval {
		t.Errorf("the stream ended after %v and %d heartbeats with %q: %v", lived, beats, last, lines.Err())
	}
}
