package surfaces

import (
	"pregon/internal/discovery"
	"pregon/internal/mcp"
	"pregon/internal/rest"
)

// ServerJSON returns the file with which the MCP server of a service is entered in the
// MCP registry, as the service serves it.
func ServerJSON(base, version, source string) ([]byte, error) {
	api, err := rest.New(rest.Options{BaseURL: base})
	if err != nil {
		return nil, err
	}
	return discovery.ServerJSON(discovery.Options{
		BaseURL: base,
		Version: version,
		Source:  func() string { return source },
		OpenAPI: api.OpenAPIJSON(),
		MCP:     mcp.Offered(),
	})
}
