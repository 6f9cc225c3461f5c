package query

// Attribution says where a record comes from. The regulator asks for a link to
// the source, for faithful reproduction, and that whoever pays for a service
// be told that the information itself is free.
type Attribution struct {
	Source string  `json:"source"`
	URL    *string `json:"url"`
	Notice string  `json:"notice"`
}

// Attribution says where all that is told comes from.
func (d *Service) Attribution() Attribution {
	if d.Source() == "demo" {
		return Attribution{
			Source: "Mercado simulado de Pregón",
			Notice: "Simulated market: companies, funds and reports are fictional. None of this was filed with any regulator.",
		}
	}
	return Attribution{
		Source: "Comisión Nacional del Mercado de Valores (CNMV)",
		URL:    OrNull("https://www.cnmv.es"),
		Notice: "Reproduced as filed. The information can be obtained free of charge at the web site of the CNMV.",
	}
}
