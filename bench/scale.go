package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// fleet is a number of replicas with what they serve.
type fleet struct {
	replicas  int
	requests  float64 // a second, in the mix, on all replicas together
	anonymous float64 // share of the requests that is counted in Redis
	listeners float64 // on all replicas together
	changes   float64 // reports a second
	hooks     float64 // webhooks that match every change
}

// machines is what the fleet runs on.
type machines struct {
	replica  int // processors of each replica
	postgres int // processors of the PostgreSQL server
}

// sourceRequests are the requests a second that the queue to the regulator has for pages and
// documents beside the feeds, and reportRequests those that a report needs: docs/performance.md.
const (
	sourceRequests = 1.67
	reportRequests = 2
)

// Stations are what work waits for.
const (
	atReplicas = iota // processors of the replicas
	atPostgres        // processors of PostgreSQL
	atLog             // the row that numbers changes: one append at a time
	atFanOut          // one process matches changes with webhooks and writes deliveries
	atRedis           // one thread
	atSource          // one process reads the regulator
	stations
)

var stationNames = [stations]string{
	"processors of the replicas", "processors of PostgreSQL", "the log", "the fan-out of webhooks", "Redis", "the queue to the regulator",
}

// servers returns how much each station works in a second, in seconds.
func (m machines) servers(replicas int) [stations]float64 {
	return [stations]float64{float64(replicas * m.replica), float64(m.postgres), 1, 1, 1, 1}
}

// demand returns the seconds of work at each station that a second of the fleet makes.
func (c *costs) demand(f fleet) (d [stations]float64) {
	const us = 1e-6
	replicas := float64(f.replicas)
	d[atReplicas] = us * (replicas*(c.Idle.Replica+f.changes*c.Follow.Replica) +
		f.requests*(c.Mix.Replica+f.anonymous*c.Counted.Replica) +
		f.listeners*(c.Listener.Replica+f.changes*c.Event.Replica) +
		f.changes*f.hooks*c.Delivery.Replica)
	d[atLog] = us * f.changes * c.Append.Postgres
	d[atFanOut] = us * f.changes * f.hooks * c.Delivery.Postgres // all of it, since it was not measured apart
	d[atPostgres] = us*(replicas*(c.Idle.Postgres+f.changes*c.Follow.Postgres)+f.requests*c.Mix.Postgres) +
		d[atLog] + d[atFanOut]
	d[atRedis] = us * f.requests * f.anonymous * c.Counted.Redis
	d[atSource] = f.changes * reportRequests / sourceRequests
	return d
}

// busiest returns the station that has most work for its size, and how busy it is.
func (c *costs) busiest(f fleet, m machines) (station int, share float64) {
	servers := m.servers(f.replicas)
	for i, d := range c.demand(f) {
		if d/servers[i] > share {
			station, share = i, d/servers[i]
		}
	}
	return station, share
}

// growth is one way in which the use of the service grows.
type growth struct {
	name string
	unit string
	grow func(f *fleet, to float64)
	most float64 // that is tried
}

var growths = []growth{
	{"requests with a key", "a second", func(f *fleet, to float64) { f.requests = to }, 1e9},
	{"requests without a key", "a second", func(f *fleet, to float64) { f.requests, f.anonymous = to, 1 }, 1e9},
	{"stream listeners", "", func(f *fleet, to float64) { f.listeners = to }, 1e10},
	{"webhooks for every report", "", func(f *fleet, to float64) { f.hooks = to }, 1e9},
	{"reports", "a second", func(f *fleet, to float64) { f.changes = to }, 1e6},
}

// full is how busy a station may be. Above it, waits grow quickly.
const full = 0.8

// usual is the load beside the one that grows: a busy minute of the regulator.
func usual(replicas int) fleet {
	return fleet{
		replicas:  replicas,
		requests:  100,
		listeners: 1000,
		changes:   0.5,
		hooks:     20,
	}
}

// carried returns how far a use may grow until a station is full, and which. A fleet that is
// full without it carries none.
func (c *costs) carried(g growth, replicas int, m machines) (to float64, station int) {
	low, high := 0.0, g.most
	for range 60 {
		f := usual(replicas)
		g.grow(&f, (low+high)/2)
		if _, share := c.busiest(f, m); share > full {
			high = (low + high) / 2
		} else {
			low = (low + high) / 2
		}
	}
	f := usual(replicas)
	g.grow(&f, high)
	station, _ = c.busiest(f, m)
	return low, station
}

// scaleMain prints what fleets carry, from the costs that load measured:
// scale [-dir data] [-processors 2] [-postgres 8].
func scaleMain(args []string) error {
	flags := flag.NewFlagSet("scale", flag.ExitOnError)
	dir := flags.String("dir", "data", "where load kept what it measured")
	processors := flags.Int("processors", 2, "processors of each replica, 1 to 64")
	database := flags.Int("postgres", 8, "processors of PostgreSQL, 1 to 256")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *processors < 1 || *processors > 64 || *database < 1 || *database > 256 {
		return fmt.Errorf("-processors is %d, want 1 to 64; -postgres is %d, want 1 to 256", *processors, *database)
	}
	b := &bench{ctx: context.Background(), dir: *dir}
	c, err := b.loadCosts()
	if err != nil {
		return err
	}
	c.print()
	c.printGrowth(machines{replica: *processors, postgres: *database})
	return nil
}

// printGrowth prints for each use how far it may grow, which station is full then, and how
// long a request waits there in the simulation.
func (c *costs) printGrowth(m machines) {
	fmt.Printf("%d processors for each replica, %d for PostgreSQL; until a station is %.0f %% busy\n\n", m.replica, m.postgres, full*100)
	fmt.Print("| what grows | replicas | until | full first | busy, simulated | 99 of 100 wait at most |\n|---|---|---|---|---|---|\n")
	for _, g := range growths {
		for _, n := range []int{1, 3, 10, 50} {
			to, station := c.carried(g, n, m)
			f := usual(n)
			g.grow(&f, to)
			busy, wait := c.simulate(f, m, station)
			fmt.Printf("| %s | %d | %.3g %s | %s | %.0f %% | %.1f ms |\n", g.name, n, to, g.unit, stationNames[station], busy*100, wait*1000)
		}
	}
}

// job is a piece of work that arrives at a station.
type job struct {
	at     float64 // seconds from the start
	demand float64
}

// Simulated jobs: as many as make a steady state, and no more than fit into memory.
const (
	simulatedJobs = 400_000
	longestRun    = 3600.0 // seconds
)

// simulate lets work arrive at random at one station, and returns how busy it is and how
// long 99 of 100 pieces wait. Work of one kind comes apart from that of others; what a
// change makes for all listeners and webhooks comes at once. Replicas are alike, so that
// one stands for all.
func (c *costs) simulate(f fleet, m machines, station int) (busy, wait float64) {
	servers := int(m.servers(f.replicas)[station])
	share := 1.0
	if station == atReplicas {
		servers = m.replica
		share = 1 / float64(f.replicas)
	}
	sources := c.sources(f, station, share)
	rate := 0.0
	for _, s := range sources {
		rate += s.rate * float64(s.parts)
	}
	if rate == 0 {
		return 0, 0
	}
	lasts := min(longestRun, simulatedJobs/rate)
	rng := rand.New(rand.NewPCG(seed, uint64(station)))
	var jobs []job
	for _, s := range sources {
		for at := rng.ExpFloat64() / s.rate; at < lasts && s.rate > 0; at += rng.ExpFloat64() / s.rate {
			for range s.parts {
				jobs = append(jobs, job{at, s.demand * rng.ExpFloat64()})
			}
		}
	}
	slices.SortFunc(jobs, func(a, b job) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	return serve(jobs, servers, lasts)
}

// source is a kind of work that arrives at a station.
type source struct {
	rate   float64 // a second
	parts  int     // at once
	demand float64 // seconds of each part
}

// mostParts bounds the jobs of one change; more listeners make longer jobs.
const mostParts = 64

// sources returns the work of a fleet at a station, and of one replica if share is less
// than one. What is left of the demand comes as single pieces of a millisecond.
func (c *costs) sources(f fleet, station int, share float64) []source {
	const us = 1e-6
	total := c.demand(f)[station] * share
	var out []source
	add := func(rate float64, parts, demand float64) {
		n := max(1, min(mostParts, int(parts)))
		out = append(out, source{rate, n, demand * parts / float64(n)})
		total -= rate * parts * demand
	}
	switch station {
	case atReplicas:
		add(f.requests*share, 1, us*(c.Mix.Replica+f.anonymous*c.Counted.Replica))
		add(f.changes, f.listeners*share, us*c.Event.Replica)
	case atRedis:
		add(f.requests*f.anonymous, 1, us*c.Counted.Redis)
	case atLog:
		add(f.changes, 1, us*c.Append.Postgres)
	case atFanOut:
		add(f.changes, f.hooks, us*c.Delivery.Postgres)
	case atSource:
		add(f.changes, reportRequests, 1/sourceRequests)
	}
	const piece = 0.001
	if total > 0 {
		add(total/piece, 1, piece)
	}
	return out
}

// serve passes jobs to servers in the order of arrival.
func serve(jobs []job, servers int, lasts float64) (busy, wait float64) {
	free := make([]float64, servers) // when each server is
	waits := make([]time.Duration, len(jobs))
	for i, j := range jobs {
		next := 0
		for s := range free {
			if free[s] < free[next] {
				next = s
			}
		}
		begin := max(j.at, free[next])
		free[next] = begin + j.demand
		waits[i] = time.Duration((begin - j.at) * float64(time.Second))
		busy += j.demand
	}
	slices.Sort(waits)
	return busy / (lasts * float64(servers)), percentile(waits, 0.99)
}
