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
	maxTyped       = 200  // bytes: nobody types more before he wants to be helped
	maxValue       = 200  // bytes of a value that is offered
	recentReports  = 2000 // reports whose id is compared with what was typed
)

// complete offers what somebody who types an argument may mean.
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
	out.Completion.HasMore = len(all) > maxCompletions // how many there are in all nobody counts
	return out, nil
}

// known reports whether an argument is of something that there is. Of what is
// not nothing is known, which is no error.
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

// completions are one more than are shown, when there are more.
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
	case !by.MayRead(access.ReadIssuers): // what is left are names and ids of issuers
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

// issuers are those that a name, ticker or number that is being typed may mean.
func issuers(ctx context.Context, s *catalog.Snapshot, typed string, show func(*disclosure.Issuer) string) ([]string, error) {
	found, err := s.Issuers(ctx, typed, "", maxCompletions+1)
	out := make([]string, len(found))
	for i, e := range found {
		out[i] = show(e.Issuer)
	}
	return out, err
}

// issuerIDs are the ids of those, or else the ids that begin with what was typed.
func issuerIDs(ctx context.Context, s *catalog.Snapshot, typed string) ([]string, error) {
	out, err := issuers(ctx, s, typed, func(i *disclosure.Issuer) string { return i.ID })
	if len(out) > 0 || err != nil {
		return out, err
	}
	for _, e := range s.Entities() {
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

// reportIDs are the newest reports whose id begins with what was typed, or else
// those that it finds as a search.
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
