package ratelimit_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/server/ratelimit"
)

// serve starts a server with arbitrary replies and returns its URL.
func serve(t *testing.T, answer func(command []byte) []byte) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	talk := func(conn net.Conn) {
		defer func() { _ = conn.Close() }()
		command := make([]byte, 64<<10)
		for {
			n, err := conn.Read(command)
			if err != nil {
				return
			}
			reply := []byte("-ERR unknown command\r\n")
			switch {
			case bytes.Contains(command[:n], []byte("EVAL")):
				reply = answer(command[:n])
			case bytes.Contains(command[:n], []byte("PING")):
				reply = []byte("+PONG\r\n")
			}
			if _, err := conn.Write(reply); err != nil {
				return
			}
		}
	}
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { talk(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})
	return "redis://" + listener.Addr().String()
}

func TestReplies(t *testing.T) {
	const fine = "*3\r\n:1\r\n:59\r\n:3600000000\r\n"
	for _, c := range []struct {
		name, reply string
		up          bool
	}{
		{"a good one", fine, true},
		{"an array", "*4000000\r\n", false},
		{"an array within", "*3\r\n:1\r\n*4000000\r\n", false},
		{"an array after a string", "*3\r\n$5\r\n\r\n*1\r\n\r\n*4000000\r\n", false},
		{"an array after too long a string", "*3\r\n$1\r\nabc*4000000\r\n", false},
		{"an array after nothing", "*3\r\n$-1\r\n*-1\r\n*4000000\r\n", false},
		{"a sign", "*+4000000\r\n", false},
		{"a string", "$64000000\r\n", false},
		{"a map", "%1000000\r\n", false},
		{"a set", "~4000000\r\n", false},
		{"a push", ">4000000\r\n", false},
		{"attributes", "|4000000\r\n", false},
		{"an error", "!64000000\r\n", false},
		{"a text", "=64000000\r\n", false},
		{"arrays of arrays", strings.Repeat("*64\r\n", 1<<20), false},
		{"a line without an end", "-" + strings.Repeat("x", 32<<20), false},
		{"too high for a number", "*99999999999999999999\r\n", false},
		{"negative", "*-2\r\n", false},
		{"no number", "*\r\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			reply := []byte(c.reply)
			timeout := 2 * time.Second
			if c.up {
				timeout = 5 * time.Minute
			}
			r, log := openWithin(t, serve(t, func([]byte) []byte { return reply }), timeout, time.Hour)
			l := r.Shared(perHour)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if got := l.Take(t.Context(), number(1)); !got.OK || got.Remaining != 59 {
				t.Errorf("%+v, want 59 left", got)
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
				t.Errorf("it took %d MB", took>>20)
			}
			if r.Up() != c.up {
				t.Errorf("up: %v: %s", r.Up(), log)
			}
		})
	}
}

// pieces is a connection that delivers pieces of a fixed length.
type pieces struct {
	net.Conn
	rest  []byte
	piece int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(p.piece, len(b))], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *pieces) Write(b []byte) (int, error) { return len(b), nil }

// header matches the start of a reply with a length.
var header = regexp.MustCompile(`^[*$]([+-]?[0-9]{1,5})\r\n`)

// good parses replies in a simple way. The last may be incomplete.
func good(all []byte) bool {
	for len(all) > 0 {
		line, rest, ended := bytes.Cut(all, []byte("\n"))
		switch all[0] {
		case '+', '-', ':':
			all = rest
			continue
		case '*', '$':
		default:
			return false
		}
		if !ended {
			return len(line) <= 7
		}
		m := header.FindSubmatch(all)
		if m == nil {
			return false
		}
		n, _ := strconv.Atoi(string(m[1]))
		switch {
		case n < -1 || n > ratelimit.LongestReply || all[0] == '*' && n > 64:
			return false
		case all[0] == '$' && n >= 0:
			rest = rest[min(n+2, len(rest)):]
		}
		all = rest
	}
	return true
}

func FuzzReplies(f *testing.F) {
	for _, s := range []string{
		"+OK\r\n", "-ERR a\r\n*100\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n", "*64\r\n", "*65\r\n", "$3\r\nabc\r\n$-1\r\n",
		"$5\r\n\r\n*99\r\n:1\r\n", "$0\r\n\r\n+\r\n", "*1\n", "*0000001\r\n", "$16384\r\n", "$16385\r\n", "%1\r\n", "*+1\r\n", "*-2\r\n",
	} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(4))
	}
	f.Fuzz(func(t *testing.T, all []byte, piece uint8) {
		conn := ratelimit.Limit(&pieces{rest: all, piece: int(piece) + 1})
		got, err := io.ReadAll(conn)
		if !bytes.HasPrefix(all, got) {
			t.Fatalf("%q was read of %q", got, all)
		}
		if want := good(all) && len(all) < ratelimit.LongestReply; want != (err == nil) {
			t.Fatalf("%q: %v", all, err)
		}
		if err == nil && len(got) != len(all) {
			t.Fatalf("only %q was read of %q", got, all)
		}
		if err != nil {
			if _, again := conn.Read(make([]byte, 1)); !errors.Is(again, err) {
				t.Fatalf("it was %v and is %v", err, again)
			}
		}
	})
}

// TestMaxReply checks that the limit is reset for each command.
func TestMaxReply(t *testing.T) {
	reply := "+" + strings.Repeat("x", ratelimit.LongestReply-3) + "\r\n"
	conn := ratelimit.Limit(&pieces{rest: []byte(strings.Repeat(reply, 3) + "+"), piece: 1000})
	for range 3 {
		if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, len(reply))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a reply may be longer")
	}
}
