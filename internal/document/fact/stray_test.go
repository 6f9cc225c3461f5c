package fact

import "testing"

func TestStrayGaps(t *testing.T) {
	for line, want := range map[string]bool{
		"se comunica que a 31 de marzo de 2026 el número  de derechos es de  3.117.600.":   true,
		"la agencia ha rebajado la nota ,  con perspectiva negativa , de la Sociedad":      true,
		"El plazo terminó ayer.  La Sociedad pagará el dividendo en la fecha prevista":     true,
		"RESULTADO  DE  LA OFERTA DE ACCIONES":                                             true,
		"Capital social  24.601.336,50 euros":                                              false,
		"Número total de acciones en que se divide el capital social  3.117.600":           false,
		"NÚMERO DE ACCIONES  CAPITAL SOCIAL":                                               false,
		"el consejo ha acordado pagar un dividendo  the board has resolved to pay a":       false,
		"Fecha de pago de los importes que corresponden      a partir del día 5 de mayo":   false,
		"Forma de pago  en efectivo":                                                       false,
		"Serie A  1.200.000  0,35  420.000  pagado  total  1.620.000  euros  de  los  que": false,
	} {
		if got := hasStrayGaps(line); got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}

func TestSpelledNumbersAreReadWholeOrNot(t *testing.T) {
	for text, want := range map[string]int{
		"un importe de ciento cincuenta millones de euros":           0,
		"un capital de quince millones doscientos treinta mil euros": 0,
		"veinticinco millones quinientas mil acciones nuevas":        0,
		"3 millones quinientas mil acciones":                         0,
		"quince millones de euros":                                   1,
		"150.000.000 de euros y EUR 5.000.000 o bien 3.000.000 EUR":  3,
	} {
		r := readDocument(Document{Pages: []string{text}})
		if got := len(r.parts[0].values); got != want {
			t.Errorf("%q: got %d values", text, got)
		}
	}
}
