package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestCapitalTraps has limits, purposes and shares that are not those of the change, and
// changes that do not take place.
func TestCapitalTraps(t *testing.T) {
	const published = "2026-05-12"
	const title = "Aumento de capital"
	checkFacts(t, disclosure.Capital, []statedFacts{
		{
			name:      "called off",
			title:     title,
			published: published,
			text: "El aumento de capital de 500.000 euros de importe nominal, mediante la emisión de 1.000.000 de acciones nuevas, " +
				"ha quedado sin efecto.",
		},
		{
			name:      "a power that ends",
			title:     "Acuerdos de la Junta",
			published: published,
			text: "La Junta ha acordado reducir el capital social en 500.000 euros mediante la amortización de acciones propias. " +
				"Asimismo, dejó sin efecto la autorización para aumentar el capital concedida en 2024.",
			want: []string{"action=reduction; amount=500000; currency=EUR"},
		},
		{
			name:      "another company without its legal form",
			title:     title,
			published: published,
			text: "Hilaturas del Norte, S.A. participa en el aumento de capital de Zeta Biotech, con 50.000 acciones nuevas por un " +
				"importe nominal de 5.000 euros.",
		},
		{
			name:      "below a maximum",
			title:     "Capital increase",
			published: published,
			text: "The share capital is increased by a nominal amount of EUR 375,000 through the issue of 7,500,000 new shares, " +
				"below the maximum of 9,000,000 shares authorised, at an issue price of EUR 3.20 per share.\n\nFollowing the " +
				"increase the share capital amounts to EUR 2,125,000.",
			want: []string{"action=increase; new_shares=7500000; amount=375000; price=3.2; capital_after=2125000; currency=EUR"},
		},
		{
			name:      "from one capital to another, with a purpose",
			title:     "Reducción de capital",
			published: published,
			text: "La Junta ha acordado reducir el capital social en 27.360.000 euros, esto es, desde 34.200.000 euros hasta " +
				"6.840.000 euros, con la finalidad de restablecer el equilibrio del patrimonio.",
			want: []string{"action=reduction; amount=27360000; capital_after=6840000; currency=EUR"},
		},
		{
			name:      "a reduction as the purpose",
			title:     "Recompra",
			published: published,
			text: "La Sociedad inicia un programa con la finalidad de reducir el capital social por importe nominal de 500.000 " +
				"euros.",
		},
		{
			name:      "what some shareholders took, and a price agreed before",
			title:     title,
			published: published,
			text: "La Sociedad ha cerrado el aumento de capital por importe nominal de 500.000 euros. Los directivos suscribieron " +
				"50.000 acciones nuevas. El Consejo había acordado un precio de emisión de 3,50 euros por acción.",
			want: []string{"action=increase; amount=500000; currency=EUR"},
		},
		{
			name:      "thousands of shares",
			title:     title,
			published: published,
			text: "\tAntes\tAmpliación\tDespués\nCapital social (miles de euros)\t5.000\t500\t5.500\n" +
				"Acciones (miles)\t10.000\t1.000\t11.000",
			want: []string{"action=increase; new_shares=1000000; amount=500000; capital_after=5500000; currency=EUR"},
		},
		{
			name:      "the nominal value in the clause before the price",
			title:     title,
			published: published,
			text: "Se ha suscrito el aumento de capital por un importe nominal de 8.000.000 euros, mediante la emisión de " +
				"40.000.000 de acciones nuevas de 0,20 euros de nominal, al precio de 0,60 euros por acción.",
			want: []string{"action=increase; new_shares=40000000; amount=8000000; price=0.6; currency=EUR"},
		},
		{
			name:      "a reduction of the capital of the company",
			title:     "Reducción de capital",
			published: published,
			text:      "Se ha inscrito la reducción del capital social de Hilaturas del Norte, S.A. en 500.000 euros.",
			want:      []string{"action=reduction; amount=500000; currency=EUR"},
		},
		{
			name:      "a corrected number of new shares",
			title:     "Corrección del número de acciones nuevas",
			published: published,
			text: "En la comunicación relativa al aumento de capital de la Sociedad hay una errata. Donde dice " +
				"«1.293.810 acciones nuevas» debe decir «2.534.244 acciones nuevas».",
			want: []string{"action=increase; new_shares=2534244"},
		},
		{
			name:      "figures in words",
			title:     "Aumento de capital",
			published: published,
			text: "Se ha inscrito el aumento de capital por un importe nominal de DOSCIENTOS MIL EUROS CON " +
				"CINCUENTA CÉNTIMOS (200.000,50 €), mediante la emisión de cuatrocientas mil una (400.001) " +
				"acciones ordinarias, al precio de tres euros (3,00 €) por acción.",
			want: []string{"action=increase; new_shares=400001; amount=200000.5; price=3; currency=EUR"},
		},
		{
			name:      "words and a figure that differ",
			title:     "Aumento de capital",
			published: published,
			text: "Se ha inscrito el aumento de capital por un importe nominal de trescientos mil euros (200.000 " +
				"€), mediante la emisión de 400.000 acciones nuevas.",
			want: []string{"action=increase; new_shares=400000"},
		},
		{
			name:      "the amount of a reduction behind other words",
			title:     "Reducción de capital",
			published: published,
			text: "El Consejo ha ejecutado la reducción de capital aprobada por la Junta General de 28 de abril de " +
				"2026, en la cifra de 620.000 euros.",
			want: []string{"action=reduction; amount=620000; currency=EUR"},
		},
		{
			name:      "what the cancelled shares cost",
			title:     "Reducción de capital",
			published: published,
			text: "El Consejo ha ejecutado la reducción de capital mediante la amortización de acciones propias " +
				"adquiridas por importe de 620.000 euros.",
		},
		{
			name:      "a reduction in May",
			title:     "Capital reduction",
			published: published,
			text: "The Company has executed the capital reduction approved by the meeting of 8 May 2026 in the " +
				"amount of EUR 620,000. The share capital is now EUR 30,380,000.",
			want: []string{"action=reduction; amount=620000; capital_after=30380000; currency=EUR"},
		},
		{
			name:      "a change that only the title names",
			title:     title,
			published: published,
			text: "Importe nominal: 2.000.000 €\nAcciones emitidas: 4.000.000\nPrecio de emisión: 2,00 €\n" +
				"Importe efectivo: 8.000.000 €\nCapital social resultante: 22.000.000 €",
			want: []string{
				"action=increase; new_shares=4000000; amount=2000000; price=2; capital_after=22000000; currency=EUR",
			},
		},
		{
			name:      "an amount that is the product of the shares and their nominal value",
			title:     title,
			published: published,
			text: "Se ha inscrito el aumento de capital social por importe de 2.000.000 euros, habiéndose emitido 4.000.000 " +
				"acciones de 0,50 euros de valor nominal cada una.",
			want: []string{"action=increase; new_shares=4000000; amount=2000000; currency=EUR"},
		},
		{
			name:      "an amount that is not the product",
			title:     title,
			published: published,
			text: "Se ha inscrito el aumento de capital social por importe de 8.000.000 euros, habiéndose emitido 4.000.000 " +
				"acciones de 0,50 euros de valor nominal cada una.",
			want: []string{"action=increase; new_shares=4000000"},
		},
		{
			name:      "an execution of an earlier month",
			title:     title,
			published: published,
			text: "El Consejo acordó ayer ejecutar el aumento de capital en un importe nominal de 2.000.000 euros. En la primera " +
				"ejecución, realizada en febrero, se emitieron 1.000.000 de acciones nuevas a 1,80 euros.",
			want: []string{"action=increase; amount=2000000; currency=EUR"},
		},
		{
			name:      "the capital after a conversion",
			title:     title,
			published: published,
			text: "Se ha aumentado el capital social en 250.000 euros. Tras la conversión, el capital social asciende a " +
				"20.250.000 euros.",
			want: []string{"action=increase; amount=250000; capital_after=20250000; currency=EUR"},
		},
		{
			name:      "a row of amounts without a label",
			title:     title,
			published: published,
			text:      "Capital social antes\tAumento\tCapital social después\n20.000.000 €\t2.000.000 €\t22.000.000 €",
			want:      []string{"action=increase; amount=2000000; capital_after=22000000; currency=EUR"},
		},
		{
			name:      "the nominal value of a share in a form",
			title:     title,
			published: published,
			text:      "Acciones nuevas: 4.000.000\nNominal: 0,50 €\nPrecio de emisión: 2,00 €",
			want:      []string{"action=increase; new_shares=4000000; price=2; currency=EUR"},
		},
	})
}
