package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"pregon/internal/test/attacktest"
	"pregon/internal/test/proxytest"
)

// attack measures what another caller waits for while one caller attacks: with slow
// readers, and many requests for one page that is not cached, over both protocols,
// directly and through proxies. It fails if a request of the other caller does.
func (b *bench) attack() error {
	path, err := b.storeOf(whole)
	if err != nil {
		return err
	}
	p, err := b.serve(path, "--trusted-proxy", "127.0.0.1/32")
	if err != nil {
		return err
	}
	defer p.stop()
	address := strings.TrimPrefix(p.url, "http://")
	ways := []attacktest.Path{{
		Name:   "direct",
		HTTP1:  address,
		HTTP2:  address,
		Direct: true,
	}}
	proxies := map[string]func(proxytest.Options) (*proxytest.Proxy, error){
		"nginx":   proxytest.Nginx,
		"haproxy": proxytest.HAProxy,
	}
	for name, start := range proxies {
		dir, err := os.MkdirTemp("", "bench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		proxy, err := start(proxytest.Options{
			Deploy:   "../deploy",
			Dir:      dir,
			Replicas: []string{address, address},
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer proxy.Kill()
		ways = append(ways, attacktest.Path{
			Name:  name,
			HTTP1: proxy.Address,
			HTTP2: proxy.HTTP2,
		})
	}
	for _, way := range ways {
		if err := b.attackOn(way); err != nil {
			return fmt.Errorf("%s: %w", way.Name, err)
		}
	}
	return nil
}

// attackOn prints how much longer the 99th percentile is during the attack.
func (b *bench) attackOn(way attacktest.Path) error {
	var added []float64
	for round := range rounds {
		alone, err := b.beside(way, round, false)
		if err != nil {
			return err
		}
		during, err := b.beside(way, round, true)
		if err != nil {
			return err
		}
		added = append(added, float64(during-alone)/float64(time.Millisecond))
	}
	figure("attack."+way.Name+".p99.added", median(added), "ms")
	return nil
}

// beside returns the 99th percentile of 400 requests of a reader, during an attack or
// without one.
func (b *bench) beside(way attacktest.Path, round int, attacked bool) (time.Duration, error) {
	page := "/search?search=" + url.QueryEscape(fmt.Sprintf("dividendo %s %d %v", way.Name, round, attacked))
	if attacked {
		defer way.Attack(b.ctx, "/sitemaps/2024.xml", page)()
	}
	reader := way.Reader(time.Minute)
	defer reader.Close()
	for n := range 100 {
		for _, target := range []string{
			page,
			fmt.Sprintf("/issuers?page=%d", 1+n),
			fmt.Sprintf("/api/v1/reports?limit=20&page=%d", 1+n),
			"/signin",
		} {
			if err := reader.Get(b.ctx, target); err != nil {
				return 0, err
			}
		}
	}
	return reader.P99(), nil
}
