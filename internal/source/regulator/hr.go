package regulator

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// The pages of the latest relevant facts. There is no list of them by dates.
const (
	HRFunds          = "/portal/menu/utimos-hechos-relevantes-iic" // the site's own spelling
	HRVentureCapital = "/portal/menu/utimos-hechos-relevantes-capital-riesgo"
)

// LatestHRPages are what LatestHR can be asked for.
var LatestHRPages = []string{HRFunds, HRVentureCapital}

// LatestHR reads one of the LatestHRPages.
func (c *Client) LatestHR(ctx context.Context, surface string) (List, error) {
	if !slices.Contains(LatestHRPages, surface) {
		return List{}, fault.New(fault.Invalid, "%q is no page of relevant facts", surface)
	}
	return c.list(ctx, surface, listing{surface: "page " + path.Base(surface), t: disclosure.HR, series: hrOf(Funds), dir: path.Dir(surface) + "/"})
}

// EntityHR reads a page of the relevant facts of one entity in a division, by
// the site's own key of it: another spelling of the same NIF may find nothing.
func (c *Client) EntityHR(ctx context.Context, d Division, nif string, page int) (List, error) {
	nif = strings.TrimSpace(nif)
	if nif == "" {
		return List{}, fault.New(fault.Invalid, "relevant facts are asked for by NIF")
	}
	of := hrOf(d)
	address := fmt.Sprintf("/portal/hr/resultadobusquedahr?division=%d&nif=%s&page=%d", d, url.QueryEscape(nif), page)
	return c.list(ctx, address, listing{surface: "list of HR", t: disclosure.HR, series: of, dir: of.dir, nif: nif, page: page})
}
