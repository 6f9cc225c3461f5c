package listen_test

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/server/listen"
)

// An address in use is an error that suggests another value of the same flag.
func TestTCPInUse(t *testing.T) {
	first, err := listen.TCP("--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	busy := first.Addr().String()
	port := first.Addr().(*net.TCPAddr).Port
	want := "--debug-listen 127.0.0.1:" + strconv.Itoa(port+1)
	if port == 65535 {
		want = "--debug-listen 127.0.0.1:0"
	}
	_, err = listen.TCP("--debug-listen", busy)
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), busy+" is in use") || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want one that suggests %s", err, want)
	}
}

// Any other failure keeps its cause and names the flag.
func TestTCPElsewhere(t *testing.T) {
	_, err := listen.TCP("--listen", "192.0.2.1:8080") // reserved for examples: of no machine
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "--listen chooses another") {
		t.Errorf("got %v, want one that names the flag", err)
	}
}
