package mcp

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/mcp/view"
	"pregon/internal/query"
)

// URIs of the resources.
const (
	baseURI     = "pregon://"
	reportURI   = baseURI + "reports/"
	issuerURI   = baseURI + "issuers/"
	documentURI = baseURI + "documents/"

	latestURI = reportURI + "latest"
	searchURI = reportURI + "search"

	jsonType = "application/json"
	textType = "text/plain"
	viewType = "text/html;profile=mcp-app"
)

var resources = []*sdk.Resource{
	{URI: latestURI, Name: "latest-reports", Title: "Newest reports", MIMEType: jsonType, Description: "The newest reports. Subscribe to be notified of each new one."},
}

var templates = []*sdk.ResourceTemplate{
	{URITemplate: reportURI + "{id}", Name: "report", Title: "A report", MIMEType: jsonType, Description: "All data of one report, as get_report returns it."},
	{URITemplate: searchURI + "{?search,type,issuer,from,to,category,kind}", Name: "report-search", Title: "A search", MIMEType: jsonType, Description: "The results of a search, newest first. Subscribe to be notified of new results."},
	{URITemplate: issuerURI + "{id}", Name: "issuer", Title: "An issuer", MIMEType: jsonType, Description: "One issuer, as get_issuer returns it."},
	{URITemplate: documentURI + "{id}", Name: "document", Title: "A report's document", MIMEType: textType, Description: "The text of a report's document; ?offset=N continues from a character. Needs a key or token."},
}

func (s *Server) addResources() {
	for _, r := range resources {
		s.sdk.AddResource(r, s.readResource)
	}
	for _, t := range templates {
		s.sdk.AddResourceTemplate(t, s.readResource)
	}
	// No domains: a view loads nothing. It has no border of its own.
	meta := sdk.Meta{"ui": map[string]any{"csp": map[string]any{}, "prefersBorder": true}}
	for _, v := range view.All() {
		r := &sdk.Resource{URI: v.URI, Name: v.Name, Title: v.Title, Description: v.Description, MIMEType: viewType, Size: int64(len(v.HTML)), Meta: meta}
		contents := []*sdk.ResourceContents{{URI: v.URI, MIMEType: viewType, Text: v.HTML, Meta: meta}}
		s.sdk.AddResource(r, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: contents}, nil
		})
	}
}

func isResource(uri string) bool { return strings.HasPrefix(uri, baseURI) }

type uriKey struct{}

// withFixedURI makes the SDK call readResource for every URI. The SDK compares
// templates literally and would not find a search whose parameters are in
// another order.
func withFixedURI(ctx context.Context, req *sdk.ReadResourceRequest) (context.Context, *sdk.ReadResourceRequest) {
	inner, params := *req, *req.Params
	params.URI, inner.Params = latestURI, &params
	return context.WithValue(ctx, uriKey{}, req.Params.URI), &inner
}

// readResource reads a resource.
func (s *Server) readResource(ctx context.Context, _ *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := ctx.Value(uriKey{}).(string)
	kind, body, err := s.resource(ctx, uri)
	if fault.KindOf(err) == fault.NotFound {
		where, _ := query.Encode(map[string]string{"uri": uri})
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: s.errorText(ctx, "resources/read", err), Data: where}
	}
	if err != nil {
		return nil, sdkError(fault.New(fault.KindOf(err), "%s", s.errorText(ctx, "resources/read", err)))
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: string(body)}}}, nil
}

func (s *Server) resource(ctx context.Context, uri string) (kind string, body []byte, err error) {
	at, rawQuery, _ := strings.Cut(uri, "?")
	p := query.ParseQuery(rawQuery)
	if err := p.Err(); err != nil {
		return "", nil, err
	}
	snapshot, err := s.o.Query.Snapshot()
	if err != nil {
		return "", nil, err
	}
	if id, ok := strings.CutPrefix(at, documentURI); ok {
		body, err = s.wholeDocument(ctx, snapshot, id, p)
		return textType, body, err
	}
	out, err := s.record(ctx, snapshot, at, p)
	return jsonType, out.json, err
}

// record returns the result of the tool for a resource.
func (s *Server) record(ctx context.Context, snapshot *catalog.Snapshot, at string, p *query.Params) (result, error) {
	if at == latestURI || at == searchURI {
		return s.searchReports(ctx, snapshot, p)
	}
	for prefix, answer := range map[string]func(context.Context, *catalog.Snapshot, *query.Params) (result, error){reportURI: s.getReport, issuerURI: s.getIssuer} {
		if id, ok := strings.CutPrefix(at, prefix); ok {
			if id, err := url.PathUnescape(id); err == nil {
				return answer(ctx, snapshot, query.NewParams(url.Values{"id": {id}}))
			}
		}
	}
	return result{}, errNoResource
}

// Limits of a document that is read as a resource.
const (
	maxCharsRead = 20_000
	maxBytesRead = 24_000
)

func (s *Server) wholeDocument(ctx context.Context, snapshot *catalog.Snapshot, id string, p *query.Params) ([]byte, error) {
	offset := p.Integer("offset", 0, 0, query.MaxOffset)
	if err := p.Err(); err != nil {
		return nil, err
	}
	id, err := url.PathUnescape(id)
	if err != nil {
		return nil, errNoResource
	}
	out, err := s.documentPiece(ctx, snapshot, id, offset, maxCharsRead, maxBytesRead)
	if err == nil && out.Status == "pending" {
		err = fault.New(fault.Unavailable, "%s", s.documentText(out))
	}
	return []byte(s.documentText(out)), err
}

var errNoResource = fault.New(fault.NotFound, "There is no such resource: see resources/list and resources/templates/list.")

// How long a client may cache a result, in milliseconds. The offer is part of the
// program. Records may change with every report,
// as over REST.
const (
	offerTTL  = 5 * 60 * 1000
	recordTTL = 1000
)

// cacheable sets how long a result may be cached, and by whom.
func cacheable(ctx context.Context, req sdk.Request, c *sdk.Cacheable) {
	c.TTLMs, c.CacheScope = offerTTL, "public"
	read, ok := req.(*sdk.ReadResourceRequest)
	if !ok || !isResource(read.Params.URI) {
		return
	}
	c.TTLMs = recordTTL
	if access.FromContext(ctx).Mode != access.Anonymous {
		c.CacheScope = "private"
	}
}
