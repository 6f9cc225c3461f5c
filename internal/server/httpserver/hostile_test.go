package httpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"pregon/internal/server/httpserver"
	"pregon/internal/server/httpserver/pipetest"
	"pregon/internal/test/waittest"
)

// patient is the timeout of a test that hangs.
const patient = 5 * time.Minute

// run serves until the test ends, and returns the address.
func (h *harness) run(t *testing.T, l net.Listener) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx, l) }()
	t.Cleanup(func() { cancel(); <-done })
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patient))
	return c
}

// watched records how much the server has read of each connection, and which it closed.
type watched struct {
	net.Listener
	conns sync.Map // of *watchedConn, by the client's address
}

func (w *watched) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	watching := &watchedConn{Conn: c}
	w.conns.Store(c.RemoteAddr().String(), watching)
	return watching, nil
}

// settled reports whether the server has read so much of a connection, or closed it.
func (w *watched) settled(client net.Conn, size int) bool {
	c, ok := w.conns.Load(client.LocalAddr().String())
	return ok && (c.(*watchedConn).read.Load() >= int64(size) || c.(*watchedConn).closed.Load())
}

type watchedConn struct {
	net.Conn
	read   atomic.Int64
	closed atomic.Bool
}

func (c *watchedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

func (c *watchedConn) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

// until waits for a condition that must come true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	waittest.For(t, what, ok)
}

// bomb is the traffic of a hostile HTTP/2 client: it does not read responses, and the
// header of each request is one long cookie, sent once and then referenced by one byte.
func bomb(streams, fields int) string {
	var wire, block bytes.Buffer
	wire.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&wire, nil)
	_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	enc := hpack.NewEncoder(&block)
	for n := range streams {
		block.Reset()
		for _, field := range []hpack.HeaderField{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "http"}, {Name: ":path", Value: "/x"}, {Name: ":authority", Value: "x"}} {
			_ = enc.WriteField(field)
		}
		for range fields {
			_ = enc.WriteField(hpack.HeaderField{Name: "cookie", Value: strings.Repeat("c", 4000)})
		}
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*n + 1), BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true})
	}
	return wire.String()
}

func live() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// A thousand hostile connections cost 100 MB at most, and other clients are served.
func TestHostileConnections(t *testing.T) {
	answer := make([]byte, 8<<20) // more than the sockets hold
	h := newHarness(t, map[string]http.HandlerFunc{
		"GET /x":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer[:64<<10]) },
		"GET /long": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) },
		"GET /good": hello,
	}, func(o *httpserver.Options) {
		o.Limits.Connections = 2000
		o.Limits.PerAddress = 2000
		o.Limits.Requests = 1024
	})
	l := &watched{Listener: listen(t)}
	h.run(t, l)
	half := "GET /x HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-Pad: "+strings.Repeat("p", 1000)+"\r\n", 62)
	whole := strings.Replace(half, "/x", "/long", 1) + "\r\n"
	var lines strings.Builder
	for n := 0; lines.Len() < 63_000; n++ {
		fmt.Fprintf(&lines, "%x:\r\n", n)
	}
	payloads := []string{half, bomb(200, 200), whole, "GET /x HTTP/1.1\r\nHost: x\r\n" + lines.String()}
	before := live()
	clients := make([]net.Conn, 1000)
	for n := range clients {
		clients[n] = dial(t, l)
		_, _ = io.WriteString(clients[n], payloads[n%len(payloads)]) // some are cut off half-way
	}
	for n, c := range clients {
		until(t, "the server to have read what it reads", func() bool { return l.settled(c, len(payloads[n%len(payloads)])) })
	}
	const most = 100 << 20
	if after := live(); after > before+most {
		t.Errorf("the connections cost %d MB, want %d at most", (after-before)>>20, most>>20)
	} else {
		t.Logf("the connections cost %d MB", (after-before)>>20)
	}
	c := dial(t, l)
	_, _ = io.WriteString(c, "GET /good HTTP/1.1\r\nHost: x\r\nX-From: 192.0.2.1\r\nConnection: close\r\n\r\n")
	got, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 200") {
		t.Errorf("another caller was answered %q, %v", got, err)
	}
}

// The connections of a network are limited, and those with HTTP/2 more strictly. Closed
// connections are not counted.
func TestConnectionsOfOneAddress(t *testing.T) {
	var refused atomic.Int64
	var proxy atomic.Bool
	h := newHarness(t, map[string]http.HandlerFunc{"GET /x": hello}, func(o *httpserver.Options) {
		o.Limits.Connections = 20
		o.Limits.PerAddress = 10
		o.Clients.Proxy = func(netip.Addr) bool { return proxy.Load() }
		o.Limits.Refused = func() { refused.Add(1) }
	})
	l := listen(t)
	h.run(t, l)
	served := func(hello, want string) (conns []net.Conn, n int) {
		for range 30 {
			c := dial(t, l)
			_, _ = io.WriteString(c, hello)
			got := make([]byte, len(want))
			if _, err := io.ReadFull(c, got); err == nil && string(got) == want {
				n++
			}
			conns = append(conns, c)
		}
		return conns, n
	}
	const one = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n"
	two := bomb(0, 0)
	for _, test := range []struct {
		hello, want string
		proxy       bool
		most        int
	}{{one, "HTTP/1.1 200", false, 10}, {two, "\x00", false, 8}, {one, "HTTP/1.1 200", true, 20}, {two, "\x00", true, 20}} {
		proxy.Store(test.proxy)
		// The server notices a while after it that connections were closed.
		until(t, fmt.Sprintf("%.10q, proxy %v: %d to be served", test.hello, test.proxy, test.most), func() bool {
			refused.Store(0)
			conns, n := served(test.hello, test.want)
			if n > test.most || refused.Load() != int64(len(conns)-n) {
				t.Fatalf("%.10q, proxy %v: %d are served and %d refused, want %d served", test.hello, test.proxy, n, refused.Load(), test.most)
			}
			for _, c := range conns {
				_ = c.Close()
			}
			return n == test.most
		})
	}
}

// The lines of a header are limited. A body and the next header are counted separately.
func TestLinesOfAHead(t *testing.T) {
	h := newHarness(t, map[string]http.HandlerFunc{"POST /x": func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		_, _ = w.Write(sent)
	}})
	l := listen(t)
	h.run(t, l)
	body := strings.Repeat("\n", 5000)
	request := func(lines int) string {
		return "\r\nPOST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n" + strings.Repeat("A: b\r\n", lines-3) + "\r\n" + body
	}
	c := dial(t, l)
	in := bufio.NewReader(c)
	for _, lines := range []int{256, 250, 256, 257} {
		_, _ = io.WriteString(c, request(lines)[2:])
		res, err := http.ReadResponse(in, nil)
		if err != nil && lines > 256 {
			break // closed, before or after the response
		}
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(res.Body)
		if ok := res.StatusCode == 200 && len(got) == 5000; ok != (lines <= 256) {
			t.Errorf("%d lines: %d with %d bytes", lines, res.StatusCode, len(got))
		}
	}
}

// An HTTP/1 request that starts like HTTP/2 is limited too.
func TestLinesOfAFalsePreface(t *testing.T) {
	h := newHarness(t, map[string]http.HandlerFunc{"/x": hello})
	l := listen(t)
	h.run(t, l)
	c := dial(t, l)
	go func() { // the server may stop reading
		_, _ = io.WriteString(c, "PRI /x HTTP/1.1\r\nHost: x\r\n"+strings.Repeat("A: b\r\n", 300)+"\r\n")
	}()
	if got, _ := io.ReadAll(c); strings.Contains(string(got), " 200 ") {
		t.Errorf("300 lines are answered %q", got)
	}
}

// from is a listener whose connections come from an address.
type from struct {
	net.Listener
	addr net.Addr
}

type fromConn struct {
	net.Conn
	addr net.Addr
}

func (f from) Accept() (net.Conn, error) {
	c, err := f.Listener.Accept()
	return fromConn{c, f.addr}, err
}

func (f fromConn) RemoteAddr() net.Addr { return f.addr }

// A proxy is identified by its address, while other peers are counted by network.
func TestProxyOfIPv6(t *testing.T) {
	proxy := netip.MustParseAddr("2001:db8::5")
	h := newHarness(t, map[string]http.HandlerFunc{"GET /x": hello}, func(o *httpserver.Options) {
		o.Limits.PerAddress = 1
		o.Clients.Proxy = func(a netip.Addr) bool { return a == proxy }
	})
	l := listen(t)
	h.run(t, from{l, net.TCPAddrFromAddrPort(netip.AddrPortFrom(proxy, 1000))})
	for n := range 3 {
		c := dial(t, l)
		_, _ = io.WriteString(c, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, err := io.ReadFull(c, make([]byte, 12)); err != nil {
			t.Errorf("connection %d of a proxy: %v", n+1, err)
		}
	}
}

// The active requests with a body of a network are limited. Other networks, health and
// readiness are served meanwhile.
func TestBodiesOfOneNetwork(t *testing.T) {
	entered := make(chan struct{})
	h := newHarness(t, map[string]http.HandlerFunc{"POST /x": func(_ http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		_, _ = io.ReadAll(r.Body)
	}}, func(o *httpserver.Options) { o.Limits.Requests = 65 })
	send := func(from string, body io.Reader) int {
		r := httptest.NewRequest(http.MethodPost, "/x", body)
		r.Header.Set("X-From", from)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	slow, end := io.Pipe()
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() { send("2001:db8::1", slow) })
		<-entered
	}
	if status := send("2001:db8::2", slow); status != http.StatusTooManyRequests {
		t.Errorf("one more of the network is answered %d", status)
	}
	all.Go(func() { send("192.0.2.1", slow) })
	<-entered // another network is served, and now there are as many in work as may be
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/y": 503} {
		if res := h.do(http.MethodGet, path); res.Code != want {
			t.Errorf("%s is answered %d, want %d", path, res.Code, want)
		}
	}
	_ = end.Close()
	all.Wait()
	go func() { <-entered }()
	if status := send("2001:db8::2", strings.NewReader("x")); status != http.StatusOK {
		t.Errorf("when the others are answered, it is %d", status)
	}
}

// Requests over the limit of active requests are refused. Parked requests are not active.
func TestActiveRequests(t *testing.T) {
	enter, leave := make(chan struct{}), make(chan struct{})
	h := newHarness(t, map[string]http.HandlerFunc{
		"GET /work": func(http.ResponseWriter, *http.Request) { enter <- struct{}{}; <-leave },
		"GET /wait": func(w http.ResponseWriter, _ *http.Request) {
			w.(interface{ Park() }).Park()
			enter <- struct{}{}
			<-leave
		},
		"GET /x": hello,
	}, func(o *httpserver.Options) { o.Limits.Requests = 2 })
	for _, path := range []string{"/wait", "/work", "/wait", "/work"} {
		go h.do("GET", path)
		<-enter
	}
	if w := h.do("GET", "/x"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("one too many is answered %d", w.Code)
	}
	func() {
		defer func() {
			if recover() != http.ErrAbortHandler {
				t.Error("over HTTP/2 it is not aborted")
			}
		}()
		h.do("GET", "/x", func(r *http.Request) { r.ProtoMajor = 2 })
	}()
	for range 4 {
		leave <- struct{}{}
	}
	until(t, "a place", func() bool { return h.do("GET", "/x").Code == 200 })
}

// A client has an eighth of the active requests at most, also behind a proxy. Others are
// served meanwhile, and a proxy itself, which no other client is known behind, is not
// limited.
func TestRequestsOfOneClient(t *testing.T) {
	const most = 100
	enter, leave := make(chan struct{}), make(chan struct{})
	proxy := netip.MustParseAddr("192.0.2.254")
	h := newHarness(t, map[string]http.HandlerFunc{
		"GET /work": func(http.ResponseWriter, *http.Request) { enter <- struct{}{}; <-leave },
		"GET /x":    hello,
	}, func(o *httpserver.Options) {
		o.Limits.Requests = 8 * most
		o.Clients.Proxy = func(a netip.Addr) bool { return a == proxy || a.IsLoopback() }
	})
	from := func(client string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("X-From", client)
			r.RemoteAddr = proxy.String() + ":1000"
		}
	}
	for client, limited := range map[string]bool{
		"192.0.2.1":      true,
		"2001:db8::1":    true,
		"127.0.0.2":      true, // behind a proxy on the same machine
		proxy.String():   false,
		"198.51.100.100": true,
	} {
		var all sync.WaitGroup
		for range most {
			all.Go(func() { h.do("GET", "/work", from(client)) })
			<-enter
		}
		w := h.do("GET", "/x", from(client))
		if refused := w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") != ""; refused != limited {
			t.Errorf("%s: one more is answered %d", client, w.Code)
		}
		if w := h.do("GET", "/x", from("203.0.113.1")); w.Code != http.StatusOK {
			t.Errorf("%s: another client is answered %d", client, w.Code)
		}
		for range most {
			leave <- struct{}{}
		}
		all.Wait()
		if w := h.do("GET", "/x", from(client)); w.Code != http.StatusOK {
			t.Errorf("%s: when the others are answered, one is %d", client, w.Code)
		}
	}
}

// The /64 networks of one /48 together have twice the requests of one.
func TestRequestsOfOneSite(t *testing.T) {
	const most = 100
	enter, leave := make(chan struct{}), make(chan struct{})
	h := newHarness(t, map[string]http.HandlerFunc{
		"GET /work": func(http.ResponseWriter, *http.Request) { enter <- struct{}{}; <-leave },
		"GET /x":    hello,
	}, func(o *httpserver.Options) { o.Limits.Requests = 8 * most })
	from := func(network int) func(*http.Request) {
		return header("X-From", fmt.Sprintf("2001:db8:1:%x::1", network))
	}
	var all sync.WaitGroup
	for n := range 2 * most {
		all.Go(func() { h.do("GET", "/work", from(n)) })
		<-enter
	}
	if w := h.do("GET", "/x", from(5000)); w.Code != http.StatusTooManyRequests {
		t.Errorf("one more of the site is answered %d", w.Code)
	}
	if w := h.do("GET", "/x", header("X-From", "2001:db8:2::1")); w.Code != http.StatusOK {
		t.Errorf("another site is answered %d", w.Code)
	}
	for range 2 * most {
		leave <- struct{}{}
	}
	all.Wait()
	if w := h.do("GET", "/x", from(5000)); w.Code != http.StatusOK {
		t.Errorf("when the others are answered, one is %d", w.Code)
	}
}

// A reader has to accept a part of a response within ten seconds. One that does is served,
// however long all of it takes.
func TestSlowReaders(t *testing.T) {
	const size = 1 << 20
	for _, test := range []struct {
		name   string
		pause  time.Duration // before each read, of more than a part of 64 KiB
		served bool
	}{
		{"reads each part in time", 9 * time.Second, true},
		{"reads too slowly", 11 * time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, map[string]http.HandlerFunc{"GET /long": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, size)) }})
			pipes := pipetest.New()
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- h.Run(ctx, pipes) }()
			c, _ := pipes.Dial(ctx, "", "")
			go func() { _, _ = io.WriteString(c, "GET /long HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") }()
			part, got := make([]byte, 80<<10), 0
			var err error
			for err == nil {
				time.Sleep(test.pause)
				var n int
				n, err = io.ReadFull(c, part)
				got += n
			}
			if served := got > size; served != test.served {
				t.Errorf("%s: it got %d bytes, then %v", test.name, got, err)
			}
			_ = c.Close()
			stop()
			<-done
		})
	}
}

// A handler may pause between two writes: the deadline of one write is not that of the
// next, though over HTTP/2 an expired deadline ends a stream without a write.
func TestPauseBetweenWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, map[string]http.HandlerFunc{"GET /slow": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "first ")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Second)
			_, _ = io.WriteString(w, "second")
		}})
		pipes := pipetest.New()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx, pipes) }()
		for _, two := range []bool{false, true} {
			transport := &http.Transport{DialContext: pipes.Dial, Protocols: new(http.Protocols)}
			transport.Protocols.SetHTTP1(!two)
			transport.Protocols.SetUnencryptedHTTP2(two)
			resp, err := (&http.Client{Transport: transport}).Get("http://pipe/slow")
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || string(body) != "first second" {
				t.Errorf("%s: %q, %v", resp.Proto, body, err)
			}
			transport.CloseIdleConnections()
		}
		stop()
		<-done
	})
}
