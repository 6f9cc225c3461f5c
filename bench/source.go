package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// source measures how the program reads a source, the simulated regulator in a
// separate process.
func (b *bench) source() error {
	sim, err := launch(b.program, "sim", "--listen", "127.0.0.1:0", "--rate", "0")
	if err != nil {
		return err
	}
	defer sim.stop()
	if err := b.history(sim.url); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	path, err := b.scratch("source.db")
	if err != nil {
		return err
	}
	defer b.scratch("source.db")
	if err := b.live(sim.url, path); err != nil {
		return fmt.Errorf("live: %w", err)
	}
	p, err := b.serve(path)
	if err != nil {
		return err
	}
	defer p.stop()
	return idle("idle.cpu", p)
}

// live reads the source with default settings and the usual intervals.
func (b *bench) live(origin, path string) error {
	p, err := start(
		b.program, "serve", "--source", "cnmv", "--anonymous-limit", "0", "--regulator-url", origin, "--exchange-url", origin,
		"--listen", "127.0.0.1:0", "--store", "sqlite:"+path,
	)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := settle(p); err != nil {
		return err
	}
	if err := idle("ingest.cpu", p); err != nil {
		return err
	}
	if err := b.publish(origin, p.url, path); err != nil {
		return err
	}
	if err := settle(p); err != nil {
		return err
	}
	return idle("ingest.cpu.full_feeds", p) // which are requested in full every second
}

// scratch returns the path of a store, and removes any earlier one.
func (b *bench) scratch(name string) (string, error) {
	path := filepath.Join(b.dir, name)
	// The last one says that a store was there, without which none is made in its place.
	for _, old := range []string{path, path + "-wal", path + "-shm", path + ".served"} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return path, nil
}

// idle measures the processor time of an idle process, in percent of a core.
func idle(name string, p *process) error {
	time.Sleep(5 * time.Second) // earlier work may have left garbage
	before, err := p.busy()
	if err != nil {
		return err
	}
	start := time.Now()
	time.Sleep(time.Minute)
	after, err := p.busy()
	if err != nil {
		return err
	}
	figure(name, 100*(after-before).Seconds()/time.Since(start).Seconds(), "%")
	return nil
}

// settle waits until the source has been read and the store stops changing.
func settle(p *process) error {
	const still = 15 * time.Second
	last, since := "", time.Now()
	for begin := time.Now(); time.Since(begin) < 15*time.Minute; time.Sleep(500 * time.Millisecond) {
		var status struct {
			State    string `json:"state"`
			Seq      int64  `json:"seq"`
			Surfaces []struct {
				Name    string     `json:"name"`
				Success *time.Time `json:"last_success_at"`
			} `json:"surfaces"`
		}
		if err := getJSON(p.url+"/api/v1/status", &status); err != nil {
			return err
		}
		reached := 0
		for _, s := range status.Surfaces {
			if begins := s.Name == "registers" || s.Name == "exchange" || strings.HasPrefix(s.Name, "list-"); begins && s.Success != nil {
				reached++
			}
		}
		now := fmt.Sprint(status.State, status.Seq, reached)
		if seen := status.State == "live" || status.State == "quiet"; !seen || reached < 4 || now != last {
			last, since = now, time.Now()
			continue
		}
		if time.Since(since) > still {
			return nil
		}
	}
	return errors.New("the store does not stop changing: " + last)
}

func getJSON(target string, into any) error {
	resp, err := http.Get(target)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: got status %s: %.200s", target, resp.Status, body)
	}
	return json.Unmarshal(body, into)
}
