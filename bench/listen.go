package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// published is the event that listeners count.
const published = "report.published"

// receipt is an event that every listener has received.
type receipt struct {
	ID    string `json:"id"`
	Data  string `json:"data"`
	First int64  `json:"first"` // when the first listener had it: Unix nanoseconds
	Last  int64  `json:"last"`
}

// listeners are many streams of one server, read by a separate process.
type listeners struct {
	cmd      *exec.Cmd
	receipts chan receipt // closed when the process ends
}

// listen opens n streams. The requests are used in turn, each for an equal share
// of the streams.
func listen(base string, n int, requests [][]byte) (*listeners, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	l := &listeners{cmd: exec.Command(self, "listen", strings.TrimPrefix(base, "http://"), strconv.Itoa(n)), receipts: make(chan receipt, 100)}
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	l.cmd.Stderr = os.Stderr
	input, err := json.Marshal(requests)
	if err != nil {
		return nil, err
	}
	l.cmd.Stdin = bytes.NewReader(input)
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := l.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "open\n" {
		return nil, errors.Join(errors.New("not all listeners could connect"), l.stop())
	}
	go func() {
		defer close(l.receipts)
		for in := json.NewDecoder(lines); ; {
			var r receipt
			if in.Decode(&r) != nil {
				return
			}
			l.receipts <- r
		}
	}()
	return l, nil
}

func (l *listeners) stop() error {
	_ = l.cmd.Process.Kill()
	_ = l.cmd.Wait() // fails, because the process was killed
	return nil
}

// next waits until every listener has one more event.
func (l *listeners) next() (receipt, error) {
	select {
	case r, ok := <-l.receipts:
		if !ok {
			return r, errors.New("a stream has ended")
		}
		return r, nil
	case <-time.After(30 * time.Second):
		return receipt{}, errors.New("not every listener has the event")
	}
}

// listenMain reads all streams in one loop over epoll: on the same machine as
// the server, a goroutine for each would cost as much as the server that is measured.
func listenMain(args []string) {
	n, err := strconv.Atoi(args[1])
	if err == nil {
		err = readStreams(args[0], n)
	}
	fmt.Fprintln(os.Stderr, "listen:", err)
	os.Exit(1)
}

// stream is one open stream.
type stream struct {
	begun bool   // the head of the response was read
	rest  []byte // of an incomplete frame
}

func readStreams(address string, n int) error {
	var requests [][]byte
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		return err
	}
	to, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return err
	}
	target := &syscall.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())}
	poll, err := syscall.EpollCreate1(0)
	if err != nil {
		return err
	}
	r := &counter{streams: map[int32]*stream{}, size: n, counts: map[string]int{}, first: map[string]int64{}, out: json.NewEncoder(os.Stdout)}
	buffer, events := make([]byte, 64<<10), make([]syscall.EpollEvent, 1024)
	// Not all at once, because the accept queue of the server is limited.
	for opened := 0; ; {
		for ; opened < n && opened < r.begun+100; opened++ {
			fd, err := openStream(target, requests[opened*len(requests)/n])
			if err != nil {
				return err
			}
			r.streams[int32(fd)] = &stream{}
			if err := syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}); err != nil {
				return err
			}
		}
		ready, err := syscall.EpollWait(poll, events, -1)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		for _, e := range events[:max(ready, 0)] {
			size, err := syscall.Read(int(e.Fd), buffer)
			if err != nil {
				return err
			}
			if size == 0 {
				return io.ErrUnexpectedEOF
			}
			if err := r.take(r.streams[e.Fd], buffer[:size]); err != nil {
				return err
			}
		}
	}
}

func openStream(target syscall.Sockaddr, request []byte) (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	if err := syscall.Connect(fd, target); err != nil {
		return 0, err
	}
	_, err = syscall.Write(fd, request)
	return fd, err
}

// counter counts the streams that have received each event.
type counter struct {
	streams map[int32]*stream
	size    int
	begun   int
	counts  map[string]int // number of streams that have an event, by its id
	first   map[string]int64
	out     *json.Encoder
}

var (
	frameEnd = []byte("\n\n")
	headEnd  = []byte("\r\n\r\n")
	wanted   = []byte("event: " + published + "\n")
)

// take counts the events that a stream has received.
func (r *counter) take(s *stream, b []byte) error {
	if len(s.rest) > 0 {
		b = append(s.rest, b...)
		s.rest = nil
	}
	if !s.begun {
		head, rest, ok := bytes.Cut(b, headEnd)
		if !ok {
			s.rest = bytes.Clone(b)
			return nil
		}
		if !bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")) {
			return fmt.Errorf("unexpected response of a stream: %.300s", b)
		}
		b, s.begun = rest, true
		if r.begun++; r.begun == r.size {
			fmt.Println("open")
		}
	}
	for {
		frame, rest, ok := bytes.Cut(b, frameEnd)
		if !ok {
			break
		}
		b = rest
		if bytes.Contains(frame, wanted) {
			if err := r.count(frame); err != nil {
				return err
			}
		}
	}
	if len(b) > 2 { // skip the end of a chunk
		s.rest = bytes.Clone(b)
	}
	return nil
}

func (r *counter) count(frame []byte) error {
	id := string(field(frame, "id: "))
	if r.counts[id]++; r.counts[id] == 1 {
		r.first[id] = time.Now().UnixNano()
	}
	if r.counts[id] < r.size {
		return nil
	}
	if r.counts[id] > r.size {
		return fmt.Errorf("the event %s came more than once", id)
	}
	return r.out.Encode(receipt{ID: id, Data: string(field(frame, "data: ")), First: r.first[id], Last: time.Now().UnixNano()})
}

// field returns the rest of the line that begins with a name.
func field(frame []byte, name string) []byte {
	for line := range bytes.Lines(frame) {
		if value, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return bytes.TrimSuffix(value, []byte("\n"))
		}
	}
	return nil
}
