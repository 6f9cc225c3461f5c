package regulator

import "context"

// Document is a file of the site.
type Document struct {
	Body        []byte
	ContentType string
	URL         string // that it came from in the end, as the public sees it
}

// Document reads a document by its public address. It refuses what is not on
// the regulator's site.
func (c *Client) Document(ctx context.Context, link string) (Document, error) {
	a, err := c.get(ctx, link, c.limits.document)
	if err != nil {
		return Document{}, err
	}
	return Document{Body: a.body, ContentType: a.contentType, URL: c.site().public + pathOf(a.address)}, nil
}
