package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestCapital(t *testing.T) {
	testFacts(t, disclosure.Capital, []factTest{
		{
			"registered",
			"Molinos del Ebro, S.A. (la «Sociedad») comunica que, con fecha 8 de junio de 2026, ha quedado inscrita en " +
				"el Registro Mercantil de Zaragoza la " +
				"escritura pública de aumento de capital social por importe nominal de 1.250.000 euros, mediante la emisión " +
				"y puesta en circulación de 2.500.000 " +
				"acciones nuevas, de 0,50 euros de valor nominal cada una y de la misma clase y serie que las existentes. " +
				"Tras el aumento, el capital social de la " +
				"Sociedad ha quedado fijado en 26.250.000 euros, dividido en 52.500.000 acciones de 0,50 euros de valor " +
				"nominal cada una.",
			[]string{"action=increase; amount=1250000; capital_after=26250000; currency=EUR; new_shares=2500000"},
		},
		{
			"accelerated placement",
			"Se ha fijado el precio de emisión de las acciones nuevas en 4,20 euros por acción (de los que 0,50 euros " +
				"corresponden al valor nominal y 3,70 euros a " +
				"la prima de emisión). En consecuencia, el importe nominal del aumento de capital asciende a 1.250.000 " +
				"euros y el importe efectivo total a 10.500.000 euros, " +
				"y se emitirán 2.500.000 nuevas acciones.",
			[]string{"action=increase; amount=1250000; currency=EUR; new_shares=2500000; price=4.2"},
		},
		{
			"reduction",
			"El Consejo de Administración ha acordado ejecutar la reducción de capital aprobada por la Junta General, " +
				"por un importe nominal de 600.000 euros, " +
				"mediante la amortización de 1.200.000 acciones propias. El capital social resultante queda fijado en " +
				"24.400.000 euros, dividido en 48.800.000 acciones.",
			[]string{"action=reduction; amount=600000; capital_after=24400000; currency=EUR"},
		},
		{
			"a delegation",
			"La Junta General ha delegado en el Consejo la facultad de aumentar el capital social en un importe nominal " +
				"de hasta 12.500.000 euros.", nil,
		},
		{
			"a proposal",
			"El Consejo ha acordado proponer a la Junta General un aumento de capital por importe nominal de 1.250.000 " +
				"euros con emisión de 2.500.000 acciones nuevas.", nil,
		},
		{
			"an agenda",
			"Se convoca la Junta General con el siguiente orden del día:\n\nQuinto.- Reducción de capital por importe " +
				"nominal de 600.000 euros.", nil,
		},
		{"a possibility", "La Sociedad estudia un aumento de capital por un importe nominal de 1.250.000 euros.", nil},
		{"may consider", "The Company may consider a capital increase of a nominal amount of EUR 1,250,000 through " +
			"the issue of 2,500,000 new shares.", nil},
		{
			"a maximum",
			"El Consejo ha acordado un aumento de capital por un importe nominal máximo de 1.250.000 euros, mediante la " +
				"emisión de un máximo de 2.500.000 acciones nuevas.", nil,
		},
		{
			"last year",
			"La Sociedad ha aumentado su capital social en 1.250.000 euros mediante la emisión de 2.500.000 acciones " +
				"nuevas. El año anterior emitió 900.000 acciones " +
				"nuevas por un importe nominal de 450.000 euros.",
			[]string{"action=increase; amount=1250000; currency=EUR; new_shares=2500000"},
		},
		{
			"a subsidiary",
			"La filial Aguas del Ebro, S.L. ha aumentado su capital social en 1.250.000 euros mediante la emisión de " +
				"2.500.000 participaciones.", nil,
		},
		{
			"a correction",
			"En relación con el aumento de capital, donde dice «emisión de 2.500.000 acciones nuevas» debe decir " +
				"«emisión de 2.400.000 acciones nuevas».",
			[]string{"action=increase; new_shares=2400000"},
		},
		{
			"values that differ",
			"Se ha ejecutado el aumento de capital por un importe nominal de 1.250.000 euros, con emisión de 2.500.000 " +
				"acciones nuevas.\n\nEl importe nominal del aumento es de 1.240.000 euros.",
			[]string{"action=increase; new_shares=2500000"},
		},
		{
			"thousands",
			"Aumento de capital\n\nCifras en miles de euros\n\nConcepto\tAntes\tAumento\tDespués\nCapital " +
				"social\t25.000\t1.250\t26.250",
			[]string{"action=increase; amount=1250000; capital_after=26250000; currency=EUR"},
		},
		{
			"a form",
			"Operación:\tReducción de capital\nImporte nominal de la reducción:\t600.000 €\nCapital social " +
				"antes:\t25.000.000 €\nCapital social después:\t24.400.000 €",
			[]string{"action=reduction; amount=600000; capital_after=24400000; currency=EUR"},
		},
		{
			"a reduction and an increase",
			"Se ha acordado una reducción de capital por importe nominal de 600.000 euros y un aumento de capital " +
				"simultáneo por importe nominal de 900.000 euros.", nil,
		},
		{
			"English",
			"The Board of Directors resolved to carry out a share capital increase for a nominal amount of €1,250,000 by " +
				"issuing 2,500,000 new ordinary shares at an " +
				"issue price of €4.20 per share. The closing price was €4.60 per share. Following the capital increase, the " +
				"share capital amounts to €26,250,000.",
			[]string{"action=increase; amount=1250000; capital_after=26250000; currency=EUR; new_shares=2500000; price=4.2"},
		},
		{
			"English reduction",
			"The reduction of the share capital by EUR 600,000 through the cancellation of 1,200,000 treasury shares has " +
				"been registered. The resulting share capital is EUR 24,400,000.",
			[]string{"action=reduction; amount=600000; capital_after=24400000; currency=EUR"},
		},
		{
			"Catalan",
			"S'ha inscrit l'augment de capital per un import nominal de 1.250.000 euros, amb l'emissió de 2.500.000 " +
				"accions noves.",
			[]string{"action=increase; amount=1250000; currency=EUR; new_shares=2500000"},
		},
		{
			"conversion",
			"Como consecuencia de la conversión de obligaciones, se ha ejecutado un aumento de capital de 125.000 euros " +
				"de valor nominal, mediante la emisión de 250.000 acciones.",
			[]string{"action=increase; amount=125000; currency=EUR; new_shares=250000"},
		},
		{"capital without a change", "El capital social de la Sociedad asciende a 25.000.000 euros, dividido en " +
			"50.000.000 acciones.", nil},
		{
			"buy-back for a reduction",
			"El programa de recompra tiene por objeto la reducción de capital mediante la amortización de acciones " +
				"propias; su importe máximo es de 5.000.000 euros.", nil,
		},
		{
			"bonds",
			"El Consejo ha acordado la emisión de bonos convertibles por un importe nominal de 50.000.000 euros y un " +
				"aumento de capital para atender su conversión.", nil,
		},
		{
			"nominal and premium",
			"Se ha ejecutado el aumento de capital por importe efectivo de 10.500.000 euros (1.250.000 euros de nominal " +
				"y 9.250.000 euros de prima de emisión), " +
				"representado por 2.500.000 nuevas acciones, emitidas a un tipo de 4,20 euros por acción.",
			[]string{"action=increase; amount=1250000; currency=EUR; new_shares=2500000; price=4.2"},
		},
		{
			"the price of a share and its parts",
			"En el aumento de capital se han suscrito 2.500.000 acciones nuevas a un precio de 4,20 euros (0,50 euros de " +
				"nominal más 3,70 euros de prima).",
			[]string{"action=increase; currency=EUR; new_shares=2500000; price=4.2"},
		},
		{"what is paid", "Molinos del Ebro, S.A. ha ampliado capital en 10 millones de euros.", nil},
		{
			"voting rights",
			"A 31 de mayo de 2026, tras el aumento de capital inscrito el 3 de mayo, el capital social asciende a 26.250.000 " +
				"euros, representado por 52.500.000 acciones.", nil,
		},
		{
			"a scanned form in one line",
			"Terms of the transaction\n\nTransaction .... Rights issue New shares .... 2,500,000 Nominal amount .... EUR " +
				"1,250,000.00 Issue price per share .... EUR 14.943 Share capital before .... EUR 25,000,000.00 Share capital " +
				"after .... EUR 26,250,000.00",
			[]string{"action=increase; amount=1250000; capital_after=26250000; currency=EUR; new_shares=2500000; price=14.943"},
		},
		{
			"a form in thousands",
			"Reducción de capital\n\n(Miles de euros)\tImporte\nCapital social antes de la reducción\t42.000\nImporte " +
				"nominal de la reducción\t(1.050)\nCapital social después de la reducción\t40.950\nAcciones amortizadas " +
				"(número)\t525.000",
			[]string{"action=reduction; amount=1050000; capital_after=40950000; currency=EUR"},
		},
		{
			"a ratio",
			"Terms of the capital increase:\n\nNew shares: 12,000,000 ordinary shares.\n\nRatio: 2 new shares for " +
				"every 5 existing shares.\n\nNominal amount: EUR 1,200,000.",
			[]string{"action=increase; amount=1200000; currency=EUR; new_shares=12000000"},
		},
		{
			"the final number of a scrip issue",
			"El número definitivo de acciones a emitir es de 2.345.678, siendo el importe nominal del aumento de " +
				"234.567,80 euros.",
			[]string{"action=increase; amount=234567.8; currency=EUR; new_shares=2345678"},
		},
		{
			"a spelled amount",
			"La Sociedad ha aumentado su capital social en un importe nominal de ciento cincuenta millones de " +
				"euros.",
			nil,
		},
	})
}
