// Package systemd is the service's side of systemd's protocols: the socket that a
// socket unit has opened (sd_listen_fds), and messages about the state of the
// service (sd_notify). Without systemd all of it does nothing.
//
// systemd keeps the socket open while the service restarts, and the kernel keeps
// new connections until the next process accepts them, so that none is refused.
package systemd

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"pregon/internal/fault"
)

// firstDescriptor is the number of the first passed socket.
const firstDescriptor = 3

// sendTimeout is how long a message waits while systemd reads none.
const sendTimeout = 5 * time.Second

// Listener returns the socket that systemd passed to this process, or nil if there
// is none. It must be called once.
func Listener(getenv func(string) string) (net.Listener, error) {
	if getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil // not set, or meant for the parent
	}
	if n := getenv("LISTEN_FDS"); n != "1" {
		return nil, fault.New(fault.Invalid, "systemd passed %s sockets, but serve uses 1: the socket unit "+
			"must have one ListenStream line", n)
	}
	file := os.NewFile(firstDescriptor, "socket of systemd")
	defer file.Close() // FileListener makes a copy, which child processes do not inherit
	l, err := net.FileListener(file)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "cannot use the socket of systemd, which must be of TCP")
	}
	if _, ok := l.(*net.TCPListener); !ok {
		_ = l.Close()
		return nil, fault.New(fault.Invalid, "systemd passed the socket %s, but serve uses TCP: ListenStream "+
			"must be an address with a port", l.Addr())
	}
	return l, nil
}

// Notifier sends the state of the service to systemd.
type Notifier struct {
	socket   string // "" for none
	watchdog time.Duration
}

// NewNotifier reads the variables that systemd sets.
func NewNotifier(getenv func(string) string) *Notifier {
	n := &Notifier{socket: getenv("NOTIFY_SOCKET")}
	if pid := getenv("WATCHDOG_PID"); pid == "" || pid == strconv.Itoa(os.Getpid()) {
		if us, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64); err == nil && us > 0 {
			n.watchdog = time.Duration(us) * time.Microsecond
		}
	}
	return n
}

// Ready reports that the service is ready.
func (n *Notifier) Ready() error { return n.send("READY=1") }

// Stopping reports that the service is being stopped.
func (n *Notifier) Stopping() error { return n.send("STOPPING=1") }

// Run reports until the context ends that the process runs, twice in the time after
// which systemd would restart it.
func (n *Notifier) Run(ctx context.Context) error {
	if n.socket == "" || n.watchdog == 0 {
		return nil
	}
	tick := time.NewTicker(n.watchdog / 2)
	defer tick.Stop()
	for {
		if err := n.send("WATCHDOG=1"); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (n *Notifier) send(state string) error {
	if n.socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err == nil {
		defer conn.Close()
		err = conn.SetWriteDeadline(time.Now().Add(sendTimeout))
	}
	if err == nil {
		_, err = conn.Write([]byte(state))
	}
	if err != nil {
		return fmt.Errorf("report to systemd: %w", err)
	}
	return nil
}
