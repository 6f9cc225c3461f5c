package discovery

import (
	"slices"
	"strings"
)

// linkset is an API catalog (RFC 9727, RFC 9264).
type linkset struct {
	Contexts []linkContext `json:"linkset"`
}

// linkContext holds the links of one resource.
type linkContext struct {
	Anchor string       `json:"anchor"`
	Items  []linkTarget `json:"item,omitempty"`
	Desc   []linkTarget `json:"service-desc,omitempty"`
	Doc    []linkTarget `json:"service-doc,omitempty"`
	Meta   []linkTarget `json:"service-meta,omitempty"`
	Status []linkTarget `json:"status,omitempty"`
}

type linkTarget struct {
	Href  string `json:"href"`
	Type  string `json:"type,omitempty"`
	Title string `json:"title,omitempty"`
}

const linksetType = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`

func writeLinkset(f *facts, e edition) error {
	status, err := f.Op("getStatus")
	if err != nil {
		return err
	}
	token, err := f.Op("exchangeToken")
	if err != nil {
		return err
	}
	target := func(path, contentType, title string) []linkTarget {
		return []linkTarget{{f.URL(path), contentType, title}}
	}
	manual := target(llmsFullPath, "text/plain", "Everything in one text")
	services := []linkContext{
		{
			Anchor: f.URL("/"), // as in the servers of the OpenAPI document
			Desc: slices.Concat(target(openapiPath, "application/json", "OpenAPI 3.1 as JSON"),
				target(openapiYAMLPath, "application/yaml", "OpenAPI 3.1 as YAML")),
			Doc: manual, Meta: target(resourcePath, "application/json", "RFC 9728"),
			Status: target(status.Path, "application/json", status.Summary),
		},
		{
			Anchor: f.URL(mcpPath), Desc: target(cardPath, cardType, "MCP server card"), Doc: manual,
			Meta: target(resourcePath+mcpPath, "application/json", "RFC 9728"),
		},
		{Anchor: f.URL(token.Path), Doc: manual, Meta: target(serverPath, "application/json", "RFC 8414")},
	}
	self := linkContext{Anchor: f.URL(apiCatalogPath)}
	var links []string
	for _, s := range services {
		self.Items = append(self.Items, linkTarget{Href: s.Anchor})
		links = append(links, link(strings.TrimPrefix(s.Anchor, f.BaseURL), "item"))
	}
	doc, err := newJSON(linksetType, linkset{append([]linkContext{self}, services...)})
	doc.links = links
	e[apiCatalogPath] = variants{doc}
	return err
}
