package fact

import (
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
)

// TestNotBeside has pages whose columns are no paragraphs in two languages.
func TestNotBeside(t *testing.T) {
	for name, page := range map[string]string{
		"table": "Oferente       Bidder\nAfectada       Target\nPrecio         Price\n",
		"labels": "Fecha de efectos: hoy       Effective date: today\n" +
			"Hora de los efectos: 9      Effective hour: 9\n" +
			"Motivo de la medida: otro   Reason of it: other\n",
		"one language": "La CNMV ha autorizado la oferta      formulada por Beta Motores, S.A. sobre\n" +
			"todas las acciones de la Sociedad    que se dirige a sus accionistas en\n" +
			"las Bolsas de Valores de Madrid      y de Barcelona en el día de hoy\n",
	} {
		if got := paragraphsBeside(page); len(got) > 0 {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestQuoteOfColumn: the quote of words in a column ends with their line, as in the document.
func TestQuoteOfColumn(t *testing.T) {
	page := "La CNMV ha autorizado hoy la oferta         The CNMV has today authorised the offer\n" +
		"pública de adquisición formulada por        launched by Beta Motores, S.A. for the\n" +
		"Beta Motores, S.A. sobre las acciones de    shares of Cierzo Telecom, S.A. at a\n" +
		"Cierzo Telecom, S.A. a 4,10 euros por       price of EUR 4.10 for each of the\n" +
		"acción, en efectivo.                        shares, in cash.\n"
	found := Find(Document{
		Company:  "Cierzo Telecom, S.A.",
		Title:    "Autorización de la oferta pública de adquisición",
		Category: "Ofertas públicas de adquisición",
		Pages:    []string{page},
	})
	if len(found) != 1 || found[0].Kind != disclosure.Takeover {
		t.Fatalf("got %v", found)
	}
	whole := strings.Join(strings.Fields(page), " ")
	for name, quote := range found[0].Evidence {
		if !strings.Contains(whole, quote.Text) {
			t.Errorf("%s: %q is not in the document", name, quote.Text)
		}
	}
}

// TestBidLines has forms with a label and its value in lines of their own, and prices of purchases.
func TestBidLines(t *testing.T) {
	const announced = "action=announced; bidder=Beta Motores, S.A.; currency=EUR; price=4.1; target=Cierzo Telecom, S.A."
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"labels alone": {
			text: "OFERTA PÚBLICA DE ADQUISICIÓN\n\nOferente\n\nBeta Motores, S.A.\n\nSociedad afectada\n\nCierzo Telecom, S.A.\n\nTipo de comunicación\n\nAnuncio previo\n\n" +
				"Contraprestación\n\n4,10 euros por acción",
			want: []string{announced},
		},
		"earlier purchase": {
			text: "Anuncio previo de la oferta pública de adquisición formulada por Beta Motores, S.A. sobre las acciones de Cierzo " +
				"Telecom, S.A.\n\nEl precio de la oferta es de 4,10 euros por acción.\n\nEl oferente adquirió el 2 de mayo 300 acciones a " +
				"un precio de 3,90 euros por acción, de 1 euro de valor nominal cada una.",
			want: []string{announced},
		},
		"share in a column": {
			text: "Resultado de la oferta pública de adquisición formulada por Beta Motores, S.A. sobre las acciones de Cierzo Telecom, " +
				"S.A.\n\nConcepto\tAcciones\t% sobre las acciones a las que se dirigió la oferta\t% del capital\nAceptaciones\t1.000\t61,50\t40,20\n" +
				"Mínimo\t900\t50,10\t30,00",
			want: []string{"acceptance=61.5; action=result; bidder=Beta Motores, S.A.; target=Cierzo Telecom, S.A."},
		},
	} {
		testTraps(t, disclosure.Takeover, []trapTest{{
			name:      name,
			company:   "Cierzo Telecom, S.A.",
			title:     "Oferta pública de adquisición",
			published: "2026-10-06",
			text:      test.text,
			want:      slices.Clone(test.want),
		}})
	}
}

// TestResolvedMeasures has decisions behind the story of how they came about, and forms in lines.
func TestResolvedMeasures(t *testing.T) {
	var tests []trapTest
	add := func(name, language, text string, want ...string) {
		tests = append(tests, trapTest{
			name:      name,
			company:   "Cierzo Telecom, S.A.",
			title:     "Información",
			published: "2026-10-06",
			language:  language,
			text:      text,
			want:      want,
		})
	}
	add("resolved that", "en", `The Company refers to its application to be delisted and informs that the CNMV, by resolution of yesterday, has `+
		`resolved, pursuant to article 65, that its shares are excluded from trading with effect from 12 October 2026.`,
		"action=excluded; at=2026-10-12")
	add("resolved by the board", "en", `Listed under the rules of the CNMV, the board of directors has resolved that its shares be excluded from `+
		`trading, for which it will apply, with effect from 12 October 2026.`)
	add("lines", "es", "Medida\n\nSuspensión de la negociación\n\nFecha de efectos\n6 de octubre de 2026, 9:15 horas",
		"action=suspended; at=2026-10-06T09:15")
	add("lines of another year", "es", "Medida\n\nSuspensión de la negociación\n\nFecha de efectos\n6 de octubre de 2024")
	add("introduced", "es", "La CNMV ha adoptado hoy, 6 de octubre de 2026, el siguiente acuerdo:\n\n"+
		`"Suspender, con efectos inmediatos, a las 11:47 horas, la negociación de las acciones de CIERZO TELECOM, S.A."`,
		"action=suspended; at=2026-10-06T11:47")
	add("that was adopted", "es", `La CNMV ha acordado levantar, a partir de las 12:15 horas del día de hoy, la suspensión que se adoptó el 5 de `+
		`octubre de 2026 de la negociación de las acciones.`,
		"action=lifted; at=2026-10-06T12:15")
	add("item of an agenda", "es", `3. Exclusión de negociación de las acciones, para el supuesto de que así se acuerde.`)
	testTraps(t, disclosure.Suspension, tests)
}
