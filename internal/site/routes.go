package site

import (
	"pregon/internal/auth/access"
	"pregon/internal/site/render"
)

// route is one page.
type route struct {
	pattern string
	handle  func(*Site, *request) (*render.Page, error)
	// Expensive pages have fewer slots for each caller.
	expensive bool
	// counted reports whether a request counts against the limit of anonymous callers:
	// those for data do, as in the API. Nil means that none does.
	counted func(*request) bool
	// scope is what callers with a credential need.
	scope access.Scope
	// Early pages are also served before the first data is loaded. Their snapshot may
	// be nil then.
	early bool
	// Fresh pages show more than the reports, and are cached for seconds only.
	fresh bool
	// Sitemaps have neither parameters nor a language, and are cached for sitemapAge.
	sitemap bool
}

// always is counted for routes of which every request counts.
func always(*request) bool { return true }

// LiveRoute is the pattern of the fragment that open pages poll.
const LiveRoute = "GET /live"

// routes are all pages.
var routes = []route{
	{
		pattern: "GET /{$}",
		handle:  (*Site).feed,
		scope:   access.ReadReports,
	},
	{
		pattern: "GET /reports/{id}",
		handle:  (*Site).report,
		scope:   access.ReadReports,
		counted: (*request).wantsMarkdown,
	},
	{
		pattern:   "GET /search",
		handle:    (*Site).search,
		scope:     access.ReadReports,
		expensive: true,
	},
	{
		pattern: LiveRoute,
		handle:  (*Site).live,
		scope:   access.ReadReports,
	},
	{
		pattern: "GET /suggest",
		handle:  (*Site).suggest,
	},
	{
		pattern: "GET /issuers",
		handle:  (*Site).issuers,
		scope:   access.ReadIssuers,
	},
	{
		pattern: "GET /issuers/{id}",
		handle:  (*Site).issuer,
		scope:   access.ReadIssuers | access.ReadReports,
	},
	{
		pattern: "GET /issuers/{id}/months.csv",
		handle:  (*Site).issuerMonths,
		scope:   access.ReadIssuers | access.ReadReports,
		counted: always,
	},
	{
		pattern: "GET /following",
		handle:  (*Site).following,
		early:   true,
	},
	{
		pattern: "GET /following/list",
		handle:  (*Site).followingList,
		scope:   access.ReadIssuers | access.ReadReports,
	},
	{
		pattern: "GET /following/find",
		handle:  (*Site).followingFind,
		scope:   access.ReadIssuers,
	},
	{
		pattern: "GET /calendar",
		handle:  (*Site).calendar,
		scope:   access.ReadReports,
	},
	{
		pattern: "GET /shorts",
		handle:  (*Site).shorts,
		scope:   access.ReadIssuers,
	},
	{
		pattern: "GET /dealings",
		handle:  (*Site).dealings,
		scope:   access.ReadIssuers,
	},
	{
		pattern: "GET /holdings",
		handle:  (*Site).holdings,
		scope:   access.ReadIssuers,
	},
	{
		pattern: "GET /own-shares",
		handle:  (*Site).ownShares,
		scope:   access.ReadIssuers,
	},
	{
		pattern: "GET /shorts/feed.atom",
		handle:  atomOf(shortRegister),
		scope:   access.ReadIssuers,
		counted: always,
	},
	{
		pattern: "GET /shorts/feed.json",
		handle:  jsonFeedOf(shortRegister),
		scope:   access.ReadIssuers,
		counted: always,
	},
	{
		pattern: "GET /dealings/feed.atom",
		handle:  atomOf(dealingRegister),
		scope:   access.ReadIssuers,
		counted: always,
	},
	{
		pattern: "GET /dealings/feed.json",
		handle:  jsonFeedOf(dealingRegister),
		scope:   access.ReadIssuers,
		counted: always,
	},
	{
		pattern: "GET /holdings/feed.atom",
		handle:  atomOf(holdingRegister),
		scope:   access.ReadIssuers,
		counted: always,
	},
	{
		pattern: "GET /holdings/feed.json",
		handle:  jsonFeedOf(holdingRegister),
		scope:   access.ReadIssuers,
		counted: always,
	},
	{
		pattern: "GET /own-shares/feed.atom",
		handle:  atomOf(ownSharesRegister),
		scope:   access.ReadIssuers,
		counted: always,
	},
	{
		pattern: "GET /own-shares/feed.json",
		handle:  jsonFeedOf(ownSharesRegister),
		scope:   access.ReadIssuers,
		counted: always,
	},
	{
		pattern:   "GET /analytics",
		handle:    (*Site).analytics,
		scope:     access.ReadAnalytics,
		expensive: true,
	},
	{
		pattern:   "GET /analytics/{table}",
		handle:    (*Site).analyticsTable,
		scope:     access.ReadAnalytics,
		counted:   always,
		expensive: true,
	},
	{
		pattern: "GET /feed.atom",
		handle:  (*Site).atom,
		scope:   access.ReadReports,
		counted: always,
	},
	{
		pattern: "GET /feed.json",
		handle:  (*Site).jsonFeed,
		scope:   access.ReadReports,
		counted: always,
	},
	{
		pattern: "GET /sitemap.xml",
		handle:  (*Site).sitemap,
		sitemap: true,
	},
	{
		pattern:   "GET /sitemaps/{part}",
		handle:    (*Site).sitemapPart,
		expensive: true,
		sitemap:   true,
	},
	{
		pattern: "GET /manifest.webmanifest",
		handle:  (*Site).manifest,
	},
	{
		pattern: "GET /favicon.ico",
		handle:  (*Site).favicon,
	},
	{
		pattern: "GET /developers",
		handle:  (*Site).developers,
		early:   true,
	},
	{
		pattern: "GET /developers/{tag}",
		handle:  (*Site).reference,
		early:   true,
	},
	{
		pattern: "GET /status",
		handle:  (*Site).status,
		early:   true,
		fresh:   true,
	},
}
