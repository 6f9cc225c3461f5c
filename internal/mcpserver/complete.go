package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

const (
	mostCompletions = 20
	lookBack        = 2000 // filings whose id is compared with what was typed
)

// complete offers what somebody who types an argument may mean.
func (s *Server) complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	snapshot, err := s.o.Desk.Snapshot()
	if err != nil {
		return nil, wireError(err)
	}
	all := completions(snapshot, req.Params)
	out := &mcp.CompleteResult{}
	out.Completion.Total = len(all)
	out.Completion.HasMore = len(all) > mostCompletions
	out.Completion.Values = all[:min(len(all), mostCompletions)]
	return out, nil
}

func completions(s *catalog.Snapshot, p *mcp.CompleteParams) []string {
	if p == nil || p.Ref == nil {
		return []string{}
	}
	typed := p.Argument.Value
	switch {
	case p.Argument.Name == "language":
		return beginning([]string{"es", "en"}, typed)
	case p.Argument.Name == "type":
		return beginning([]string{"IP", "OIR", "HR"}, typed)
	case p.Argument.Name == "kind":
		return beginning([]string{"company", "fund", "manager", "other"}, typed)
	case p.Argument.Name == "date" || p.Argument.Name == "from" || p.Argument.Name == "to":
		return beginning(recentDays(), typed)
	case p.Argument.Name == "category":
		return categories(s, typed)
	case p.Ref.Name == issuerBrief || p.Argument.Name == "search":
		return issuers(s, typed, func(i *disclosure.Issuer) string { return i.Name })
	case strings.HasPrefix(p.Ref.URI, issuerURI) || p.Argument.Name == "issuer":
		return issuers(s, typed, func(i *disclosure.Issuer) string { return i.ID })
	case p.Argument.Name == "id":
		return reportIDs(s, typed)
	}
	return []string{}
}

func beginning(all []string, typed string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		return len(v) < len(typed) || !strings.EqualFold(v[:len(typed)], typed)
	})
}

// issuers are those that a name, ticker or number that is being typed may mean.
func issuers(s *catalog.Snapshot, typed string, show func(*disclosure.Issuer) string) []string {
	out := []string{}
	for _, e := range s.Issuers(typed, "", mostCompletions) {
		out = append(out, show(e.Issuer))
	}
	return out
}

func categories(s *catalog.Snapshot, typed string) []string {
	out := []string{}
	for _, c := range s.Suggest(typed, mostCompletions).Categories {
		out = append(out, c.Category)
	}
	return out
}

// reportIDs are the newest filings whose id begins with what was typed, or else
// those that it finds as a search.
func reportIDs(s *catalog.Snapshot, typed string) []string {
	out := []string{}
	for _, f := range s.Reports(disclosure.Filter{}, 1, lookBack).Filings {
		if id := f.ID(); strings.HasPrefix(id, strings.ToLower(typed)) {
			out = append(out, id)
		}
	}
	if len(out) > 0 || typed == "" {
		return out
	}
	for _, f := range s.Reports(disclosure.Filter{Search: typed}, 1, mostCompletions).Filings {
		out = append(out, f.ID())
	}
	return out
}
