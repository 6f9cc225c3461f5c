package surfaces

import (
	"net/http"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/discovery"
	"pregon/internal/mcp"
	"pregon/internal/rest"
	"pregon/internal/server/httpserver"
	"pregon/internal/server/problem"
	"pregon/internal/sim/pages"
	"pregon/internal/site"
	"pregon/internal/site/console"
	"pregon/internal/site/render"
)

// register creates REST, MCP, the token endpoint, the discovery documents and the
// pages, and registers them on the server's mux.
func (s *Surfaces) register(under *httpserver.Options) (err error) {
	accounts := s.newAccount()
	if s.rest, err = s.newREST(accounts); err != nil {
		return err
	}
	documents, err := s.newDiscovery()
	if err != nil {
		return err
	}
	people, err := s.newSite(documents)
	if err != nil {
		return err
	}
	s.mcp = s.newMCP(documents)

	mux, of := under.Mux, s.o.Auth
	s.rest.Register(mux)
	s.mcp.Register(mux)
	of.Tokens.Register(mux)
	if of.OAuth != nil {
		of.OAuth.Register(mux)
	}
	documents.Register(mux)
	people.Register(mux)
	if of.SignIn != nil {
		console.New(console.Options{
			Site:    people.Renderer,
			SignIn:  of.SignIn,
			OAuth:   of.OAuth,
			Account: accounts,
			Guard:   of.Guard,
			Query:   s.Query,
			Reports: people.ServeReports,
			BaseURL: s.o.BaseURL,
		}).Register(mux)
	}
	if s.o.Demo != nil {
		mux.Handle("GET "+pages.Prefix+"/", s.simulator())
	}

	mcpErrors := httpserver.ErrorWriter{TooLarge: mcp.WriteTooLarge, Failed: mcp.WriteInternalError}
	under.Errors.Writers = map[string]httpserver.ErrorWriter{
		access.MCPPath:       mcpErrors,
		access.MCPSignInPath: mcpErrors,
	}
	under.Errors.Page = people.ErrorPage
	under.IsStream = func(r *http.Request) bool {
		return r.URL.Path == rest.StreamPath || rest.IsDownload(r) || mcp.IsListen(r)
	}
	return nil
}

// newAccount returns the rules about accounts, which REST and the console share.
func (s *Surfaces) newAccount() *account.Service {
	return account.New(account.Options{
		Query:      s.Query,
		Guard:      s.o.Auth.Guard,
		Keys:       s.o.Auth.Keys,
		Accounts:   s.o.Auth.Accounts,
		Webhooks:   s.o.Push.Webhooks,
		Watchlists: s.o.Push.Watchlists,
		Alerts:     s.o.Push.Alerts.Registry,
		Tickets:    s.o.Push.Tickets,
		Mailbox:    s.o.Push.Alerts.Mailbox(),
		PushKey:    s.o.Push.Alerts.PushKey(),
		Usage:      s.o.Auth.Usage,
		BaseURL:    s.o.BaseURL,
	})
}

func (s *Surfaces) newREST(accounts *account.Service) (*rest.API, error) {
	return rest.New(rest.Options{
		Query:    s.Query,
		Guard:    s.o.Auth.Guard,
		Events:   s.o.Push.Events,
		Conns:    s.o.Push.Connections,
		Account:  accounts,
		Tickets:  s.o.Push.Tickets,
		Logger:   s.o.Observation.Log.Logger,
		BaseURL:  s.o.BaseURL,
		SignIn:   s.o.SignIn,
		Proofs:   s.o.Proofs,
		Stopping: s.closing,
		Bulk:     s.o.Bulk,
	})
}

func (s *Surfaces) newDiscovery() (*discovery.Discovery, error) {
	return discovery.New(discovery.Options{
		BaseURL:        s.o.BaseURL,
		Version:        s.o.Version,
		Source:         s.o.Storage.Log.KnownSource,
		OpenAPI:        s.rest.OpenAPIJSON(),
		MCP:            mcp.Offered(),
		AnonymousLimit: s.o.AnonymousLimit,
		RegistryProof:  s.o.RegistryProof,
	})
}

func (s *Surfaces) newSite(documents *discovery.Discovery) (*site.Site, error) {
	o := site.Options{
		Query:    s.Query,
		Guard:    s.o.Auth.Guard,
		Logger:   s.o.Observation.Log.Logger,
		BaseURL:  s.o.BaseURL,
		OpenAPI:  s.rest.OpenAPIJSON(),
		Programs: documents.Front(),
		Links:    documents.FrontLinks(),
	}
	if s.o.Auth.SignIn != nil {
		o.Parts = []render.Part{console.Part()}
	}
	return site.New(o)
}

func (s *Surfaces) newMCP(documents *discovery.Discovery) *mcp.Server {
	return mcp.New(mcp.Options{
		Query:      s.Query,
		Guard:      s.o.Auth.Guard,
		Events:     s.o.Push.Events,
		Conns:      s.o.Push.Connections,
		Watchlists: s.o.Push.Watchlists,
		Logger:     s.o.Observation.Log.Logger,
		BaseURL:    s.o.BaseURL,
		Origins:    s.o.MCPOrigins,
		Stopping:   s.closing,
		Skills:     documents.Skills,
		SignIn:     s.o.Auth.SignIn != nil,
	})
}

// simulator serves the pages of the simulated market. They are not counted against
// the limit of anonymous callers, who come from the links of reports. Making a
// document takes a while, so that each caller has few slots.
func (s *Surfaces) simulator() http.Handler {
	pages := s.o.Demo.Pages()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := access.RefuseInQuery(r.URL.RawQuery); err != nil {
			problem.Write(w, err)
			return
		}
		slot, err := s.o.Auth.Guard.AcquireSlot(r, access.Principal{}, true)
		if err != nil {
			problem.Write(w, err)
			return
		}
		defer slot.Release()
		pages.ServeHTTP(w, r)
	})
}
