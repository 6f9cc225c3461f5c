package console

import (
	"context"
	"strconv"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/query"
)

// accountRow is an account as operators see it.
type accountRow struct{ account.Summary }

// Label returns the name of the account.
func (o accountRow) Label() string { return nameOf(o.Name, o.Email, o.ID) }

// accountsPage is a page of the list of accounts, for operators.
type accountsPage struct {
	frame
	Accounts []accountRow
	Older    string // address of the older ones, or ""
	Newest   string
}

// errNoPage hides pages of operators from others.
var errNoPage = fault.New(fault.NotFound, "There is nothing at this path.")

const accountsPath = "/account/owners"

func (c *Console) listAccounts(q *request) (*reply, error) {
	if !q.session.Operator {
		return nil, errNoPage
	}
	p := query.NewParams(map[string][]string{"page": {q.URL.Query().Get("page")}})
	page := account.ReadPage(p)
	if err := p.Err(); err != nil {
		return nil, err
	}
	found, err := do(c, q, manage, func(ctx context.Context, by access.Principal) (account.AccountList, error) {
		return c.Account.ListAccounts(ctx, by, page)
	})
	if err != nil {
		return nil, err
	}
	data := &accountsPage{frame: q.frame("owners")}
	for _, one := range found.Accounts {
		data.Accounts = append(data.Accounts, accountRow{one})
	}
	if found.Page > 1 {
		data.Newest = q.e.Link(accountsPath)
	}
	if found.Page*found.Limit < found.Total {
		data.Older = q.e.Link(accountsPath + "?page=" + strconv.Itoa(found.Page+1))
	}
	return q.page("owners", q.e.Text("heading.owners"), data), nil
}

// blockAccount ends all access of an account, or allows it again.
func (c *Console) blockAccount(q *request) (*reply, error) {
	if !q.session.Operator {
		return nil, errNoPage
	}
	blocked := q.PostForm.Get("blocked") == "true"
	done := "unblocked"
	if blocked {
		done = "blocked"
	}
	err := c.run(q, manage, func(ctx context.Context, by access.Principal) error {
		return c.Account.Block(ctx, by, account.Blocking{Account: q.PostForm.Get("owner"), Blocked: &blocked})
	})
	if err != nil {
		return nil, err
	}
	return q.back(accountsPath, done), nil
}
