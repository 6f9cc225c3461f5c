package fact

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestTakeover(t *testing.T) {
	testFacts(t, disclosure.Takeover, []factTest{
		{
			"prior announcement",
			"ANUNCIO PREVIO DE LA SOLICITUD DE OFERTA PÚBLICA VOLUNTARIA DE ADQUISICIÓN DE ACCIONES\n\n" +
				"El presente anuncio previo se hace público en virtud de lo previsto en el Real Decreto 1066/2007, sobre el " +
				"régimen de las ofertas públicas, y " +
				"contiene las principales características de la oferta, que está sujeta a la preceptiva autorización de la " +
				"CNMV.\n\n" +
				"La sociedad oferente es Soto Capital Bidco, S.L.U. (el «Oferente»). La sociedad afectada es Molinos del " +
				"Ebro, S.A. (la «Sociedad Afectada»).\n\n" +
				"El Oferente ha decidido formular una oferta pública voluntaria de adquisición sobre la totalidad de las " +
				"acciones de Molinos del Ebro, S.A.\n\n" +
				"La contraprestación ofrecida es de 12,50 euros por acción, en efectivo.\n\nEl precio medio ponderado del " +
				"semestre anterior fue de 10,20 euros por acción.",
			[]string{"action=announced; bidder=Soto Capital Bidco, S.L.U.; currency=EUR; price=12.5; target=Molinos del " +
				"Ebro, S.A."},
		},
		{
			"authorised",
			"La Comisión Nacional del Mercado de Valores ha autorizado la oferta pública de adquisición voluntaria sobre " +
				"Molinos del Ebro, S.A. presentada " +
				"por Soto Capital, S.L. el 3 de marzo de 2026, al entender ajustados sus términos a las normas vigentes. El " +
				"precio de la oferta es de 12,50 " +
				"euros por acción.",
			[]string{"action=authorised; bidder=Soto Capital, S.L.; currency=EUR; price=12.5; target=Molinos del Ebro, S.A."},
		},
		{
			"result",
			"La oferta pública de adquisición formulada por Soto Capital, S.L. sobre las acciones de Molinos del Ebro, " +
				"S.A., autorizada por la CNMV el 20 de " +
				"abril de 2026, ha sido aceptada por 8.123.456 acciones, que representan el 81,23 % de las acciones a las " +
				"que se dirigió la oferta y el 64,10 % " +
				"del capital social de la Sociedad. La condición de aceptación mínima era del 50 %.",
			[]string{"acceptance=81.23; action=result; bidder=Soto Capital, S.L.; target=Molinos del Ebro, S.A."},
		},
		{
			"two percentages that cannot be told apart",
			"La oferta pública de adquisición de Soto Capital, S.L. sobre Molinos del Ebro, S.A. ha sido aceptada por el " +
				"81,23 % de los minoritarios, es " +
				"decir, el 64,10 % del capital.",
			[]string{"action=result; bidder=Soto Capital, S.L.; target=Molinos del Ebro, S.A."},
		},
		{
			"withdrawal",
			"Soto Capital, S.L. comunica que ha decidido desistir de la oferta pública de adquisición sobre Molinos del " +
				"Ebro, S.A.",
			[]string{"action=withdrawn; bidder=Soto Capital, S.L.; target=Molinos del Ebro, S.A."},
		},
		{
			"a right to withdraw",
			"Soto Capital, S.L. ha decidido formular una oferta pública de adquisición sobre Molinos del Ebro, S.A. El " +
				"oferente podrá desistir de la oferta si no " +
				"se cumplen las condiciones. El precio podría mejorarse hasta 14 euros por acción.",
			[]string{"action=announced; bidder=Soto Capital, S.L.; target=Molinos del Ebro, S.A."},
		},
		{"a denial", "En relación con las noticias de prensa, la Sociedad no ha recibido ninguna oferta pública de " +
			"adquisición de Soto Capital, S.L.", nil},
		{"a rumour", "Soto Capital, S.L. podría lanzar una opa sobre Molinos del Ebro, S.A. a 12 euros por acción, " +
			"según la prensa.", nil},
		{"an older bid", "En 2019 Soto Capital, S.L. lanzó una opa sobre Molinos del Ebro, S.A. que fue retirada.", nil},
		{
			"English",
			"Soto Capital Ltd today announces a voluntary tender offer for all the shares of Molinos del Ebro, S.A. at a " +
				"price of €12.50 per share in cash. " +
				"The closing price on the previous day was €10.00 per share.",
			[]string{"action=announced; bidder=Soto Capital Ltd; currency=EUR; price=12.5; target=Molinos del Ebro, S.A."},
		},
		{
			"English result",
			"The takeover bid launched by Soto Capital Ltd for Molinos del Ebro, S.A. has been accepted by holders of " +
				"71.5 % of the shares to which the bid was addressed.",
			[]string{"acceptance=71.5; action=result; bidder=Soto Capital Ltd; target=Molinos del Ebro, S.A."},
		},
		{"may consider", "Soto Capital Ltd may consider a takeover bid for Molinos del Ebro, S.A. at 12 euros per " +
			"share.", nil},
		{
			"Catalan",
			"Soto Capital, S.L. anuncia la decisió de formular una oferta pública d'adquisició sobre totes les accions " +
				"de Molinos del Ebro, S.A., a un preu de " +
				"12,50 euros per acció.",
			[]string{"action=announced; bidder=Soto Capital, S.L.; currency=EUR; price=12.5; target=Molinos del Ebro, S.A."},
		},
		{
			"a form",
			"Oferta pública de adquisición\n\nTipo de comunicación:\tAutorización de la oferta\nOferente:\tSoto Capital, " +
				"S.L.\nSociedad afectada:\tMolinos del Ebro, S.A.\n" +
				"Precio de la oferta (€):\t12,50\nPrecio medio ponderado (€):\t10,20",
			[]string{"action=authorised; bidder=Soto Capital, S.L.; currency=EUR; price=12.5; target=Molinos del Ebro, S.A."},
		},
		{
			"a better price",
			"Soto Capital, S.L. ha decidido formular una oferta pública de adquisición sobre Molinos del Ebro, S.A. a un " +
				"precio de 12,50 euros por acción. " +
				"Posteriormente, la contraprestación es de 13 euros por acción.",
			[]string{"action=announced; bidder=Soto Capital, S.L.; target=Molinos del Ebro, S.A."},
		},
		{
			"a correction",
			"Soto Capital, S.L. ha anunciado una opa sobre Molinos del Ebro, S.A. En el anuncio, donde dice «el precio " +
				"de la oferta es de 12,50 euros por acción» debe " +
				"decir «el precio de la oferta es de 12,05 euros por acción».",
			[]string{"action=announced; bidder=Soto Capital, S.L.; currency=EUR; price=12.05; target=Molinos del Ebro, S.A."},
		},
		{
			"press release",
			"Soto Capital lanza una opa sobre Molinos del Ebro\n\nSoto Capital, S.L. lanza una opa por el 100 % de " +
				"Molinos del Ebro, S.A. a 12,50 euros por título.",
			[]string{"action=announced; bidder=Soto Capital, S.L.; currency=EUR; price=12.5; target=Molinos del Ebro, S.A."},
		},
		{"no bid", "La Sociedad ha presentado una oferta para la compra de un edificio a Soto Capital, S.L. por 12 " +
			"millones de euros.", nil},
		{
			"a report of the board",
			"El Consejo de Administración ha aprobado el informe sobre la oferta pública de adquisición de acciones de " +
				"Molinos del Ebro, S.A. formulada por Soto " +
				"Capital, S.L.", nil,
		},
		{
			"a bank that guarantees",
			"Lumbre Bidco, S.L. ha formulado una oferta pública de adquisición sobre Molinos del Ebro, S.A. El precio de la " +
				"oferta es de 7,12 euros por acción, cuyo pago garantiza Banco Soto, S.A.",
			[]string{"action=announced; bidder=Lumbre Bidco, S.L.; currency=EUR; price=7.12; target=Molinos del Ebro, S.A."},
		},
		{
			"the owner of the bidder",
			"Lumbre Bidco, S.L., sociedad participada por Lumbre Partners, S.A., ha decidido formular una oferta pública de " +
				"adquisición sobre las acciones de Molinos del Ebro, S.A.",
			[]string{"action=announced; bidder=Lumbre Bidco, S.L.; target=Molinos del Ebro, S.A."},
		},
		{
			"told by the target",
			"Molinos del Ebro, S.A. comunica que Lumbre Bidco, S.L. ha decidido formular una oferta pública de adquisición " +
				"sobre la totalidad de sus acciones.",
			[]string{"action=announced; bidder=Lumbre Bidco, S.L.; target=Molinos del Ebro, S.A."},
		},
		{"received", "Molinos del Ebro, S.A. comunica que ha recibido una oferta pública de adquisición de Lumbre Bidco, S.L.", nil},
		{
			"no obligation",
			"Molinos del Ebro, S.A. compra el 60 % de Lumbre Textil, S.L. La operación no obliga a formular una oferta " +
				"pública de adquisición.", nil,
		},
		{
			"capitals in the heading",
			"ANUNCIO PREVIO DE LA OFERTA PÚBLICA VOLUNTARIA DE ADQUISICIÓN DE ACCIONES DE MOLINOS DEL EBRO, S.A. FORMULADA POR " +
				"LUMBRE HOLDCO, S.À R.L.\n\nEl oferente es Lumbre Holdco, S.à r.l. (el \"Oferente\"). El Oferente hace pública " +
				"su decisión de presentar una oferta sobre las acciones de Molinos del Ebro, S.A.",
			[]string{"action=announced; bidder=Lumbre Holdco, S.à r.l.; target=Molinos del Ebro, S.A."},
		},
		{
			"the company as the target",
			"Molinos del Ebro, S.A. (la «Sociedad») comunica que la CNMV ha autorizado la oferta pública de adquisición sobre las " +
				"acciones de la Sociedad formulada por Lumbre Bidco, S.L.",
			[]string{"action=authorised; bidder=Lumbre Bidco, S.L.; target=Molinos del Ebro, S.A."},
		},
		{
			"the company as the bidder",
			"Molinos del Ebro, S.A. (la «Sociedad») comunica lo siguiente:\n\nLa Sociedad ha decidido formular una oferta " +
				"pública de adquisición sobre la totalidad de las acciones de Lumbre Textil, S.A., a 3 euros por acción.",
			[]string{"action=announced; bidder=Molinos del Ebro, S.A.; currency=EUR; price=3; target=Lumbre Textil, S.A."},
		},
		{
			"the company that is another",
			"Lumbre Bidco, S.L. ha decidido formular una oferta pública de adquisición sobre Lumbre Textil, S.A. (la «Sociedad»). " +
				"La oferta se dirige a todas las acciones de la Sociedad.",
			[]string{"action=announced; bidder=Lumbre Bidco, S.L.; target=Lumbre Textil, S.A."},
		},
		{
			"the extension of a period",
			"La CNMV ha autorizado la ampliación del plazo de aceptación de la oferta pública de adquisición " +
				"formulada por Soto Capital, S.L. sobre Molinos del Ebro, S.A.",
			nil,
		},
		{
			"an application that is admitted",
			"La CNMV ha admitido a trámite la solicitud de autorización presentada por Soto Capital, S.L. para " +
				"la formulación de una oferta pública de adquisición de acciones de Molinos del Ebro, S.A.",
			nil,
		},
		{
			"another authority",
			"La CNMC ha autorizado la concentración que resulta de la oferta pública de adquisición formulada " +
				"por Soto Capital, S.L. sobre Molinos del Ebro, S.A.",
			nil,
		},
		{
			"an announcement that tells what comes later",
			"Soto Capital, S.L. anuncia su decisión de formular una oferta pública voluntaria de adquisición " +
				"sobre las acciones de Molinos del Ebro, S.A. a un precio de 5,60 euros por acción.\n\nAccionistas " +
				"titulares del 31 % se han comprometido irrevocablemente a aceptar la oferta.\n\nLa liquidación de la " +
				"oferta se efectuará en el plazo previsto. La autorización de la oferta corresponde a la CNMV.",
			[]string{"action=announced; bidder=Soto Capital, S.L.; currency=EUR; price=5.6; target=Molinos del Ebro, S.A."},
		},
		{
			"an offer for bonds",
			"Molinos del Ebro, S.A. anuncia una oferta de recompra de sus bonos (tender offer).",
			nil,
		},
		{
			"authorised today",
			"The CNMV has today authorised the takeover bid launched by Soto Capital, S.L. for 100% of Molinos " +
				"del Ebro, S.A. at EUR 5.60 per share.",
			[]string{"action=authorised; bidder=Soto Capital, S.L.; currency=EUR; price=5.6; target=Molinos del Ebro, S.A."},
		},
	})
}
