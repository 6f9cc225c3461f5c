package rest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"pregon/internal/catalog"
)

//go:embed openapi.yaml
var embeddedYAML []byte

// serverPlaceholder is the address in the document that OpenAPI replaces.
const serverPlaceholder = "http://127.0.0.1:8080"

// OpenAPI returns the document for a service at baseURL. Without signIn it lacks what
// exists only where people can sign in.
func OpenAPI(baseURL string, signIn bool) []byte {
	return bytes.Replace(withoutMarkers(embeddedYAML, signIn), []byte(serverPlaceholder), []byte(baseURL), 1)
}

// The lines around a part of the document that exists only where people can sign in.
const (
	beginSignIn = "# begin sign-in"
	endSignIn   = "# end sign-in"
)

// withoutMarkers removes the marker lines, and unless signIn what is between them.
func withoutMarkers(document []byte, signIn bool) []byte {
	out := make([]byte, 0, len(document))
	keep := true
	for line := range bytes.Lines(document) {
		switch string(bytes.TrimSpace(line)) {
		case beginSignIn:
			keep = signIn
		case endSignIn:
			keep = true
		default:
			if keep {
				out = append(out, line...)
			}
		}
	}
	return out
}

func (a *API) openapiYAML(*http.Request, *catalog.Snapshot) (response, error) {
	return response{body: a.openapi.yaml, contentType: "application/yaml", maxAge: time.Minute}, nil
}

func (a *API) openapiJSON(*http.Request, *catalog.Snapshot) (response, error) {
	return response{body: a.openapi.json, maxAge: time.Minute}, nil
}

// embeddedJSON is the embedded document as JSON, without and with what is for sign-in.
// Each is converted once: that takes longer than all else that New does.
var embeddedJSON = map[bool]func() ([]byte, error){
	false: sync.OnceValues(func() ([]byte, error) { return convert(false) }),
	true:  sync.OnceValues(func() ([]byte, error) { return convert(true) }),
}

func convert(signIn bool) ([]byte, error) {
	var doc any
	if err := yaml.Unmarshal(withoutMarkers(embeddedYAML, signIn), &doc); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// OpenAPIJSON returns the document of OpenAPI as JSON.
func OpenAPIJSON(baseURL string, signIn bool) ([]byte, error) {
	document, err := embeddedJSON[signIn]()
	if err != nil {
		return nil, err
	}
	server, err := json.Marshal(baseURL)
	if err != nil {
		return nil, err
	}
	return bytes.Replace(document, []byte(`"`+serverPlaceholder+`"`), server, 1), nil
}

// OpenAPIJSON returns the document as JSON.
func (a *API) OpenAPIJSON() []byte { return a.openapi.json }
