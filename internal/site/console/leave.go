package console

import (
	"context"
	"net/http"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/query"
)

// exportAccount sends everything of the account as a file.
func (c *Console) exportAccount(q *request) (*reply, error) {
	found, err := do(c, q, manage, c.Account.Export)
	if err != nil {
		return nil, err
	}
	body, err := query.Encode(found)
	if err != nil {
		return nil, err
	}
	h := q.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Disposition", `attachment; filename="pregon-account.json"`)
	h.Set("Cache-Control", "private, no-store")
	q.w.WriteHeader(http.StatusOK)
	_, _ = q.w.Write(body)
	return nil, nil
}

// deleteAccount deletes the account, and signs its owner out. The box in the form confirms it.
func (c *Console) deleteAccount(q *request) (*reply, error) {
	err := c.run(q, manage, func(ctx context.Context, by access.Principal) error {
		return c.Account.DeleteAccount(ctx, by, account.Deletion{Confirm: q.PostForm.Get("confirm")})
	})
	if err != nil {
		return nil, err
	}
	if err := c.SignIn.SignOut(q.w, q.Request, q.session, false); err != nil {
		return nil, err
	}
	return q.back("/signin", "account-deleted"), nil
}
