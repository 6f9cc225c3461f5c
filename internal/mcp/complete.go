package mcp

import (
	"context"
	"slices"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/query"
)

const (
	maxCompletions = 20
	maxTyped       = 200  // bytes of the typed text
	maxValue       = 200  // bytes of a completion
	recentReports  = 2000 // reports whose id is compared with the typed text
)

// completion is a request to complete an argument of a prompt or resource template.
type completion struct {
	prompt, template string
	argument, typed  string
}

// complete answers completion/complete.
func (s *Server) complete(ctx context.Context, m message) (reply, error) {
	c, err := completionOf(m.params)
	if err != nil {
		return reply{}, err
	}
	snapshot, err := s.o.Query.Snapshot()
	if err != nil {
		return reply{}, err
	}
	all := []string{}
	if c.exists() && len(c.typed) <= maxTyped {
		if all, err = completions(ctx, snapshot, c); err != nil {
			return reply{}, err
		}
	}
	all = slices.DeleteFunc(all, func(v string) bool { return len(v) > maxValue })
	b, err := query.Encode(object{"completion": object{ // the total is not counted
		"values": all[:min(len(all), maxCompletions)], "hasMore": len(all) > maxCompletions,
	}})
	return reply{object: b}, err
}

// completionOf reads the params of a request.
func completionOf(params object) (c completion, err error) {
	ref, _ := params["ref"].(object)
	argument, _ := params["argument"].(object)
	switch ref["type"] {
	case "ref/prompt":
		c.prompt, _ = ref["name"].(string)
	case "ref/resource":
		c.template, _ = ref["uri"].(string)
	default:
		return c, wrongType("ref", "a reference of the type ref/prompt or ref/resource")
	}
	name, named := argument["name"].(string)
	typed, ok := argument["value"].(string)
	if !named || !ok {
		return c, wrongType("argument", "an object with the strings name and value")
	}
	c.argument, c.typed = name, typed
	return c, nil
}

// exists reports whether the prompt or resource template exists and has
// the argument. Without it the completion is empty, which is not an error.
func (c completion) exists() bool {
	if p := promptNamed(c.prompt); p != nil {
		return slices.ContainsFunc(p.Arguments, func(a promptArgument) bool { return a.Name == c.argument })
	}
	for _, t := range templates {
		if t.URITemplate == c.template {
			_, names, _ := strings.Cut(strings.TrimSuffix(t.URITemplate, "}"), "{")
			return slices.Contains(strings.Split(strings.TrimPrefix(names, "?"), ","), c.argument)
		}
	}
	return false
}

// completions returns one completion more than is returned to the client, if
// there are more.
func completions(ctx context.Context, s *catalog.Snapshot, c completion) ([]string, error) {
	typed, by := c.typed, access.FromContext(ctx)
	switch {
	case c.argument == "language":
		return withPrefix([]string{"es", "en"}, typed), nil
	case c.argument == "type":
		return withPrefix([]string{"IP", "OIR", "HR"}, typed), nil
	case c.argument == "kind":
		return withPrefix([]string{"company", "fund", "manager", "other"}, typed), nil
	case c.argument == "position":
		return withPrefix([]string{"short", "holding", "own_shares", "dealing"}, typed), nil
	case c.argument == "date" || c.argument == "from" || c.argument == "to":
		return withPrefix(recentDays(), typed), nil
	case c.argument == "category":
		return categories(ctx, s, typed)
	case c.argument == "id" && !strings.HasPrefix(c.template, issuerURI):
		if !by.MayRead(access.ReadReports) {
			return []string{}, nil
		}
		return reportIDs(ctx, s, strings.ToLower(typed))
	case !by.MayRead(access.ReadIssuers): // the remaining arguments complete to issuers
		return []string{}, nil
	case c.prompt == issuerBrief || c.argument == "search":
		return issuers(ctx, s, typed, func(i *disclosure.Issuer) string { return i.Name })
	case strings.HasPrefix(c.template, issuerURI) || c.argument == "issuer":
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
func issuers(
	ctx context.Context,
	s *catalog.Snapshot,
	typed string,
	show func(*disclosure.Issuer) string,
) ([]string, error) {
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
