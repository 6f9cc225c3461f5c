package origin

import "net"

// OfListener returns the origin at which a program on this machine reaches a listener,
// in canonical form if the port is known.
func OfListener(listening string) string {
	host, port, err := net.SplitHostPort(listening)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		listening = net.JoinHostPort("127.0.0.1", port) // the unspecified address cannot be called
	}
	if base, err := Canonical("http://" + listening); err == nil {
		return base
	}
	return "http://" + listening // the port is a name, or not known yet
}
