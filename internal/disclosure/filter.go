package disclosure

// Filter selects reports. Lists, streams, webhooks and agents use the same filters
// with the same meaning. The zero value selects everything.
type Filter struct {
	Search   string // free text: see package search
	Type     Type
	Issuer   string // any identifier of an issuer, as IssuerKey leaves it
	From, To Day    // Madrid days, inclusive; zero is open
	Category string // one of the regulator's categories
	Kind     Kind   // of the issuer
	Market   string // of the issuer in the directory, in any spelling
	// NoSecuritisation excludes the reports of securitisation funds: see
	// IsSecuritisationFund. Their routine is a large part of all reports.
	NoSecuritisation bool
	// InDocument searches the text of the document instead of the fields of the
	// report. Streams, webhooks and subscriptions have it; lists find the reports in
	// the store first.
	InDocument bool
}
