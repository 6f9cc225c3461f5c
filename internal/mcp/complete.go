package mcp

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

const (
	maxCompletions = 20
	maxTyped       = 200  // bytes of the typed text
	maxValue       = 200  // bytes of a completion
	recentReports  = 2000 // reports whose id is compared with the typed text
)

// complete returns completions of an argument.
func (s *Server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	snapshot, err := s.o.Query.Snapshot()
	if err != nil {
		return nil, sdkError(err)
	}
	all := []string{}
	if hasArgument(req.Params) && len(req.Params.Argument.Value) <= maxTyped {
		if all, err = completions(ctx, snapshot, req.Params); err != nil {
			return nil, sdkError(err)
		}
	}
	all = slices.DeleteFunc(all, func(v string) bool { return len(v) > maxValue })
	out := &sdk.CompleteResult{}
	out.Completion.Values = all[:min(len(all), maxCompletions)]
	out.Completion.HasMore = len(all) > maxCompletions // the total is not counted
	return out, nil
}

// hasArgument reports whether the prompt or resource template exists and has
// the argument. Without it the completion is empty, which is not an error.
func hasArgument(p *sdk.CompleteParams) bool {
	if p == nil || p.Ref == nil {
		return false
	}
	for _, t := range prompts {
		if p.Ref.Type == "ref/prompt" && t.Name == p.Ref.Name {
			return slices.ContainsFunc(t.Arguments, func(a *sdk.PromptArgument) bool { return a.Name == p.Argument.Name })
		}
	}
	for _, t := range templates {
		if p.Ref.Type == "ref/resource" && t.URITemplate == p.Ref.URI {
			_, names, _ := strings.Cut(strings.TrimSuffix(t.URITemplate, "}"), "{")
			return slices.Contains(strings.Split(strings.TrimPrefix(names, "?"), ","), p.Argument.Name)
		}
	}
	return false
}

// completions returns one completion more than is returned to the client, if
// there are more.
func completions(ctx context.Context, s *catalog.Snapshot, p *sdk.CompleteParams) ([]string, error) {
	typed, by := p.Argument.Value, access.FromContext(ctx)
	switch {
	case p.Argument.Name == "language":
		return withPrefix([]string{"es", "en"}, typed), nil
	case p.Argument.Name == "type":
		return withPrefix([]string{"IP", "OIR", "HR"}, typed), nil
	case p.Argument.Name == "kind":
		return withPrefix([]string{"company", "fund", "manager", "other"}, typed), nil
	case p.Argument.Name == "date" || p.Argument.Name == "from" || p.Argument.Name == "to":
		return withPrefix(recentDays(), typed), nil
	case p.Argument.Name == "category":
		return categories(ctx, s, typed)
	case p.Argument.Name == "id" && !strings.HasPrefix(p.Ref.URI, issuerURI):
		if !by.MayRead(access.ReadReports) {
			return []string{}, nil
		}
		return reportIDs(ctx, s, strings.ToLower(typed))
	case !by.MayRead(access.ReadIssuers): // the remaining arguments complete to issuers
		return []string{}, nil
	case p.Ref.Name == issuerBrief || p.Argument.Name == "search":
		return issuers(ctx, s, typed, func(i *disclosure.Issuer) string { return i.Name })
	case strings.HasPrefix(p.Ref.URI, issuerURI) || p.Argument.Name == "issuer":
		return issuerIDs(ctx, s, typed)
	}
	return []string{}, nil
}

func withPrefix(all []string, typed string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		return len(v) < len(typed) || !strings.EqualFold(v[:len(typed)], typed)
	})
}

// issuers returns the issuers that match a partial name, ticker or number.
func issuers(ctx context.Context, s *catalog.Snapshot, typed string, show func(*disclosure.Issuer) string) ([]string, error) {
	found, err := s.Issuers(ctx, typed, "", maxCompletions+1)
	out := make([]string, len(found))
	for i, e := range found {
		out[i] = show(e.Issuer)
	}
	return out, err
}

// issuerIDs returns the ids of the matching issuers, or else the ids with the
// typed prefix.
func issuerIDs(ctx context.Context, s *catalog.Snapshot, typed string) ([]string, error) {
	out, err := issuers(ctx, s, typed, func(i *disclosure.Issuer) string { return i.ID })
	if len(out) > 0 || err != nil {
		return out, err
	}
	for _, e := range s.Directory().Issuers() {
		out = append(out, e.Issuer.ID)
	}
	out = withPrefix(out, typed)
	slices.Sort(out)
	return out, nil
}

func categories(ctx context.Context, s *catalog.Snapshot, typed string) ([]string, error) {
	found, err := s.Suggest(ctx, typed, maxCompletions)
	out := []string{}
	for _, c := range found.Categories {
		out = append(out, c.Category)
	}
	return out, err
}

// reportIDs returns the newest reports whose id has the typed prefix, or else
// the reports that a search finds.
func reportIDs(ctx context.Context, s *catalog.Snapshot, typed string) ([]string, error) {
	out := []string{}
	for _, f := range s.Newest(disclosure.Filter{}, recentReports).Reports {
		if id := f.ID(); strings.HasPrefix(id, typed) {
			out = append(out, id)
		}
	}
	if len(out) > 0 || typed == "" {
		return out, nil
	}
	found, err := s.Reports(ctx, disclosure.Filter{Search: typed}, 1, maxCompletions+1)
	for _, f := range found.Reports {
		out = append(out, f.ID())
	}
	return out, err
}
