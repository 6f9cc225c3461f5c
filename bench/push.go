package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof" // has a process collect its garbage
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	mostListeners = 10_000
	perKey        = 100 // streams that a key may open
	fanouts       = 9
	streamTarget  = "/api/v1/stream?events=" + published
)

// listenersAllowed is as many as the limit of open files lets a process have;
// Go's own start raises that as far as it may.
func listenersAllowed() (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	n := min(mostListeners, (int(limit.Max)-500)/perKey*perKey)
	if n < perKey {
		return 0, fmt.Errorf("too few files may be open: %d", limit.Max)
	}
	return n, nil
}

// key creates an API key in a store.
func (b *bench) key(store string) (string, error) {
	out, err := exec.Command(b.program, "keys", "create", "--plan", "enterprise", "--store", store).Output()
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// streamRequests creates the keys for n streams, and returns the requests that open
// them.
func (b *bench) streamRequests(store string, n int) ([][]byte, error) {
	var out [][]byte
	for range (n + perKey - 1) / perKey {
		key, err := b.key(store)
		if err != nil {
			return nil, err
		}
		out = append(out, request(streamTarget, "X-API-Key: "+key))
	}
	return out, nil
}

// reads starts Pregón with default settings and the simulated regulator as its
// source.
func (b *bench) reads(origin, store string, args ...string) (*process, error) {
	return start(b.program, append([]string{
		"serve", "--source", "cnmv", "--anonymous-limit", "0", "--regulator-url", origin, "--exchange-url", origin,
		"--listen", "127.0.0.1:0", "--store", store, "--registers", "none",
	}, args...)...)
}

// fanout compares the time that an event takes to reach the last of many
// listeners with that of a Mercure hub, in turns. Ours counts from when the
// report is appended to the store by the process that reads the source, as the
// event states; that of Mercure from when the request to publish is sent.
func (b *bench) fanout() error {
	n, err := listenersAllowed()
	if err != nil {
		return err
	}
	sim, err := launch(b.program, "sim", "--listen", "127.0.0.1:0", "--rate", "0")
	if err != nil {
		return err
	}
	defer sim.stop()
	path, err := b.emptyStore()
	if err != nil {
		return err
	}
	defer b.scratch(emptyStore)
	requests, err := b.streamRequests("sqlite:"+path, n)
	if err != nil {
		return err
	}
	// Besides the listeners there are other connections.
	p, err := b.reads(sim.url, "sqlite:"+path, append(debugFlags(), "--max-connections", "0")...)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := settle(p); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	peer, err := launch(self, "mercure")
	if err != nil {
		return err
	}
	defer peer.stop()
	publish, err := mercurePublisher(peer.url)
	if err != nil {
		return err
	}
	ours, err := listen(p.url, n, requests)
	if err != nil {
		return err
	}
	defer ours.stop()
	theirs, err := listen(peer.url, n, [][]byte{request(mercurePath + "?topic=reports")})
	if err != nil {
		return err
	}
	defer theirs.stop()
	var ratios, seconds, peerSeconds []float64
	for range fanouts {
		time.Sleep(3 * time.Second) // until the effects of the last event are over
		if err := post(sim.url+"/_sim/publish", "", `{"type":"oir"}`); err != nil {
			return err
		}
		got, err := ours.next()
		if err != nil {
			return fmt.Errorf("pregon: %w", err)
		}
		var event struct {
			At time.Time `json:"occurred_at"`
		}
		if err := json.Unmarshal([]byte(got.Data), &event); err != nil {
			return err
		}
		our := time.Unix(0, got.Last).Sub(event.At)
		time.Sleep(3 * time.Second)
		began := time.Now()
		if err := publish(got.ID, got.Data); err != nil {
			return err
		}
		had, err := theirs.next()
		if err != nil {
			return fmt.Errorf("mercure: %w", err)
		}
		their := time.Unix(0, had.Last).Sub(began)
		fmt.Fprintf(os.Stderr, "# %d bytes: %v, the first after %v; mercure %v, the first after %v\n",
			len(got.Data), our, time.Unix(0, got.First).Sub(event.At), their, time.Unix(0, had.First).Sub(began))
		ratios, seconds, peerSeconds = append(ratios, our.Seconds()/their.Seconds()), append(seconds, our.Seconds()), append(peerSeconds, their.Seconds())
	}
	figure("sse.listeners", float64(n), "listeners")
	figure("sse.fanout", median(ratios), "ratio")
	figure("sse.fanout.seconds", median(seconds), "s")
	figure("sse.fanout.mercure.seconds", median(peerSeconds), "s")
	return nil
}

// debugFlags returns the flags for profiling a run, at the address in BENCH_DEBUG.
func debugFlags() []string {
	if address := os.Getenv("BENCH_DEBUG"); address != "" {
		return []string{"--debug-listen", address}
	}
	return nil
}

// migrate creates an empty store.
func (b *bench) migrate(store string) error {
	if out, err := exec.Command(b.program, "migrate", "--store", store).CombinedOutput(); err != nil {
		return fmt.Errorf("making a store: %w: %s", err, out)
	}
	return nil
}

const emptyStore = "push.db"

// emptyStore creates a separate empty store.
func (b *bench) emptyStore() (path string, err error) {
	if path, err = b.scratch(emptyStore); err != nil {
		return "", err
	}
	return path, b.migrate("sqlite:" + path)
}

// post sends JSON, with a key if there is one.
func post(target, key, body string) error {
	req, err := http.NewRequest(http.MethodPost, target, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s: got status %s", target, resp.Status)
	}
	return nil
}

// streamMemory compares the memory of a waiting listener with that of a minimal
// handler that keeps a stream open. Both use the garbage collector settings of
// Pregón, which collect sooner than the default.
func (b *bench) streamMemory() error {
	n, err := listenersAllowed()
	if err != nil {
		return err
	}
	path, err := b.emptyStore()
	if err != nil {
		return err
	}
	defer b.scratch(emptyStore)
	requests, err := b.streamRequests("sqlite:"+path, n)
	if err != nil {
		return err
	}
	debug, err := freeAddress()
	if err != nil {
		return err
	}
	p, err := b.serve(path, "--debug-listen", debug)
	if err != nil {
		return err
	}
	defer p.stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	peer, err := launch("env", "GOGC=30", self, "barestream")
	if err != nil {
		return err
	}
	defer peer.stop()
	time.Sleep(5 * time.Second) // until the start is over
	servers := []struct {
		*process
		profiles string
		requests [][]byte
		per      float64
	}{{p, "http://" + debug, requests, 0}, {peer, peer.url, [][]byte{request("/stream")}, 0}}
	for i := range servers {
		s := &servers[i]
		before, err := s.settled(s.profiles)
		if err != nil {
			return err
		}
		l, err := listen(s.url, n, s.requests)
		if err != nil {
			return err
		}
		defer l.stop()
		s.per = -before
	}
	time.Sleep(time.Minute)
	for i := range servers {
		s := &servers[i]
		after, err := s.settled(s.profiles)
		if err != nil {
			return err
		}
		s.per = (s.per + after) / float64(n)
	}
	figure("sse.memory", servers[0].per/servers[1].per, "ratio")
	figure("sse.memory.bytes", servers[0].per, "bytes")
	figure("sse.memory.bare.bytes", servers[1].per, "bytes")
	return nil
}

// settled returns the memory of a process that has just collected its garbage and
// returned it to the system.
func (p *process) settled(profiles string) (float64, error) {
	for range 2 { // the second collects what the first frees from pools
		resp, err := http.Get(profiles + "/debug/pprof/heap?gc=1")
		if err != nil {
			return 0, err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("collecting garbage: got status %s", resp.Status)
		}
	}
	time.Sleep(5 * time.Second)
	return p.memory()
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// bareStreamMain is a minimal handler that keeps a stream open.
func bareStreamMain() {
	news := make(chan []byte) // never receives anything
	http.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		flusher := w.(http.Flusher)
		flusher.Flush()
		for {
			select {
			case event := <-news:
				if _, err := w.Write(event); err != nil {
					return
				}
				flusher.Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "listening address=http://%s\n", l.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(l, nil))
}
