package mcp

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/mcp/tools"
	"pregon/internal/mcp/view"
	"pregon/internal/query"
)

// URIs of the resources.
const (
	baseURI     = "pregon://"
	reportURI   = baseURI + "reports/"
	issuerURI   = baseURI + "issuers/"
	positionURI = baseURI + "positions/"
	documentURI = baseURI + "documents/"

	jsonType = "application/json"
	textType = "text/plain"
	viewType = "text/html;profile=mcp-app"
)

// resource is a resource, or with a template instead of a URI a kind of them.
type resource struct {
	URI         string `json:"uri,omitempty"`
	URITemplate string `json:"uriTemplate,omitempty"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIMEType    string `json:"mimeType"`
	Size        int    `json:"size,omitempty"`
	Meta        object `json:"_meta,omitempty"`
}

// contents are what a resource contains.
type contents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text"`
	Meta     object `json:"_meta,omitempty"`
}

var resources = []resource{
	{
		URI:         tools.LatestURI,
		Name:        "latest-reports",
		Title:       "Newest reports",
		MIMEType:    jsonType,
		Description: "The newest reports. Subscribe to be notified of each new one.",
	},
}

var templates = []resource{
	{
		URITemplate: reportURI + "{id}",
		Name:        "report",
		Title:       "A report",
		MIMEType:    jsonType,
		Description: "All data of one report, as get_report returns it.",
	},
	{
		URITemplate: tools.SearchURI + "{?search,type,issuer,from,to,category,kind}",
		Name:        "report-search",
		Title:       "A search",
		MIMEType:    jsonType,
		Description: "The results of a search, newest first. Subscribe to be notified of new results.",
	},
	{
		URITemplate: tools.PositionsURI + "{?position,issuer,holder,min_percent,from,to}",
		Name:        "position-search",
		Title:       "Positions",
		MIMEType:    jsonType,
		Description: "Short positions, holdings, own shares and managers' dealings, newest first. Subscribe to be notified " +
			"of new and changed ones.",
	},
	{
		URITemplate: issuerURI + "{id}",
		Name:        "issuer",
		Title:       "An issuer",
		MIMEType:    jsonType,
		Description: "One issuer, as get_issuer returns it.",
	},
	{
		URITemplate: documentURI + "{id}",
		Name:        "document",
		Title:       "A report's document",
		MIMEType:    textType,
		Description: "The text of a report's document; ?offset=N continues from a character. Needs a key or token.",
	},
}

// viewMeta is for the hosts of views. No domains: a view loads nothing. It has no
// border of its own.
var viewMeta = object{"ui": object{"csp": object{}, "prefersBorder": true}}

// viewContents are the results of reading each view.
var viewContents = func() map[string][]byte {
	out := map[string][]byte{}
	for _, v := range view.All() {
		out[v.URI] = mustEncode(object{"contents": []contents{{v.URI, viewType, v.HTML, viewMeta}}})
	}
	return out
}()

func (s *Server) listResources(_ context.Context, m message) (reply, error) {
	if err := m.checkCursor(); err != nil {
		return reply{}, err
	}
	all := slices.Clone(resources)
	for _, v := range view.All() {
		all = append(all, resource{
			URI:         v.URI,
			Name:        v.Name,
			Title:       v.Title,
			Description: v.Description,
			MIMEType:    viewType,
			Size:        len(v.HTML),
			Meta:        viewMeta,
		})
	}
	for _, k := range s.skills() {
		all = append(all, k.resource())
	}
	return encodeOffer(object{"resources": all})
}

// readResource answers resources/read.
func (s *Server) readResource(ctx context.Context, m message) (reply, error) {
	if b, ok := viewContents[m.uri]; ok {
		return reply{object: b, ttl: offerTTL}, nil
	}
	kind, body, err := s.resource(ctx, m.uri)
	if fault.KindOf(err) == fault.NotFound {
		return reply{}, &protocolError{
			code:    codeInvalidParams,
			message: tools.ErrorText(err),
			data:    object{"uri": m.uri},
		}
	}
	if err != nil {
		return reply{}, err
	}
	b, err := query.Encode(object{"contents": []contents{{m.uri, kind, string(body), nil}}})
	_, rawQuery, _ := strings.Cut(m.uri, "?")
	private := access.FromContext(ctx).Mode != access.Anonymous || query.NamesWatchlist(rawQuery)
	return reply{object: b, ttl: recordTTL, private: private}, err
}

func (s *Server) resource(ctx context.Context, uri string) (kind string, body []byte, err error) {
	if strings.HasPrefix(uri, skillURI) {
		k, err := s.skill(uri)
		return skillType, k.Body, err
	}
	at, rawQuery, _ := strings.Cut(uri, "?")
	p := s.o.Query.ParseQuery(rawQuery).For(access.FromContext(ctx))
	if err := p.Err(); err != nil {
		return "", nil, err
	}
	snapshot, err := s.o.Query.Snapshot()
	if err != nil {
		return "", nil, err
	}
	if id, ok := strings.CutPrefix(at, documentURI); ok {
		body, err = s.readDocument(ctx, snapshot, id, p)
		return textType, body, err
	}
	out, err := s.record(ctx, snapshot, at, p)
	return jsonType, out.JSON, err
}

// record returns the result of the tool for a resource.
func (s *Server) record(
	ctx context.Context,
	snapshot *catalog.Snapshot,
	at string,
	p *query.Params,
) (tools.Result, error) {
	if at == tools.LatestURI || at == tools.SearchURI {
		return s.tools.SearchReports(ctx, snapshot, p)
	}
	if at == tools.PositionsURI {
		return s.tools.SearchPositions(ctx, snapshot, p)
	}
	for prefix, answer := range map[string]func(context.Context, *catalog.Snapshot,
		*query.Params) (tools.Result, error){reportURI: s.tools.Report, issuerURI: s.tools.Issuer} {
		if id, ok := strings.CutPrefix(at, prefix); ok {
			if id, err := url.PathUnescape(id); err == nil {
				return answer(ctx, snapshot, query.NewParams(url.Values{"id": {id}}))
			}
		}
	}
	return tools.Result{}, errNoResource
}

func (s *Server) readDocument(
	ctx context.Context,
	snapshot *catalog.Snapshot,
	id string,
	p *query.Params,
) ([]byte, error) {
	offset := p.Integer("offset", 0, 0, query.MaxOffset)
	if err := p.Err(); err != nil {
		return nil, err
	}
	id, err := url.PathUnescape(id)
	if err != nil {
		return nil, errNoResource
	}
	text, err := s.tools.Document(ctx, snapshot, id, offset)
	return []byte(text), err
}

var errNoResource = fault.New(fault.NotFound,
	"There is no such resource: see resources/list and resources/templates/list.")

// How long a client may cache a result, in milliseconds. The offer is part of the
// program. Records may change with every report,
// as over REST.
const (
	offerTTL  = 5 * 60 * 1000
	recordTTL = 1000
)
