package processtest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreePort returns a port of 127.0.0.1 that is not in use now. The kernel gives it to
// no other process while its server is stopped: it is below those that the kernel
// chooses itself.
func FreePort() (int, error) {
	for range 100 {
		port := 10000 + rand.IntN(20000)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("no port of 127.0.0.1 is free")
}
