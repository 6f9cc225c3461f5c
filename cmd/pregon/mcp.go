package main

import (
	"fmt"

	"pregon/internal/discovery"
	"pregon/internal/fault"
	"pregon/internal/server/origin"
	"pregon/internal/service/surfaces"
)

type mcpCmd struct {
	ServerJSON serverJSONCmd `cmd:"" name:"server-json" help:"Print the file server.json for the MCP registry."`
}

type serverJSONCmd struct {
	BaseURL string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address under which clients reach the service."`
	Source  string `default:"cnmv" enum:"cnmv,demo,none" help:"Where the reports of the service come from. For demo the file says that the market is simulated."`
}

// Run prints what a service with these settings serves at /api/mcp/server.json.
// It warns if the public registry would refuse it, since a private one may not.
func (c *serverJSONCmd) Run(p *process) error {
	base, err := origin.Canonical(c.BaseURL)
	if err != nil {
		return fault.New(fault.Invalid, "--base-url %q %v", c.BaseURL, err)
	}
	file, err := surfaces.ServerJSON(base, version, c.Source)
	if err != nil {
		return err
	}
	if err := discovery.CheckPublic(base); err != nil {
		fmt.Fprintf(p.stderr, "pregon: warning: the public registry refuses this server: --base-url %q %v\n", base, err)
	}
	_, err = p.stdout.Write(file)
	return err
}
