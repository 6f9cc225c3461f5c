package console

import (
	"net/http"
	"strconv"
	"time"

	"pregon/internal/fault"
)

// owner is the owner of data, as the API returns it to operators.
type owner struct {
	person
	Keys       int        `json:"keys"`
	Webhooks   int        `json:"webhooks"`
	Apps       int        `json:"apps"`
	Sessions   int        `json:"sessions"`
	LastUsedAt *time.Time `json:"last_used_at"`
	BlockedAt  *time.Time `json:"blocked_at"`
}

// Label returns the name of the owner.
func (o owner) Label() string { return nameOf(o.Name, o.Email, o.ID) }

// ownersPage is the list of owners, for operators.
type ownersPage struct {
	frame
	Owners []owner
}

// owners returns all owners, of which the API returns a page at a time.
func (c *Console) owners(q *request) (all []owner, err error) {
	for page := 1; ; page++ {
		var found struct {
			Owners []owner
			Total  int
		}
		if err := c.call(q, http.MethodGet, "/api/v1/account/owners?limit=500&page="+strconv.Itoa(page), nil, &found); err != nil {
			return nil, err
		}
		if all = append(all, found.Owners...); len(found.Owners) == 0 || len(all) >= found.Total {
			return all, nil
		}
	}
}

// errNoPage hides pages of operators from others.
var errNoPage = fault.New(fault.NotFound, "There is nothing at this path.")

func (c *Console) listOwners(q *request) (*reply, error) {
	if !q.session.Operator {
		return nil, errNoPage
	}
	found, err := c.owners(q)
	if err != nil {
		return nil, err
	}
	return q.page("owners", q.e.Text("heading.owners"), &ownersPage{q.frame("owners"), found}), nil
}

// blockOwner ends all access of an owner, or allows it again.
func (c *Console) blockOwner(q *request) (*reply, error) {
	if !q.session.Operator {
		return nil, errNoPage
	}
	blocked, done := q.PostForm.Get("blocked") == "true", "unblocked"
	if blocked {
		done = "blocked"
	}
	body := map[string]any{"owner": q.PostForm.Get("owner"), "blocked": blocked}
	if err := c.call(q, http.MethodPost, "/api/v1/account/owners/block", body, nil); err != nil {
		return nil, err
	}
	return q.back("/account/owners", done), nil
}
