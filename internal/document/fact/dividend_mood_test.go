package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
)

// TestDividendsOfOthers has documents with the dividend of another company.
func TestDividendsOfOthers(t *testing.T) {
	checkSpoken(t, disclosure.Dividend, map[string]spoken{
		"body of a company with its legal form": {text: "La asamblea de accionistas de la sociedad brasileña Rio Pardo S.A. ha aprobado un dividendo de 0,87 euros brutos " +
			"por acción.\n\nEl pago se efectuará el 14 de mayo de 2026."},
		"competitor":         {text: "Nuestro competidor Helio Radio ha anunciado un dividendo de 0,40 euros brutos por acción para el 14 de mayo de 2026."},
		"name before a verb": {text: "Según la prensa, el dividendo que Helio Radio ha acordado es de 0,40 euros brutos por acción. Fecha de pago: 14 de mayo de 2026"},
		"name behind a label": {text: "Compañía: Naturgía Renovables, S.A.\n\nEl dividendo de 0,31 euros brutos por acción que la compañía abonará el 14 de mayo de 2026 es " +
			"atractivo."},
		"agent of payments": {
			text: "El dividendo de 0,25 euros brutos por acción se abonará el 14 de mayo de 2026 a los accionistas a través de Banco Ribagorza, S.A.",
			want: []map[string]string{paid("0.25")},
		},
	})
}

// TestDividendMoods has documents that ask, deny, plan or condition a dividend.
func TestDividendMoods(t *testing.T) {
	checkSpoken(t, disclosure.Dividend, map[string]spoken{
		"question": {text: "¿Pueden confirmar que el dividendo será de 0,15 euros brutos por acción y que se pagará el 14 de mayo de 2026?"},
		"rumour": {text: "Según las informaciones publicadas, la Sociedad habría acordado un dividendo de 0,80 euros brutos por acción el 14 de mayo de 2026.\n\nLa " +
			"Sociedad desmiente que exista acuerdo."},
		"leave asked of someone": {text: "El Banco ha solicitado al supervisor autorización para abonar, el 14 de mayo de 2026, un dividendo de 0,07 euros brutos por acción."},
		"condition in a sentence of its own": {text: "El Consejo ha acordado un dividendo de 1,25 euros brutos por acción, pagadero el 14 de mayo de 2026.\n\nLa efectividad del acuerdo queda " +
			"supeditada a la venta."},
		"below a proposal for the profit": {text: "El Consejo ha acordado proponer a la Junta General la siguiente aplicación del resultado:\n\nA dividendos: 10.800.000 euros (0,27 " +
			"euros brutos por acción)\n\nFecha de pago: 14 de mayo de 2026"},
		"paid by the company": {text: "El tipo de canje tiene en cuenta el dividendo de 0,22 euros brutos por acción abonado por la Sociedad el 14 de abril de 2026."},
		"plan":                {title: "Plan estratégico", text: "Dividendo de 0,40 euros brutos por acción, pagadero el 14 de mayo de 2026."},
		"floor":               {text: "El Consejo ha acordado un dividendo mínimo de 0,40 euros brutos por acción, pagadero el 14 de mayo de 2026."},
	})
}

// TestDividendAmounts has documents with parts of an amount, and amounts beside it.
func TestDividendAmounts(t *testing.T) {
	paidWith := func(amount string) []map[string]string { return []map[string]string{paid(amount)} }
	checkSpoken(t, disclosure.Dividend, map[string]spoken{
		"amount in words": {
			text: "Se acuerda un dividendo por importe bruto de DOS EUROS Y DIEZ CÉNTIMOS (2,10 €) por acción, pagadero el 14 de mayo de 2026.",
			want: paidWith("2.1"),
		},
		"balance": {
			text: "The General Meeting approved a dividend of €1.84 per share. An interim dividend of €0.60 per share having been paid in December, the balance of €1.24 " +
				"per share will be paid on 14 May 2026.",
			want: paidWith("1.24"),
		},
		"share of a total": {
			text: "El Consejo acordó un dividendo por importe total de 1.812.600,00 euros, lo que equivale a 0,1510 euros por acción. Fecha de pago: 14 de mayo de 2026",
			want: paidWith("0.151"),
		},
		"added to an earlier one": {
			text: "La Junta acordó un dividendo de 0,18 euros brutos por acción que se hará efectivo el 14 de mayo de 2026 y que se añade al dividendo a cuenta de 0,12 " +
				"euros que ya fue satisfecho el 18 de diciembre de 2025.",
			want: paidWith("0.18"),
		},
		"right to a payment": {
			text: "Se abonará un dividendo de 0,19 euros brutos por acción el 14 de mayo de 2026. La acción dejará de cotizar con derecho al cobro el 12 de mayo.",
			want: []map[string]string{{"gross_per_share": "0.19", "currency": "EUR", "payment_date": "2026-05-14", "ex_date": "2026-05-12"}},
		},
		"classes in lines": {
			text: "La Junta aprobó un dividendo:\n\n- Acciones de la clase A: 0,41 euros brutos por acción.\n\n- Acciones de la clase B: 0,45 euros brutos por acción.\n\nEl abono " +
				"se efectuará el 14 de mayo de 2026.",
			want: []map[string]string{paid("0.41"), paid("0.45")},
		},
	})
}
