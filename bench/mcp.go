package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// mcp compares tool calls a second with the same queries over REST, in turns.
func (b *bench) mcp() error {
	p, err := b.serveMarket(whole)
	if err != nil {
		return err
	}
	defer p.stop()
	texts := queries(1000)
	for _, kind := range []struct{ name, version string }{{"mcp.vs_rest", ""}, {"mcp.vs_rest.2026-07-28", "2026-07-28"}} {
		calls, err := toolCalls(texts, kind.version)
		if err != nil {
			return err
		}
		if err := inTurns(kind.name, "calls/s", load{p.url, calls}, load{p.url, searches(texts)}); err != nil {
			return err
		}
	}
	return nil
}

// toolCalls returns a request that calls search_reports for each text, in a revision
// of the protocol, or without stating one.
func toolCalls(texts []string, version string) ([][]byte, error) {
	out := make([][]byte, len(texts))
	for i, q := range texts {
		params := map[string]any{"name": "search_reports", "arguments": map[string]string{"search": q}}
		headers := []string{"Host: 127.0.0.1", "Content-Type: application/json", "Accept: application/json, text/event-stream"}
		if version != "" {
			params["_meta"] = map[string]any{
				"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": map[string]any{},
				"io.modelcontextprotocol/clientInfo": map[string]string{"name": "bench", "version": "1"},
			}
			headers = append(headers, "MCP-Protocol-Version: "+version, "Mcp-Method: tools/call", "Mcp-Name: search_reports")
		}
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": params})
		if err != nil {
			return nil, err
		}
		out[i] = fmt.Appendf(nil, "POST /api/mcp HTTP/1.1\r\n%s\r\nContent-Length: %d\r\n\r\n%s", strings.Join(headers, "\r\n"), len(body), body)
	}
	return out, nil
}
