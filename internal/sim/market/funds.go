package market

import "pregon/internal/disclosure"

// Fund is an investment fund and those who look after it.
type Fund struct {
	disclosure.Issuer
	Manager    disclosure.Issuer
	Depositary disclosure.Issuer
}

// Funds returns the investment funds; securitisation funds are not among them.
func (m *Market) Funds() []Fund {
	var out []Fund
	for _, i := range m.issuers {
		if i.role == pool {
			out = append(out, Fund{Issuer: i.Issuer, Manager: i.manager.Issuer, Depositary: i.banker.Issuer})
		}
	}
	return out
}
