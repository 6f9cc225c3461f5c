package service

import (
	"context"
	"log/slog"
	"net"

	"pregon/internal/server/listen"
	"pregon/internal/server/systemd"
)

// openListener returns the socket that systemd passed, or else opens the address.
func openListener(address string, getenv func(string) string) (l net.Listener, fromSystemd bool, err error) {
	l, err = systemd.Listener(getenv)
	if l != nil || err != nil {
		return l, true, err
	}
	l, err = listen.TCP("--listen", address)
	return l, false, err
}

// notify reports to systemd that the service runs, until stop is called, that it
// stops, when the context ends, and that it is ready, when ready is called.
func notify(ctx context.Context, getenv func(string) string, log *slog.Logger) (ready, stop func()) {
	n := systemd.NewNotifier(getenv)
	report := func(err error) {
		if err != nil {
			log.Warn("systemd does not receive the state of the service", "err", err)
		}
	}
	context.AfterFunc(ctx, func() { report(n.Stopping()) })
	running, stop := context.WithCancel(context.WithoutCancel(ctx)) // also while requests are drained
	go func() { report(n.Run(running)) }()
	return func() { report(n.Ready()) }, stop
}
