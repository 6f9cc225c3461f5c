package outbound_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"pregon/internal/server/outbound"
)

// Failures are described without the address and without details of our network.
func TestDescribe(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{&net.DNSError{Err: "no such host", Name: "geheim.example.com", Server: "10.0.0.2:53", IsNotFound: true}, "the name of the host was not found"},
		{&net.DNSError{Err: "server misbehaving", Server: "10.0.0.2:53"}, "the name of the host could not be looked up"},
		{&tls.CertificateVerificationError{Err: errors.New("expired\x1b[31m")}, "its certificate is not valid: expired[31m"},
		{context.DeadlineExceeded, "no answer within 15s"},
		{os.ErrDeadlineExceeded, "no answer within 15s"},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "the connection was refused"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, "the connection was closed early"},
		{io.ErrUnexpectedEOF, "the connection was closed early"},
		{&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}, "the host cannot be reached"},
		{errors.New("something else: https://geheim.example.com"), ""},
	} {
		got := outbound.Describe(&url.Error{Op: "Post", URL: "https://geheim.example.com/token", Err: test.err}, 15*time.Second)
		if got != test.want {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
	_, err := get(t, outbound.NewClient(outbound.Options{}), "https://127.0.0.1/geheim")
	if got := outbound.Describe(err, time.Second); got != "refused: the host 127.0.0.1 is a loopback address" || strings.Contains(got, "geheim") {
		t.Errorf("%v: %q", err, got)
	}
}
