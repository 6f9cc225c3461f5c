package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/dunglas/mercure"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	mercureKey  = "a key that is as long as HS256 asks for"
	mercurePath = "/.well-known/mercure"
)

// mercureMain runs a hub with its default settings: in memory, with anonymous
// access.
func mercureMain() {
	hub, err := mercure.NewHub(mercure.WithAnonymous(), mercure.WithPublisherJWT([]byte(mercureKey), "HS256"))
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "listening address=http://%s\n", l.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(l, hub))
}

// mercurePublisher returns a function that publishes an event through the hub.
func mercurePublisher(base string) (func(id, data string) error, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(mercureKey)}, nil)
	if err != nil {
		return nil, err
	}
	token, err := jwt.Signed(signer).Claims(map[string]any{"mercure": map[string]any{"publish": []string{"*"}}}).Serialize()
	if err != nil {
		return nil, err
	}
	return func(id, data string) error {
		form := url.Values{"topic": {"reports"}, "type": {published}, "id": {id}, "data": {data}}
		req, err := http.NewRequest(http.MethodPost, base+mercurePath, strings.NewReader(form.Encode()))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("publishing: got status %s: %s", resp.Status, answer)
		}
		return err
	}, nil
}
