package main_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"pregon/internal/test/waittest"
)

// soakStreams is how many streams are open.
const soakStreams = 8

// soakClients follow the changes on every channel, through all faults.
type soakClients struct {
	streams        []*witness
	polled, tailed *witness
	steady, moody  *receiver
	struck         *receiver // whose faults are among those of the run
	agent          *agent
}

// start has the clients follow all changes from now on.
func (c *soakClients) start(s *soakRun) {
	s.Helper()
	ctx, f := s.Context(), s.fleet
	c.steady, c.moody, c.struck = newReceiver(s.T, false), newReceiver(s.T, true), newReceiver(s.T, true)
	for _, r := range []*receiver{c.steady, c.moody, c.struck} {
		r.register(s.T, f.any(), s.key)
	}
	s.began = c.steady.hook.StartsAfter
	c.polled, c.tailed, c.agent = &witness{}, &witness{}, &agent{known: map[string]int{}, notified: make(chan string, 1)}
	for range soakStreams {
		w := &witness{}
		c.streams = append(c.streams, w)
		go f.follow(ctx, s.key, s.began, w)
	}
	go f.poll(ctx, s.key, s.began, c.polled)
	go c.agent.follow(ctx, f, s.key)
	c.tail(s)
}

// tail runs pregon tail, with a proxy that gives each connection to another replica.
func (c *soakClients) tail(s *soakRun) {
	s.Helper()
	var turn atomic.Int64
	front := listenFor(s.T, func() *service { return s.fleet.at(int(turn.Add(1)) % len(s.fleet.sights)) })
	cmd := exec.Command(program, "tail", "--url", "http://"+front.Addr().String(), "--json", "--events", strings.Join(everyEvent, ","),
		"--after", strconv.FormatInt(s.began, 10))
	cmd.Env = []string{"PREGON_KEY=" + s.key}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	var complaints logbook
	problems, err := cmd.StderrPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(problems); lines.Scan(); {
			complaints.add(lines.Text())
		}
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for dec := json.NewDecoder(out); ; {
			var e pushed
			if err := dec.Decode(&e); err != nil {
				c.tailed.protest(fmt.Errorf("pregon tail ended: %w\n%s", err, complaints.String()))
				return
			}
			c.tailed.saw(e)
		}
	}()
	s.Cleanup(func() { _ = cmd.Process.Kill(); <-ended; _ = cmd.Wait() })
}

// have reports whether all clients that do not fail themselves have the reports.
func (c *soakClients) have(reports []publication) bool {
	for _, w := range append(slices.Clone(c.streams), c.polled, &c.steady.witness) {
		w.mu.Lock()
		missing := slices.ContainsFunc(reports, func(p publication) bool { return len(w.arrivals[p.id]) == 0 })
		w.mu.Unlock()
		if missing {
			return false
		}
	}
	return true
}

// agree returns an error unless every client has every change, and every report once.
func (c *soakClients) agree(s *soakRun, filed map[string]apiReport) error {
	newest, err := s.reader.store.Newest(s.Context())
	if err != nil {
		return err
	}
	named := map[string]*witness{"long poll": c.polled, "pregon tail": c.tailed}
	for i, w := range c.streams {
		named[fmt.Sprintf("stream %d", i+1)] = w
	}
	var all error
	for name, w := range named {
		if err := w.complete(s.began, newest); err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", name, err))
		}
	}
	for name, r := range map[string]*receiver{"webhook": c.steady, "moody webhook": c.moody, "struck webhook": c.struck} {
		if err := r.received(newest); err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", name, err))
		}
		named[name] = &r.witness
	}
	for name, w := range named {
		surface := strings.TrimRight(name, " 0123456789")
		all = errors.Join(all, s.tally(surface, filed, w.counts()))
	}
	return errors.Join(all, s.tally("MCP subscription", filed, c.agent.counts()))
}

// counts returns how often each report was announced.
func (w *witness) counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]int{}
	for id, at := range w.arrivals {
		out[id] = len(at)
	}
	return out
}

// measure records how late reports were, and what webhooks came again.
func (c *soakClients) measure(s *soakRun) {
	w := c.streams[0]
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range s.published {
		s.result.Late = append(s.result.Late, w.arrivals[p.id][0].Sub(p.at))
	}
	slices.Sort(s.result.Late)
	for _, r := range []*receiver{c.steady, c.moody, c.struck} {
		seen, _ := r.all()
		s.result.Delivered += len(seen)
		s.result.Repeated += r.repeats()
	}
}

// agent is an MCP client that subscribes to the newest reports. It lists the reports only
// when it was notified since it last did.
type agent struct {
	mu       sync.Mutex
	known    map[string]int // guarded by mu: 1 for each report that was listed
	notified chan string    // has room for one: the address of the replica
}

func (a *agent) counts() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.known)
}

// follow subscribes, and again whenever the subscription ends, until the context ends.
func (a *agent) follow(ctx context.Context, f *fleet, key string) {
	go a.read(ctx, f, key)
	for ; ctx.Err() == nil; waittest.Pace(ctx, comeBack) {
		base := f.any()
		resp, err := subscribe(ctx, base, key)
		if err != nil {
			continue // it is dead, or just starts
		}
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			// The acknowledgement counts too: what happened before it is not notified.
			if strings.Contains(lines.Text(), `"method":"notifications/resources/updated"`) || strings.Contains(lines.Text(), `"method":"notifications/subscriptions/acknowledged"`) {
				select {
				case a.notified <- base:
				default:
				}
			}
		}
		resp.Body.Close()
	}
}

// read lists all reports after a notification, since one that was found late is below
// known ones. Further notifications meanwhile cause one more walk.
func (a *agent) read(ctx context.Context, f *fleet, key string) {
	for {
		var base string
		select {
		case <-ctx.Done():
			return
		case base = <-a.notified: // others may not have the report yet
		}
		for ctx.Err() == nil && a.walk(ctx, base, key) != nil {
			waittest.Pace(ctx, comeBack)
			base = f.any()
		}
		waittest.Pace(ctx, 5*time.Second)
	}
}

func (a *agent) walk(ctx context.Context, base, key string) error {
	for page := 1; page > 0; {
		ids, next, err := toolSearch(ctx, base, key, page)
		if err != nil {
			return err
		}
		a.mu.Lock()
		for _, id := range ids {
			a.known[id] = 1
		}
		a.mu.Unlock()
		page = next
	}
	return nil
}

// subscribe opens a subscription of the newest reports.
func subscribe(ctx context.Context, base, key string) (*http.Response, error) {
	const revision = "2026-07-28"
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["pregon://reports/latest"]},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"soak","version":"1"}}}}`, revision)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "X-API-Key": key,
		"MCP-Protocol-Version": revision, "Mcp-Method": "subscriptions/listen",
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil && (resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream") {
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		err = fmt.Errorf("the subscription is answered with %s: %.200s", resp.Status, answer)
	}
	return resp, err
}

// toolSearch calls search_reports for a page of the reports since yesterday. It returns
// the next page, or 0.
func toolSearch(ctx context.Context, base, key string, page int) (ids []string, next int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": "search_reports", "arguments": map[string]any{"from": yesterday(), "limit": 10, "page": page},
	}}
	var answer struct {
		Result struct {
			IsError           bool
			StructuredContent struct {
				Data []struct{ ID string }
				Next *struct{ Page int }
			}
		}
		Error *struct{ Message string }
	}
	status, err := call(ctx, base, key, http.MethodPost, "/api/mcp", body, &answer)
	found := answer.Result.StructuredContent
	if err != nil || status != http.StatusOK || answer.Error != nil || answer.Result.IsError {
		return nil, 0, cmp.Or(err, fmt.Errorf("search_reports is answered with %d, %+v", status, answer.Error))
	}
	for _, r := range found.Data {
		ids = append(ids, r.ID)
	}
	if found.Next != nil {
		next = found.Next.Page
	}
	return ids, next, nil
}
