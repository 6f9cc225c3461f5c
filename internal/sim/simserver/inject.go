package simserver

import (
	"bytes"
	"compress/gzip"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// failing returns a response with a status.
func failing(status int) func(*Server, http.ResponseWriter, *http.Request) {
	return func(_ *Server, w http.ResponseWriter, _ *http.Request) {
		http.Error(w, http.StatusText(status), status)
	}
}

// errorAsSuccess answers an error page with the status of a success.
func errorAsSuccess(_ *Server, w http.ResponseWriter, r *http.Request) {
	write(w, r, plain("Error", `<div class="error"><p>No ha sido posible completar su consulta.</p></div>`))
}

// redirect answers a redirect to the same address.
func redirect(_ *Server, w http.ResponseWriter, r *http.Request) {
	write(w, r, answer{status: http.StatusFound, location: r.URL.RequestURI()})
}

// stall waits for a time, or until the client gives up or the server closes.
func (s *Server) stall(r *http.Request, by time.Duration) {
	timer := time.NewTimer(by)
	defer timer.Stop()
	select {
	case <-timer.C:
		return
	case <-r.Context().Done():
	case <-s.done:
	}
	panic(http.ErrAbortHandler)
}

// reset closes the connection with an error for the client.
func reset(_ *Server, w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// endless starts a page and never ends it.
func endless(s *Server, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", html)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	drip := []byte(strings.Repeat("<li>Un momento, por favor</li>\r\n", 32))
	for {
		if _, err := w.Write(drip); err != nil {
			return
		}
		if http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.done:
			panic(http.ErrAbortHandler)
		}
	}
}

// truncate cuts an answer in the middle of a row. Every other answer declares the
// length of the whole one.
func truncate(s *Server, w http.ResponseWriter, _ *http.Request, a answer) {
	s.faults.mu.Lock()
	s.faults.cuts++
	declared := s.faults.cuts%2 == 1
	s.faults.mu.Unlock()
	if declared {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	writeHead(w, a)
	_, _ = w.Write(a.body[:middle(a.body)])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// half sends the first half of an answer as if it were all.
func half(_ *Server, w http.ResponseWriter, r *http.Request, a answer) {
	a.body = a.body[:len(a.body)/2]
	write(w, r, a)
}

// middle returns a position within the middle row, if there are rows.
func middle(body []byte) int {
	for _, mark := range []string{"_liHora\"", "<pubDate>", "\"companyKey\""} {
		count := bytes.Count(body, []byte(mark))
		at := 0
		for range (count + 1) / 2 {
			at += bytes.Index(body[at:], []byte(mark)) + len(mark)
		}
		if count > 0 {
			return at
		}
	}
	return len(body) / 2
}

// rename changes the element names on which parsers of pages and feeds depend.
func rename(_ *Server, w http.ResponseWriter, r *http.Request, a answer) {
	a.body = bytes.ReplaceAll(a.body, []byte("elementoPrimerNivel"), []byte("filaRegistro"))
	a.body = bytes.ReplaceAll(a.body, []byte("data-th="), []byte("data-columna="))
	a.body = bytes.ReplaceAll(a.body, []byte("Channel>"), []byte("Canal>"))
	write(w, r, a)
}

// huge adds 50 MB of spaces to an answer.
func huge(_ *Server, w http.ResponseWriter, r *http.Request, a answer) {
	at := 0
	for _, mark := range []string{"</head>", "<Channel>"} {
		if n := bytes.Index(a.body, []byte(mark)); n > 0 {
			at = n
		}
	}
	writeHead(w, a)
	_, _ = w.Write(a.body[:at])
	padding := bytes.Repeat([]byte(" "), 1<<20)
	for range 50 {
		if _, err := w.Write(padding); err != nil || r.Context().Err() != nil {
			return
		}
	}
	_, _ = w.Write(a.body[at:])
}

// zeros is a compressed gigabyte of zeros. It repeats one compressed megabyte, which
// is a valid gzip file.
var zeros = sync.OnceValue(func() []byte {
	var one bytes.Buffer
	z := gzip.NewWriter(&one)
	_, _ = z.Write(make([]byte, 1<<20)) // a buffer never fails
	_ = z.Close()
	return bytes.Repeat(one.Bytes(), 1<<10)
})

// bomb answers a compressed gigabyte to clients that accept gzip.
func bomb(_ *Server, w http.ResponseWriter, r *http.Request, a answer) {
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		write(w, r, a)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	a.body = zeros()
	write(w, r, a)
}
