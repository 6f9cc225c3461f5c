package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"syscall"
	"time"
)

const (
	replicaCount    = 3
	replicaReports  = 200
	replicaFailures = 5 // of each kind
)

// replica is one of several processes on the same store.
type replica struct {
	*process
	debug   string
	streams *listeners
}

// replicas measures how long after its append a report is visible on all replicas, and
// how long it takes until another replica reads the source when the one that does is
// killed, and when it hangs.
func (b *bench) replicas() error {
	sim, err := launch(b.program, "sim", "--listen", "127.0.0.1:0", "--rate", "0")
	if err != nil {
		return err
	}
	defer sim.stop()
	server, err := startPostgres()
	if err != nil {
		return err
	}
	defer server.stop()
	if err := b.migrate(server.url); err != nil {
		return err
	}
	requests, err := b.streamRequests(server.url, 1)
	if err != nil {
		return err
	}
	var all []*replica
	defer func() {
		for _, r := range all {
			_ = r.cmd.Process.Kill()
			_ = r.cmd.Wait()
		}
	}()
	begin := func() error {
		r, err := b.replica(sim.url, server.url)
		if err == nil {
			all = append(all, r)
		}
		return err
	}
	for range replicaCount {
		if err := begin(); err != nil {
			return err
		}
	}
	if err := settle(all[0].process); err != nil {
		return err
	}
	if err := visibility(sim.url, all, requests); err != nil {
		return err
	}
	for _, how := range []struct {
		name   string
		signal syscall.Signal
	}{{"replicas.takeover", syscall.SIGKILL}, {"replicas.takeover.frozen", syscall.SIGSTOP}, {"replicas.takeover.stopped", syscall.SIGTERM}} {
		var times []time.Duration
		for range replicaFailures {
			took, rest, err := takeOver(sim.url, all, how.signal)
			if err != nil {
				return fmt.Errorf("%s: %w", how.name, err)
			}
			times, all = append(times, took), rest
			if err := begin(); err != nil {
				return err
			}
		}
		slices.Sort(times)
		figure(how.name, percentile(times, 1), "s")
		figure(how.name+".p50", percentile(times, 0.5), "s")
	}
	return nil
}

func (b *bench) replica(origin, store string) (*replica, error) {
	debug, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p, err := b.reads(origin, store, "--debug-listen", debug, "--drain", "0s")
	return &replica{process: p, debug: "http://" + debug}, err
}

// visibility measures the time from the append of a report, as its event states, to its
// arrival in a stream of the last replica.
func visibility(origin string, all []*replica, requests [][]byte) error {
	for _, r := range all {
		l, err := listen(r.url, 1, requests)
		if err != nil {
			return err
		}
		defer l.stop()
		r.streams = l
	}
	var times []time.Duration
	for range replicaReports {
		if err := post(origin+"/_sim/publish", "", `{"type":"ip"}`); err != nil {
			return err
		}
		last := time.Duration(0)
		for _, r := range all {
			got, err := r.streams.next()
			if err != nil {
				return err
			}
			var event struct {
				At time.Time `json:"occurred_at"`
			}
			if err := json.Unmarshal([]byte(got.Data), &event); err != nil {
				return err
			}
			last = max(last, time.Unix(0, got.Last).Sub(event.At))
		}
		times = append(times, last)
	}
	slices.Sort(times)
	figure("replicas.visibility", percentile(times, 0.99)*1000, "ms")
	figure("replicas.visibility.p50", percentile(times, 0.5)*1000, "ms")
	return nil
}

// takeOver signals the replica that reads the source, and returns the time until another
// one has a report that is published then, and the other replicas.
func takeOver(origin string, all []*replica, signal syscall.Signal) (time.Duration, []*replica, error) {
	i, err := reading(all)
	if err != nil {
		return 0, nil, err
	}
	victim, rest := all[i], slices.Delete(slices.Clone(all), i, i+1)
	began := time.Now()
	if err := victim.cmd.Process.Signal(signal); err != nil {
		return 0, nil, err
	}
	defer func() {
		_ = victim.cmd.Process.Kill()
		_ = victim.cmd.Wait()
	}()
	if signal != syscall.SIGSTOP {
		_ = victim.cmd.Wait()
	}
	id, err := publishOne(origin)
	if err != nil {
		return 0, nil, err
	}
	for time.Since(began) < time.Minute {
		resp, err := http.Get(rest[0].url + "/api/v1/reports/" + id)
		if err != nil {
			return 0, nil, err
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return time.Since(began), rest, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, nil, errors.New("no other replica reads the source")
}

// publishOne publishes a report and returns its id.
func publishOne(origin string) (string, error) {
	resp, err := http.Post(origin+"/_sim/publish", "application/json", nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var out struct{ ID string }
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return "", fmt.Errorf("publishing: got status %s: %w", resp.Status, err)
	}
	if out.ID == "" {
		return "", fmt.Errorf("publishing: got status %s and no id", resp.Status)
	}
	return out.ID, nil
}

var holding = regexp.MustCompile(`(?m)^pregon_ingest_lease_held(?:\{[^}]*\})? 1$`)

// reading returns the index of the replica that reads the source.
func reading(all []*replica) (int, error) {
	for range 1000 {
		for i, r := range all {
			resp, err := http.Get(r.debug + "/metrics")
			if err != nil {
				return 0, err
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				return 0, err
			}
			if holding.Match(body) {
				return i, nil
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return 0, errors.New("no replica reads the source")
}
