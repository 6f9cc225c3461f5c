package service

import (
	"cmp"
	"context"
	"net"

	"pregon/internal/document/extract/sandbox"
	"pregon/internal/fault"
	"pregon/internal/server/origin"
	"pregon/internal/service/lifecycle"
	"pregon/internal/service/sources"
)

// Run serves until the context ends. Components start in the order in which data
// flows and stop in reverse order: requests are drained while the catalogue still
// follows the store, and the store is closed last.
func Run(ctx context.Context, o Options) error {
	log := o.Log
	if err := sandbox.HideMemory(); err != nil {
		log.Warn("other processes of this user can read the service's memory and environment", "err", err)
	}
	db, err := o.Storage.Address.OpenWait(ctx, o.Storage.Wait, log.Logger)
	if err != nil {
		return fault.UnlessCanceled(err)
	}
	defer db.Close()
	// The listener comes after the store, so that no client connects before there is an
	// answer.
	listener, fromSystemd, err := openListener(o.Listen, o.Getenv)
	if err != nil {
		return err
	}
	defer listener.Close()
	base := cmp.Or(o.BaseURL, origin.OfListener(listener.Addr().String()))
	o.demo = o.Sources.Kind == sources.Simulated && o.onThisMachine(listener.Addr())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if db.Created() && !o.demo {
		log.Warn("a new, empty store was created: if one should exist, check --store and that its volume is mounted",
			"store", o.Storage.Address.String())
	}
	s, err := New(ctx, o, db, base)
	if err != nil {
		return err
	}
	defer s.Close()
	reportReady, endReports := notify(ctx, o.Getenv, log.Logger)
	defer endReports()
	o.warnOfSecrets(log.Logger)
	log.Info("listening", "address", "http://"+listener.Addr().String(), "base_url", base,
		"store", o.Storage.Address.String(), "source", string(o.Sources.Kind), "version", o.Version)
	ready := func() {
		o.Announce(base, s.demoLink())
		reportReady()
	}
	if err := s.run(ctx, stop, listener, fromSystemd, ready); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

// onThisMachine reports whether people reach the service from this machine: it listens
// on loopback, or the operator has set a base URL on loopback, as for a container that
// listens on all of its addresses and whose port is published.
func (o *Options) onThisMachine(listener net.Addr) bool {
	tcp, ok := listener.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback() || o.BaseURL != "" && origin.IsLocal(o.BaseURL)
}

// demoLink returns the link that signs in to the demo, or "".
func (s *Service) demoLink() string {
	if s.Authorization.SignIn == nil {
		return ""
	}
	return s.Authorization.SignIn.DemoLink()
}

// run runs the components until the context ends or one of them fails, in which case it
// calls stop. With a listener of systemd, clients wait until the catalogue is loaded.
func (s *Service) run(ctx context.Context, stop func(), listener net.Listener, fromSystemd bool, ready func()) error {
	g := lifecycle.New(ctx)
	g.OnStop(stop)
	s.start(g)
	s.Surfaces.Start(g, listener, fromSystemd)
	g.LoadedUntilStop(func(ctx context.Context) error { s.ready.wait(ctx, ready); return nil })
	return g.Wait()
}
