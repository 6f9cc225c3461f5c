package simserver

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim"
)

// makePDF writes the document of a filing: always the same one.
func makePDF(f *filing, seed uint64) []byte {
	dice := rand.New(rand.NewPCG(scatter(seed^uint64(f.Type.Index())), scatter(uint64(f.Number))))
	at := f.PublishedAt.In(disclosure.Madrid)
	subject := strings.TrimPrefix(f.Title, sim.Mark)
	p := &pdf{
		head: f.CompanyName + " — DOCUMENTO SIMULADO",
		foot: "Simulación: ni la entidad ni los hechos de este documento son reales.",
	}
	p.heading(f.CompanyName)
	p.paragraph(places[dice.IntN(len(places))] + ", a " + strconv.Itoa(at.Day()) + " de " + months[at.Month()-1] + " de " + strconv.Itoa(at.Year()))
	p.paragraph(openings[f.Type.Index()])
	p.heading(subject)
	p.paragraph("La entidad comunica lo siguiente: " + lower(subject) + ".")
	for _, n := range dice.Perm(len(sentences))[:2+dice.IntN(3)] {
		p.paragraph(say(sentences[n], dice))
	}
	p.heading("Principales magnitudes")
	p.table(figures(dice, at.Year()))
	for _, part := range dice.Perm(len(parts))[:dice.IntN(len(parts)+1)] {
		p.heading(parts[part])
		for _, n := range dice.Perm(len(sentences))[:4+dice.IntN(4)] {
			p.paragraph(say(sentences[n], dice))
		}
	}
	for _, rel := range f.Related {
		p.paragraph(rel.Text + ".")
	}
	p.heading("Aviso legal")
	p.paragraph(disclaimer)
	return p.bytes(f.Title, dice.IntN(4) > 0)
}

// say fills the places of a sentence with numbers.
func say(sentence string, dice *rand.Rand) string {
	for strings.Contains(sentence, "#") {
		sentence = strings.Replace(sentence, "#", money(10+dice.IntN(90_000)), 1)
	}
	for strings.Contains(sentence, "@") {
		sentence = strings.Replace(sentence, "@", fmt.Sprintf("%d,%d", 1+dice.IntN(24), dice.IntN(10)), 1)
	}
	return sentence
}

// figures is a table of amounts: this year, and the one before.
func figures(dice *rand.Rand, year int) [][3]string {
	rows := [][3]string{{"Miles de euros", strconv.Itoa(year), strconv.Itoa(year - 1)}}
	for _, name := range []string{"Importe neto de la cifra de negocios", "Resultado bruto de explotación", "Resultado neto", "Deuda financiera neta", "Patrimonio neto"} {
		before := 1000 + dice.IntN(900_000)
		rows = append(rows, [3]string{name, money(before * (85 + dice.IntN(35)) / 100), money(before)})
	}
	return rows
}

// money writes tenths with a comma, and points between the thousands.
func money(tenths int) string {
	s := strconv.Itoa(tenths / 10)
	for k := len(s) - 3; k > 0; k -= 3 {
		s = s[:k] + "." + s[k:]
	}
	return s + "," + strconv.Itoa(tenths%10)
}

func lower(s string) string {
	if s == "" {
		return s
	}
	first := []rune(s)
	return strings.ToLower(string(first[0])) + string(first[1:])
}

var (
	places = []string{"Valdebrisa", "Fuentelmirlo", "Torrealmena", "Campoluengo", "Sotohondo", "Montecárdeno"}
	months = [...]string{
		"enero", "febrero", "marzo", "abril", "mayo", "junio",
		"julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
	}
	openings = [3]string{
		"En cumplimiento de lo dispuesto en el artículo 17 del Reglamento (UE) nº 596/2014 sobre abuso de mercado y en el artículo 226 de la Ley 6/2023, de 17 de marzo, de los Mercados de Valores y de los Servicios de Inversión, se comunica la siguiente información privilegiada.",
		"En cumplimiento de la normativa de las instituciones de inversión colectiva, se comunica el siguiente hecho relevante.",
		"En cumplimiento de lo dispuesto en el artículo 227 de la Ley 6/2023, de 17 de marzo, de los Mercados de Valores y de los Servicios de Inversión, se comunica la siguiente otra información relevante.",
	}
	parts     = []string{"Evolución del periodo", "Perspectivas", "Gestión de riesgos", "Hechos posteriores", "Información adicional"}
	sentences = []string{
		"El importe total asciende a # millones de euros, un @ % más que en el mismo periodo del ejercicio anterior.",
		"El Consejo de Administración, en su reunión de hoy, ha examinado la información y ha acordado por unanimidad su difusión al mercado.",
		"El margen bruto de explotación se sitúa en el @ % de los ingresos, frente al @ % del año anterior.",
		"La operación no está sujeta a condiciones distintas de las habituales y se espera que concluya antes del cierre del ejercicio.",
		"La deuda financiera neta se reduce hasta # millones de euros gracias a la generación de caja y a la venta de activos no estratégicos.",
		"La liquidez disponible, que incluye líneas de crédito no dispuestas, es de # millones de euros y cubre los vencimientos de los próximos dos años.",
		"Las cifras que aquí se presentan no han sido auditadas y se han preparado con los mismos criterios que las últimas cuentas anuales.",
		"La inversión del periodo, de # millones de euros, se ha destinado a la renovación de instalaciones y a la eficiencia energética.",
		"La plantilla media fue de # personas en términos equivalentes a tiempo completo, con un @ % de contratos indefinidos nuevos.",
		"La política de remuneración al accionista se mantiene sin cambios y prevé repartir el @ % del resultado neto.",
		"El impacto estimado en el patrimonio neto consolidado es inferior al @ % y se registrará en el próximo trimestre.",
		"La entidad mantendrá informado al mercado de cualquier novedad que sea significativa a estos efectos.",
	}
)

const disclaimer = "Este documento se ha generado automáticamente para un mercado simulado. Las entidades, las personas, las cifras y los hechos que menciona son ficticios, " +
	"y cualquier parecido con la realidad es casual. No constituye una oferta de venta ni una recomendación de inversión, no ha sido remitido a ningún supervisor " +
	"y no debe utilizarse para tomar decisiones. Las estimaciones y previsiones están sujetas a riesgos e incertidumbres que, en un mercado real, podrían hacer " +
	"que los resultados fuesen distintos de los previstos."
