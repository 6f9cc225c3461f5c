package account

import "pregon/internal/auth/access"

// What the guard requires of the callers of this package, on every surface.
var (
	// ToManage is the requirement of all that concerns keys, sessions, applications,
	// figures of use and accounts. It counts against no limit of a plan for people who
	// are signed in: they can always end what uses up their limit. It is not
	// counted as use.
	ToManage = access.Requirement{Account: true}
	// ToKeepWebhooks is the requirement of all that concerns webhooks, which stay when a
	// token ends.
	ToKeepWebhooks = access.Requirement{Scope: access.ReadReports, Lasting: true}
	// ToKeepWatchlists is the requirement of what changes watchlists, which stay when a
	// token ends.
	ToKeepWatchlists = access.Requirement{Scope: access.ReadReports, Lasting: true}
	// ToReadWatchlists is the requirement of what returns watchlists.
	ToReadWatchlists = access.Requirement{Scope: access.ReadReports}
	// ToKeepAlerts is the requirement of all that concerns alerts and channels, which stay
	// when a token ends.
	ToKeepAlerts = access.Requirement{Scope: access.ReadReports, Lasting: true}
	// ToReadDocument is the requirement of the text of a document. Its operation is that of
	// the API, so that reading with a session counts as the same use.
	ToReadDocument = access.Requirement{Scope: access.ReadReports, Operation: "getReportDocument"}
	// ToSearchDocuments is the requirement of a search in documents.
	ToSearchDocuments = access.Requirement{Scope: access.ReadReports, Operation: "searchDocuments"}
	// ToOpenStreams is the requirement of CreateStreamTicket, and of streams.
	ToOpenStreams = access.Requirement{Scope: access.ReadReports}
	// ToPreview is the requirement of Preview.
	ToPreview = access.Requirement{Scope: access.ReadReports}
	// ToSuggestNames is the requirement of the names of categories and markets, which are
	// in the analytics.
	ToSuggestNames = access.Requirement{Scope: access.ReadAnalytics, Public: true}
)
