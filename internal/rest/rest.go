// Package rest is the REST surface under /api/v1.
//
// A handler reads its parameters, queries one snapshot of the catalogue, and
// returns JSON or an error. One place writes errors as problem documents. The
// OpenAPI document in openapi.yaml is the reference: it is written by hand and
// served as it is, and tests compare every route and every response with it.
package rest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/proof/transparency"
	"pregon/internal/push/events"
	"pregon/internal/push/ticket"
	"pregon/internal/query"
	"pregon/internal/server/content"
	"pregon/internal/server/problem"
	"pregon/internal/store"
)

// Options are the API's collaborators.
type Options struct {
	Query   *query.Service
	Guard   *access.Guard
	Events  *events.Hub
	Conns   *events.ConnLimiter // of streams and long polls on all surfaces
	Account *account.Service
	Tickets *ticket.Registry // of streams
	Proofs  *transparency.Publisher
	Bulk    Bulk
	Logger  *slog.Logger
	BaseURL string // of the service, without a slash at the end
	SignIn  bool   // people may sign in; without it there is no /api/v1/account
	// Stopping is closed before the service stops: streams end.
	Stopping <-chan struct{}
}

// API is the REST surface.
type API struct {
	Options
	openapi struct{ yaml, json []byte }
	// parameters are the names of the query parameters of each operation.
	parameters map[string][]string
}

// New returns the surface. Register adds it to a mux.
func New(o Options) (*API, error) {
	a := &API{Options: o}
	var err error
	a.openapi.yaml = OpenAPI(o.BaseURL, o.SignIn)
	if a.openapi.json, err = OpenAPIJSON(o.BaseURL, o.SignIn); err != nil {
		return nil, err
	}
	a.parameters, err = parametersOf(a.openapi.json)
	return a, err
}

// route is one operation.
type route struct {
	pattern   string
	operation string // its operationId in openapi.yaml
	handle    func(*API, *http.Request, *catalog.Snapshot) (response, error)
	need      access.Requirement
	// reports whether a request to a public route needs a credential
	credentialed func(*http.Request) bool
	// a public document: needs no catalogue and is not rate limited
	static bool
	// available before the first data is loaded
	beforeReady bool
	// instead of handle, for a stream; the ticket is nil if the caller has a credential
	stream func(*API, http.ResponseWriter, *http.Request, *ticket.Ticket) (*stream, error)
	// Expensive routes have fewer slots for each caller. So have requests that
	// are credentialed. A long poll acquires its slots itself.
	expensive, longPoll bool
	travels             bool // has the parameter as_of, with which it is expensive: see history.Archive
	// waits for the store for a few seconds at most; package account bounds its waits
	// itself
	bounded bool
	columns []string // of a list, which is also available as CSV
	people  bool     // has names of people, which search engines must not index
	bulk    bool     // needs no credential if snapshots are public
}

// public returns the requirement of a public route. A caller with a credential
// needs the scope.
func public(s access.Scope) access.Requirement { return access.Requirement{Scope: s, Public: true} }

// uncounted returns the requirement of a public route that is cheap, and that clients
// must be able to call often.
func uncounted(s access.Scope) access.Requirement {
	return access.Requirement{Scope: s, Public: true, Uncounted: true}
}

// authenticated returns the requirement of a route that needs a credential with
// the scope.
func authenticated(s access.Scope) access.Requirement { return access.Requirement{Scope: s} }

// routes is the surface without accountRoutes and watchlistRoutes. Each route is described in openapi.yaml.
var routes = []route{
	{
		pattern:      "GET /api/v1/reports",
		operation:    "getReports",
		need:         public(access.ReadReports),
		credentialed: searchesDocuments,
		travels:      true,
		handle:       (*API).listReports,
		columns:      reportColumns,
	},
	{
		pattern:      "GET /api/v1/reports/counts",
		operation:    "getReportCounts",
		need:         public(access.ReadReports),
		credentialed: searchesDocuments,
		travels:      true,
		handle:       (*API).getCounts,
		columns:      countColumns,
	},
	{
		pattern:   "GET /api/v1/reports/{id}",
		operation: "getReport",
		need:      public(access.ReadReports),
		travels:   true,
		handle:    (*API).getReport,
	},
	{
		pattern:   "GET /api/v1/reports/{id}/history",
		operation: "getReportHistory",
		need:      public(access.ReadReports),
		handle:    (*API).reportHistory,
		expensive: true,
		bounded:   true,
	},
	{
		pattern:   "GET /api/v1/reports/{id}/proof",
		operation: "getReportProof",
		need:      public(access.ReadReports),
		bounded:   true,
		handle:    (*API).getReportProof,
	},
	{
		pattern:   "GET /api/v1/reports/{id}/document",
		operation: "getReportDocument",
		need:      authenticated(access.ReadReports),
		handle:    (*API).getDocument,
		expensive: true,
	},
	{
		pattern:   "GET /api/v1/search/documents",
		operation: "searchDocuments",
		need:      authenticated(access.ReadReports),
		handle:    (*API).searchDocuments,
		expensive: true,
		columns:   hitColumns,
	},
	{
		pattern:   "GET /api/v1/issuers",
		operation: "getIssuers",
		need:      public(access.ReadIssuers),
		handle:    (*API).listIssuers,
		columns:   issuerColumns,
	},
	{
		pattern:   "GET /api/v1/issuers/{id}",
		operation: "getIssuer",
		need:      public(access.ReadIssuers),
		travels:   true,
		handle:    (*API).getIssuer,
	},
	{
		pattern:   "GET /api/v1/issuers/{id}/history",
		operation: "getIssuerHistory",
		need:      public(access.ReadIssuers),
		handle:    (*API).issuerHistory,
		expensive: true,
		bounded:   true,
	},
	{
		pattern:   "GET /api/v1/issuers/{id}/ownership",
		operation: "getOwnership",
		need:      public(access.ReadIssuers),
		travels:   true,
		handle:    (*API).getOwnership,
		people:    true,
	},
	{
		pattern:   "GET /api/v1/shorts",
		operation: "getShorts",
		need:      public(access.ReadIssuers),
		travels:   true,
		handle:    positions(disclosure.Short),
		columns:   shortColumns,
		people:    true,
	},
	{
		pattern:   "GET /api/v1/shorts/totals",
		operation: "getShortTotals",
		need:      public(access.ReadIssuers),
		travels:   true,
		handle:    (*API).listShortTotals,
		columns:   shortTotalColumns,
	},
	{
		pattern:   "GET /api/v1/shorts/series",
		operation: "getShortSeries",
		need:      public(access.ReadIssuers),
		travels:   true,
		handle:    (*API).getShortSeries,
		columns:   shortSeriesColumns,
	},
	{
		pattern:   "GET /api/v1/dealings",
		operation: "getDealings",
		need:      public(access.ReadIssuers),
		travels:   true,
		handle:    positions(disclosure.Dealing),
		columns:   dealingColumns,
		people:    true,
	},
	{
		pattern:   "GET /api/v1/holdings",
		operation: "getHoldings",
		need:      public(access.ReadIssuers),
		travels:   true,
		handle:    positions(disclosure.Holding),
		columns:   holdingColumns,
		people:    true,
	},
	{
		pattern:   "GET /api/v1/own-shares",
		operation: "getOwnShares",
		need:      public(access.ReadIssuers),
		travels:   true,
		handle:    positions(disclosure.OwnShares),
		columns:   holdingColumns,
		people:    true,
	},
	{
		pattern:   "GET /api/v1/positions/{id}",
		operation: "getPosition",
		need:      public(access.ReadIssuers),
		travels:   true,
		handle:    (*API).getPosition,
		people:    true,
	},
	{
		pattern:   "GET /api/v1/positions/{id}/history",
		operation: "getPositionHistory",
		need:      public(access.ReadIssuers),
		handle:    (*API).positionHistory,
		expensive: true,
		bounded:   true,
		people:    true,
	},
	{
		pattern:   "GET /api/v1/positions/{id}/proof",
		operation: "getPositionProof",
		need:      public(access.ReadIssuers),
		bounded:   true,
		handle:    (*API).getPositionProof,
	},
	{
		pattern:   "GET /api/v1/facts",
		operation: "getFacts",
		need:      public(access.ReadReports),
		handle:    (*API).listFacts,
		columns:   factColumns,
	},
	{
		pattern:   "GET /api/v1/calendar",
		operation: "getCalendar",
		need:      public(access.ReadReports),
		handle:    (*API).getCalendar,
		columns:   calendarColumns,
	},
	{
		pattern:   "GET /api/v1/calendar.ics",
		operation: "getCalendarFeed",
		need:      uncounted(access.ReadReports),
		handle:    (*API).getCalendarFeed,
	},
	{
		pattern:   "GET /api/v1/analytics",
		operation: "getAnalytics",
		need:      public(access.ReadAnalytics),
		handle:    (*API).getAnalytics,
	},
	{
		pattern:   "GET /api/v1/suggest",
		operation: "getSuggestions",
		need:      public(0),
		handle:    (*API).getSuggestions,
		columns:   suggestionColumns,
	},
	{
		pattern:   "GET /api/v1/values",
		operation: "getValues",
		need:      public(access.ReadReports),
		handle:    (*API).getValues,
		columns:   valueColumns,
	},
	{
		pattern:     "GET /api/v1/status",
		operation:   "getStatus",
		need:        uncounted(0),
		beforeReady: true,
		handle:      (*API).getStatus,
	},
	{
		pattern:   "GET /api/v1/completeness",
		operation: "getCompleteness",
		need:      public(0),
		handle:    (*API).getCompleteness,
		columns:   dayColumns,
	},
	{
		pattern:   "GET " + StreamPath,
		operation: "streamEvents",
		need:      account.ToOpenStreams,
		stream:    (*API).openStream,
	},
	{
		pattern:   "POST " + StreamPath + "/tickets",
		operation: "createStreamTicket",
		need:      account.ToOpenStreams,
		handle:    (*API).createStreamTicket,
	},
	{
		pattern:   "GET /api/v1/changes",
		operation: "getChanges",
		need:      authenticated(access.ReadReports),
		handle:    (*API).listChanges,
		longPoll:  true,
		columns:   changeColumns,
	},
	{
		pattern:   "GET /api/v1/changes/{seq}/proof",
		operation: "getChangeProof",
		need:      authenticated(access.ReadReports),
		bounded:   true,
		handle:    (*API).getChangeProof,
	},
	{
		pattern:   "GET " + LogPath + "/checkpoint",
		operation: "getCheckpoint",
		need:      uncounted(0),
		handle:    (*API).getCheckpoint,
	},
	{
		pattern:   "GET " + LogPath + "/vkey",
		operation: "getVerifierKey",
		need:      uncounted(0),
		handle:    (*API).getVerifierKey,
	},
	{
		pattern:      "GET " + LogPath + "/tile/{path...}",
		operation:    "getTile",
		need:         uncounted(access.ReadReports),
		credentialed: readsEntries,
		bounded:      true,
		handle:       (*API).getTile,
	},
	{
		pattern:   "GET " + BulkPath,
		operation: "getBulk",
		need:      authenticated(access.ReadReports),
		handle:    (*API).listBulk,
		bulk:      true,
	},
	{
		pattern:   "GET " + BulkPath + "/{snapshot}/{file}",
		operation: "getBulkFile",
		need:      authenticated(access.ReadReports),
		handle:    (*API).getBulkFile,
		expensive: true,
		bulk:      true,
	},
	{
		pattern:   "GET /api/v1/webhooks",
		operation: "getWebhooks",
		need:      account.ToKeepWebhooks,
		handle:    (*API).listWebhooks,
		columns:   webhookColumns,
	},
	{
		pattern:   "POST /api/v1/webhooks",
		operation: "createWebhook",
		need:      account.ToKeepWebhooks,
		handle:    (*API).createWebhook,
	},
	{
		pattern:   "POST /api/v1/webhooks/preview",
		operation: "previewWebhook",
		need:      account.ToPreview,
		handle:    (*API).previewWebhook,
		expensive: true,
	},
	{
		pattern:   "GET /api/v1/webhooks/{id}",
		operation: "getWebhook",
		need:      account.ToKeepWebhooks,
		handle:    (*API).getWebhook,
	},
	{
		pattern:   "PATCH /api/v1/webhooks/{id}",
		operation: "changeWebhook",
		need:      account.ToKeepWebhooks,
		handle:    (*API).changeWebhook,
	},
	{
		pattern:   "DELETE /api/v1/webhooks/{id}",
		operation: "deleteWebhook",
		need:      account.ToKeepWebhooks,
		handle:    (*API).deleteWebhook,
	},
	{
		pattern:   "POST /api/v1/webhooks/{id}/test",
		operation: "testWebhook",
		need:      account.ToKeepWebhooks,
		handle:    (*API).testWebhook,
	},
	{
		pattern:   "POST /api/v1/webhooks/{id}/rotate",
		operation: "rotateWebhook",
		need:      account.ToKeepWebhooks,
		handle:    (*API).rotateWebhook,
	},
	{
		pattern:   "POST /api/v1/webhooks/{id}/adopt",
		operation: "adoptWebhook",
		need:      account.ToKeepWebhooks,
		handle:    (*API).adoptWebhook,
	},
	{
		pattern:   "GET /api/v1/webhooks/{id}/deliveries",
		operation: "getDeliveries",
		need:      account.ToKeepWebhooks,
		handle:    (*API).listDeliveries,
		columns:   deliveryColumns,
	},
	{
		pattern:   "POST /api/v1/webhooks/{id}/redeliver",
		operation: "redeliver",
		need:      account.ToKeepWebhooks,
		handle:    (*API).redeliver,
		expensive: true,
	},
	{
		pattern:   "GET /openapi.json",
		operation: "getOpenapiJson",
		handle:    (*API).openapiJSON,
		static:    true,
	},
	{
		pattern:   "GET /openapi.yaml",
		operation: "getOpenapiYaml",
		handle:    (*API).openapiYAML,
		static:    true,
	},
}

// routesOf returns the routes of a service where people can sign in, or cannot.
func routesOf(signIn bool) []route {
	if signIn {
		return slices.Concat(routes, accountRoutes, watchlistRoutes, alertRoutes)
	}
	return routes
}

// Patterns returns the pattern of every route. The paths that end in .csv, which
// lists have too, are not among them.
func Patterns(signIn bool) (out []string) {
	for _, r := range routesOf(signIn) {
		out = append(out, r.pattern)
	}
	return out
}

// Register adds every route to the mux.
func (a *API) Register(mux *http.ServeMux) {
	for _, r := range routesOf(a.SignIn) {
		handler := a.serve(r)
		mux.Handle(r.pattern, handler)
		if r.columns != nil {
			mux.Handle(r.pattern+csvSuffix, handler)
		}
	}
}

// response is the result of a handler. By default its type is JSON, it may be
// cached for a second, and its hash is computed from the body.
type response struct {
	body        []byte
	hash        uint64
	contentType string
	maxAge      time.Duration
	buffer      *[]byte     // of the body, for reuse
	status      int         // 0 means 200
	header      http.Header // additional headers
	warnings    string      // see warningHeader
	widened     string      // see widenedHeader
	location    string      // of the created resource
	revalidate  bool        // caches must revalidate it
	unkept      bool        // no cache may keep it
	negotiated  bool        // depends on the Accept header
	rows        *rowList    // instead of a body, of a list as CSV
	columns     []string    // of the rows, if the request chose them
	rest        *table      // what follows the body
	stream      *stream     // instead of all other fields
	file        *download   // instead of all other fields
}

// buffers holds the bodies of lists, the largest allocation of a request.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// serve turns a route into a handler.
func (a *API) serve(rt route) http.Handler {
	if rt.stream != nil {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if s := a.startStream(w, &rt, r); s != nil {
				s.run()
			}
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rt.people {
			w.Header()["X-Robots-Tag"] = noindex
		}
		var slot access.Slot
		defer func() { slot.Release() }()
		out, err := a.respond(w, rt, r, &slot)
		if err == nil && rt.columns != nil {
			out, err = a.negotiate(r, rt.columns, out)
		}
		if err != nil {
			a.writeError(w, r, err)
			return
		}
		if out.file != nil {
			a.writeFile(w, r, out.file)
			return
		}
		out.revalidate = !rt.need.Public && !rt.static
		out.unkept = query.NamesWatchlist(r.URL.RawQuery)
		writeResponse(w, r, out)
	})
}

// startStream prepares a stream, or writes an error and returns nil. It returns
// before the stream waits and is not inlined: thousands of waiting streams
// would keep its stack.
//
//go:noinline
func (a *API) startStream(w http.ResponseWriter, rt *route, r *http.Request) *stream {
	out, err := a.respond(w, *rt, r, nil)
	if fault.KindOf(err) == fault.Unavailable && hasTicket(r) {
		return a.refusedStream(w, r, err)
	}
	if err != nil {
		a.writeError(w, r, err)
	}
	return out.stream
}

// writeError writes err as a problem document. Internal errors are logged in
// full with the request id that the client receives.
func (a *API) writeError(w http.ResponseWriter, r *http.Request, err error) {
	if problem.ClientClosed(r, err) {
		w.WriteHeader(problem.StatusClientClosed)
		return
	}
	if fault.KindOf(err) == fault.Internal {
		a.Logger.ErrorContext(r.Context(), "a request failed", "request_id",
			w.Header().Get(problem.RequestIDHeader), "route", r.Pattern, "err", err)
	}
	if w.Header().Get("WWW-Authenticate") == "" {
		a.Guard.Challenge(w.Header(), err)
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(e.RetryAfter.Seconds())), 10))
	}
	problem.Write(w, err)
}

// respond authorizes a request and calls its handler. The caller releases the
// slot once the response is written.
func (a *API) respond(w http.ResponseWriter, rt route, r *http.Request, slot *access.Slot) (response, error) {
	if rt.static {
		if err := access.RefuseInQuery(r.URL.RawQuery); err != nil {
			return response{}, err
		}
		return rt.handle(a, r, nil)
	}
	principal, opened, err := a.admit(w, rt, r)
	if err != nil {
		return response{}, err
	}
	if principal.Mode != access.Anonymous {
		r = r.WithContext(access.NewContext(r.Context(), principal))
	}
	if ignored := ignoredParameters(a.parameters[rt.operation], r.URL.RawQuery); ignored != "" {
		w.Header()[ignoredHeader] = []string{ignored}
		a.Logger.DebugContext(r.Context(), "unknown parameters are ignored",
			"request_id", w.Header().Get(problem.RequestIDHeader), "route", r.Pattern, "ignored", ignored)
	}
	find := a.Query.Snapshot
	if rt.beforeReady {
		find = a.Query.Loaded
	}
	snapshot, err := find()
	if rt.stream != nil {
		control := http.NewResponseController(w) // loading may take longer than a request
		_, _ = control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})
		problem.Park(w)
		snapshot, err = a.whenLoaded(r.Context())
	}
	if err != nil {
		return response{}, err
	}
	if rt.stream != nil {
		s, err := rt.stream(a, w, r, opened)
		return response{stream: s}, err
	}
	past := rt.travels && asksPast(r)
	if rt.longPoll {
		problem.Park(w)
	} else {
		expensive := rt.expensive || past || rt.columns != nil && isLargeTable(r) || rt.credentialed != nil &&
			rt.credentialed(r)
		if *slot, err = a.Guard.AcquireSlot(r, principal, expensive); err != nil {
			return response{}, err
		}
	}
	if past { // the archive bounds its waits itself
		r = r.WithContext(access.WithCaller(r.Context(), a.Guard.Caller(r, principal)))
	}
	if rt.bounded {
		return a.inTime(rt, r, snapshot)
	}
	return rt.handle(a, r, snapshot)
}

// inTime calls the handler of an operation that reads and writes the store.
func (a *API) inTime(rt route, r *http.Request, s *catalog.Snapshot) (out response, err error) {
	err = store.Within(r.Context(), func(ctx context.Context) (err error) {
		out, err = rt.handle(a, r.WithContext(ctx), s)
		return err
	})
	return out, err
}

// maxLoading is how long a stream waits for the first data.
const maxLoading = time.Minute

// whenLoaded waits for the first data. Clients of streams reconnect after a
// restart, but give up for good after an error.
func (a *API) whenLoaded(ctx context.Context) (*catalog.Snapshot, error) {
	deadline := time.After(maxLoading)
	for {
		snapshot, err := a.Query.Snapshot()
		if err == nil && a.Events.Ready() {
			return snapshot, nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			return nil, cmp.Or(err, error(fault.New(fault.Unavailable, "The catalogue is still loading.")))
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-a.Stopping:
			return nil, errStopping
		}
	}
}

// errStopping is the error for requests that wait when the service stops.
var errStopping error = fault.New(fault.Unavailable, "Shutting down.")

// untilStopping returns a context that also ends when the service stops, with errStopping
// as its cause. The caller calls stop when it no longer waits.
func (a *API) untilStopping(ctx context.Context) (_ context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-a.Stopping:
			cancel(errStopping)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// needFor returns the requirement of a request.
func (a *API) needFor(rt route, r *http.Request) access.Requirement {
	need := rt.need
	need.Operation = rt.operation
	need.Public = need.Public || rt.bulk && a.Bulk.Public
	if rt.credentialed != nil && rt.credentialed(r) {
		need.Public, need.Uncounted = false, false
	}
	return need
}

// Constant header values. Assigning them by key avoids canonicalizing the key
// and an allocation for each response.
var (
	varies       = []string{"Authorization, X-API-Key, Accept-Encoding"}
	variesAccept = []string{"Authorization, X-API-Key, Accept-Encoding, Accept"}
	jsonType     = []string{"application/json"}
	noindex      = []string{"noindex"}
)

// writeResponse writes a response, or 304 if the client has it already.
func writeResponse(w http.ResponseWriter, r *http.Request, out response) {
	if out.buffer != nil {
		defer func() { *out.buffer = out.body; buffers.Put(out.buffer) }()
	}
	h := w.Header()
	if out.warnings != "" {
		h[warningHeader] = []string{out.warnings}
	}
	if out.widened != "" {
		h[widenedHeader] = []string{out.widened}
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead { // not cacheable
		h["Cache-Control"] = []string{"no-store"}
		if out.location != "" {
			h["Location"] = []string{out.location}
		}
		if out.body != nil {
			h["Content-Type"] = jsonType
		}
		w.WriteHeader(cmp.Or(out.status, http.StatusOK))
		_, _ = w.Write(out.body)
		return
	}
	h["Vary"] = varies
	if out.negotiated {
		h["Vary"] = variesAccept
	}
	for name, values := range out.header {
		h[name] = append(h[name], values...)
	}
	if out.status != 0 { // 202: not ready
		h["Cache-Control"], h["Content-Type"] = []string{"no-store"}, jsonType
		w.WriteHeader(out.status)
		_, _ = w.Write(out.body)
		return
	}
	etag := out.etag()
	h["Etag"] = []string{etag}
	out.setCaching(h, r)
	if content.Matches(r.Header["If-None-Match"], etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = jsonType
	if out.contentType != "" {
		h["Content-Type"] = []string{out.contentType}
	}
	// a compressed GET has another length
	compressible := r.Method == http.MethodHead && r.Header["Accept-Encoding"] != nil
	if !compressible && out.rest == nil {
		h["Content-Length"] = []string{strconv.Itoa(len(out.body))}
	}
	if out.rest != nil && r.Method != http.MethodHead {
		out.rest.writeAfter(w, out.body)
		return
	}
	_, _ = w.Write(out.body)
}

// setCaching says who may keep an answer to a GET request, and for how long.
func (a response) setCaching(h http.Header, r *http.Request) {
	switch {
	case a.unkept:
		h["Cache-Control"] = []string{"private, no-store"}
	case a.revalidate:
		h["Cache-Control"] = []string{"private, no-cache"}
	case hasCredential(r):
		h["Cache-Control"] = []string{"private, max-age=" + strconv.Itoa(max(1, int(a.maxAge.Seconds())))}
	default:
		content.SetPublic(h, r, a.maxAge)
	}
}

// hasCredential reports whether a request has a header for a key or token.
func hasCredential(r *http.Request) bool {
	return r.Header["Authorization"] != nil || r.Header["X-Api-Key"] != nil
}

// etag returns a tag of the content, so that replicas agree. It is weak because
// the content may be compressed.
func (a response) etag() string {
	if a.hash == 0 {
		a.hash = content.Hash(a.body)
	}
	if a.widened != "" { // a 304 is for the header too
		a.hash = a.hash*hashPrime + content.Hash([]byte(a.widened))
	}
	return content.Tag(a.hash)
}
