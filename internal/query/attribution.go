package query

// Attribution names the source of a record. The regulator requires a link to
// the source, faithful reproduction, and a notice that the information itself
// is free.
type Attribution struct {
	Source string  `json:"source"`
	URL    *string `json:"url"`
	Notice string  `json:"notice"`
}

// Simulated reports whether the store holds the simulated market.
func (q *Service) Simulated() bool { return q.Source() == "demo" }

// Attribution returns the source of all records of this service.
func (q *Service) Attribution() Attribution {
	if q.Simulated() {
		return Attribution{
			Source: "Mercado simulado de Pregón",
			Notice: "Simulated market: companies, funds and reports are fictional. None of this was filed " +
				"with any regulator.",
		}
	}
	return Attribution{
		Source: "Comisión Nacional del Mercado de Valores (CNMV)",
		URL:    OrNull("https://www.cnmv.es"),
		Notice: "Reproduced as filed. The information can be obtained free of charge at the web site of the CNMV.",
	}
}
