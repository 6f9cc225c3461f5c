package rest

import (
	"net/url"
	"slices"
	"strings"

	"pregon/internal/rest/openapi"
	"pregon/internal/text"
	"pregon/internal/text/mask"
)

// ignoredHeader is the header with the parameters of a request that its operation does
// not have. They are ignored, since old clients may send them, but a misspelled one
// must not go unnoticed: without it a list is longer than the client expects.
const ignoredHeader = "Pregon-Ignored"

// Bounds of the header.
const (
	maxIgnored     = 10 // names
	maxIgnoredName = 40 // bytes of a name
)

// parametersOf returns the names of the query parameters of each operation, by its id.
func parametersOf(document []byte) (map[string][]string, error) {
	doc, err := openapi.Parse(document)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, op := range doc.Operations {
		for _, p := range op.Parameters {
			if p.In == "query" {
				all[op.ID] = append(all[op.ID], p.Name)
			}
		}
	}
	return all, nil
}

// ignoredParameters returns the names in a query string that are not known, separated
// by commas, each once and in the order of the query. Names with other characters than
// those of a header are escaped, and credentials are masked.
func ignoredParameters(known []string, query string) string {
	var ignored []string
	for query != "" && len(ignored) < maxIgnored {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if name == "" || slices.Contains(known, name) {
			continue
		}
		name = url.QueryEscape(text.ClipBytes(mask.Credentials(name), maxIgnoredName))
		if !slices.Contains(ignored, name) {
			ignored = append(ignored, name)
		}
	}
	return strings.Join(ignored, ", ")
}
