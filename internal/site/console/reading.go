package console

import (
	"pregon/internal/account"
	"pregon/internal/auth/access"
)

// readDocument shows a report with the text of its document.
func (c *Console) readDocument(q *request) (*reply, error) {
	return c.showReports(q, account.ToReadDocument)
}

// searchDocuments shows the reports whose documents have some words.
func (c *Console) searchDocuments(q *request) (*reply, error) {
	return c.showReports(q, account.ToSearchDocuments)
}

// showReports has the site answer a request that counts as the API counts it. The site
// waits for a slot of the caller.
func (c *Console) showReports(q *request, need access.Requirement) (*reply, error) {
	if err := c.Guard.AdmitSession(q.w, q.Request, q.session.Principal, need); err != nil {
		return nil, err
	}
	c.Reports(q.w, q.Request, q.session.Principal)
	return nil, nil
}
