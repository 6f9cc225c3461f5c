package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// bareMain is a minimal net/http handler that always writes the same bytes.
func bareMain(args []string) {
	size, err := strconv.Atoi(args[0])
	if err != nil {
		panic(err)
	}
	body := []byte(strings.Repeat("x", size))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "listening address=http://%s\n", l.Addr())
	err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = w.Write(body)
	}))
	fmt.Fprintln(os.Stderr, err)
}
