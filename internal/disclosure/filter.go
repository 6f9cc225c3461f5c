package disclosure

// Filter is what a reader asks for, as plain data: the same one serves lists,
// streams, webhooks and agents, and means the same in all of them. The zero
// value asks for everything.
type Filter struct {
	Search   string // free text: see package search
	Type     Type
	Issuer   string // any identifier of an issuer, as IssuerKey leaves it
	From, To Day    // Madrid days, inclusive; zero is open
	Category string // one of the regulator's categories
	Kind     Kind   // of the issuer
}
