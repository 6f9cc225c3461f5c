package main

import (
	"math"
	"testing"
)

// fictional are costs with round numbers.
func fictional() *costs {
	return &costs{
		Mix:      work{Replica: 100},
		Idle:     work{Replica: 5000, Postgres: 10_000},
		Append:   work{Postgres: 1000},
		Follow:   work{Replica: 1000, Postgres: 500},
		Event:    work{Replica: 10},
		Delivery: work{Replica: 100, Postgres: 50},
		Counted:  work{Replica: 10, Redis: 25},
	}
}

func TestDemand(t *testing.T) {
	got := fictional().demand(fleet{replicas: 2, requests: 1000, anonymous: 0.5, listeners: 300, changes: 5, hooks: 4})
	want := [stations]float64{
		atReplicas: 2*(0.005+5*0.001) + 1000*(100+5)*1e-6 + 300*5*10e-6 + 5*4*100e-6,
		atPostgres: 2*(0.01+5*0.0005) + 5*0.001 + 5*4*50e-6,
		atLog:      0.005,
		atFanOut:   0.001,
		atRedis:    1000 * 0.5 * 25e-6,
		atSource:   10 / 1.67,
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Errorf("%s: %g, want %g", stationNames[i], got[i], want[i])
		}
	}
}

// More replicas carry more requests with a key, until PostgreSQL is full of their polls;
// requests that are counted in Redis end there.
func TestCarried(t *testing.T) {
	c := fictional()
	m := machines{replica: 2, postgres: 8}
	one, station := c.carried(growths[0], 1, m)
	if want := 0.8 * 2 / 100e-6; station != atReplicas || math.Abs(one/want-1) > 0.05 {
		t.Errorf("one replica carries %g a second until %s are full, want about %g", one, stationNames[station], want)
	}
	if ten, station := c.carried(growths[0], 10, m); station != atReplicas || math.Abs(ten/one-10) > 0.5 {
		t.Errorf("ten replicas carry %g a second until %s are full, and one %g", ten, stationNames[station], one)
	}
	if to, station := c.carried(growths[1], 10, m); station != atRedis || math.Abs(to-0.8/25e-6) > 100 {
		t.Errorf("ten replicas carry %g a second without a key until %s is full", to, stationNames[station])
	}
	if to, _ := c.carried(growths[0], 1000, m); to > 0.001 {
		t.Errorf("a thousand replicas carry %g a second although their polls are too many", to)
	}
}

// One server with work that arrives and takes its time at random: 1 of 100 waits longer than
// ln(busy * 100) / (1 - busy) times the work, as the theory of queues says.
func TestSimulate(t *testing.T) {
	c := fictional()
	f := fleet{replicas: 3, requests: 0.8 / 25e-6, anonymous: 1}
	busy, wait := c.simulate(f, machines{replica: 2, postgres: 8}, atRedis)
	if want := 25e-6 * math.Log(80) / 0.2; math.Abs(busy-0.8) > 0.02 || math.Abs(wait/want-1) > 0.2 {
		t.Errorf("%.2f busy, waits of %g s, want 0.8 and %g s", busy, wait, want)
	}
}
