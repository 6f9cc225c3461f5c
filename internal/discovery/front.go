package discovery

// writeFront adds what programs get at the front page: JSON, or Markdown for
// agents. The page for people is in package site.
func writeFront(f *facts, e edition) error {
	if err := f.addJSON(e, "application/json", "index.json", nil, frontPath); err != nil {
		return err
	}
	forAgents := document{contentType: markdownType, body: e[llmsPath][0].body}
	e[frontPath] = append(e[frontPath], forAgents)
	for i := range e[frontPath] {
		e[frontPath][i].links = []string{
			link(aiCatalogPath, "ai-catalog"),
			link(openapiPath, "service-desc", "type", "application/json"),
			link(llmsFullPath, "service-doc", "type", "text/plain"),
			link(llmsPath, "alternate", "type", "text/plain"),
		}
	}
	return nil
}
