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
var openapi []byte

// serverPlaceholder is the address in the document that OpenAPI replaces.
const serverPlaceholder = "http://127.0.0.1:8080"

// OpenAPI returns the document for a service at baseURL.
func OpenAPI(baseURL string) []byte {
	return bytes.Replace(openapi, []byte(serverPlaceholder), []byte(baseURL), 1)
}

func (a *API) openapiYAML(*http.Request, *catalog.Snapshot) (response, error) {
	return response{body: a.openapi.yaml, contentType: "application/yaml", maxAge: time.Minute}, nil
}

func (a *API) openapiJSON(*http.Request, *catalog.Snapshot) (response, error) {
	return response{body: a.openapi.json, maxAge: time.Minute}, nil
}

// embeddedJSON is the embedded document as JSON. It is converted once: that takes longer
// than all else that New does.
var embeddedJSON = sync.OnceValues(func() ([]byte, error) {
	var doc any
	if err := yaml.Unmarshal(openapi, &doc); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
})

// OpenAPIJSON returns the document as JSON for an address of the service.
func OpenAPIJSON(baseURL string) ([]byte, error) {
	document, err := embeddedJSON()
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
