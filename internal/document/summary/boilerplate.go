package summary

import (
	"regexp"
	"strings"
)

// boilerplate is text that occurs in every report and is never news.
var boilerplate = newPhrases(`
	relacionado con la comunicacion
	no constituye
	no constituyen
	ni constituye
	oferta de venta ni
	solicitud de oferta
	securities act
	valores no han sido registrados
	no han sido ni seran registrad*
	manifestaciones de futuro
	manifestaciones sobre futuro
	afirmaciones de futuro
	declaraciones de futuro
	declaraciones prospectivas
	declaraciones a futuro
	informacion prospectiva
	forward looking
	riesgos e incertidumbres
	riesgos conocidos y desconocidos
	fuera del control de
	diferir materialmente
	difieran materialmente
	diferir sustancialmente
	difieran sustancialmente
	no ha sido auditad*
	no han sido auditad*
	no ha sido objeto de auditoria
	no han sido objeto de auditoria
	no auditad*
	sin auditar
	no ha sido verificad*
	no han sido verificad*
	medidas alternativas de rendimiento
	rentabilidades pasadas
	resultados pasados no
	no debe considerarse
	no deben considerarse
	no debe interpretarse
	no deben interpretarse
	no debe utilizarse
	no deben utilizarse
	no debe ser considerad*
	no deben ser considerad*
	no debe basarse
	no se asume ninguna
	no asume ninguna
	no asume obligacion
	no asumen ninguna
	no asume responsabilidad
	no asumen responsabilidad
	ninguna responsabilidad
	no garantiza
	meramente informativ*
	exclusivamente informativ*
	fines informativos
	efectos informativos
	no podra ser distribuid*
	no puede ser distribuid*
	queda prohibid*
	distribucion directa o indirecta
	asesoramiento legal
	asesoramiento financiero
	recomendacion de inversion
	decision de inversion
	decisiones de inversion
	aviso legal
	advertencia legal
	exencion de responsabilidad
	nota importante
	version en ingles
	version en espanol prevalec*
	en caso de discrepancia
	traduccion de cortesia
	a los efectos oportunos
	a los efectos legales oportunos
	efectos oportunos
	lo que se comunica
	lo que comunicamos
	lo que se hace publico
	lo que ponemos en su conocimiento
	quedamos a su disposicion
	queda a su disposicion
	quedando a su disposicion
	sin otro particular
	muy senores
	estimados senores
	estimado senor
	senores accionistas
	atentamente
	les saluda
	reciban un cordial saludo
	mantendra informad*
	mantendra puntualmente informad*
	mantendran informad*
	para mas informacion
	para cualquier aclaracion
	mas informacion en
	esta disponible en la pagina web
	esta disponible en la web
	puede consultarse en
	pueden consultarse en
	podra consultarse en
	relaciones con inversores
	relacion con inversores
	atencion al accionista
	oficina del accionista
	gabinete de prensa
	departamento de comunicacion
	direccion de comunicacion
	a la atencion de
	direccion general de mercados
	departamento de mercados
	edison 4
	paseo de la castellana
	todos los derechos reservados
	se adjunta
	adjunto remitimos
	adjunto se remite
	documento adjunto
	generado automaticamente
	documento simulado
	mercado simulado
	simulacion ni
	parecido con la realidad
	son ficticios
	pagina en blanco
	firmado electronicamente
	codigo seguro de verificacion
	inscrita en el registro mercantil de
	criterios contables
	redondeo
	glosario
	por la secretaria
	por el secretario`)

// contact lines, addresses, marks of a register.
var contact = regexp.MustCompile(`(?i)@|https?:|www\.|\b(?:tel|tfno|telf|tel[eé]fono|fax|c\.?i\.?f|n\.?i\.?f)\b\.?:?\s*[+(]?[a-z]?-?\d|\b(?:tomo|folio|hoja)\s+[\dm-]`)

// placeAndDate is a line like "Sotohondo, a 3 de marzo de 2026."
var placeAndDate = regexp.MustCompile(`^ (?:en )?(?:[a-z]+ ){0,5}(?:a )?(?:dia )?\d{1,2} de [a-z]+ (?:de|del) \d{4} $`)

// signature is the line of a signatory.
var signature = newPhrases(`
	secretario del consejo
	secretaria del consejo
	secretario no consejero
	secretaria no consejera
	director general
	directora general
	director financiero
	directora financiera
	consejero delegado
	consejera delegada
	apoderado
	apoderada
	representante autorizado
	comision nacional del mercado de valores
	cnmv`)

// longestSignature is in words. A longer line is a sentence about an event.
const longestSignature = 9

func isBoilerplate(text, folded string) bool {
	words := strings.Count(folded, " ") - 1
	switch {
	case boilerplate.in(folded), contact.MatchString(text), placeAndDate.MatchString(folded):
		return true
	case words <= longestSignature && signature.in(folded) && !saying.in(folded):
		return true
	}
	return words <= 14 && strings.HasPrefix(folded, " fdo ")
}

// saying are the phrases with which a company introduces its news.
var saying = newPhrases(`
	comunica
	comunican
	informa
	informan
	anuncia
	anuncian
	notifica
	pone en conocimiento
	ponen en conocimiento
	hace publico
	hace publica
	hacen publico
	hace constar
	procede a comunicar
	procede a informar
	ha acordado
	ha aprobado
	ha nombrado
	ha cesado
	ha sido
	ha presentado
	ha dimitido`)

// preamble are the phrases with which reports begin before their news.
var preamble = newPhrases(`
	en cumplimiento de
	en cumplimiento del
	dando cumplimiento
	de conformidad con
	de acuerdo con lo dispuesto
	de acuerdo con lo previsto
	de acuerdo con lo establecido
	a los efectos de lo
	a los efectos previstos
	a efectos de lo dispuesto
	al amparo de lo
	en virtud de lo
	a tenor de lo
	con arreglo a lo
	en relacion con lo dispuesto`)

// announced matches the phrases of a preamble that announce news without giving it.
var announced = regexp.MustCompile(` (?:lo siguiente|(?:la|el) siguiente (?:otra )?(?:informacion|hecho|comunicacion)(?: (?:privilegiada|relevante|significativ[ao]))?) `)

// kind is the use of a sentence for a summary.
type kind int

const (
	news       kind = iota
	lastResort      // used if there is no better sentence: the law and the news in one
	never
)

// kindOf returns the kind of a sentence.
func kindOf(text, folded string) kind {
	if isBoilerplate(text, folded) {
		return never
	}
	begins := folded[:min(len(folded), 60)]
	if !preamble.in(begins) {
		if rest := announced.FindStringIndex(folded); rest != nil && strings.Count(folded[rest[1]:], " ") < 4 {
			return never
		}
		return news
	}
	return preambleKind(folded)
}

// preambleKind searches for news after the law that a sentence begins with.
func preambleKind(folded string) kind {
	for _, phrase := range saying {
		at := strings.Index(folded, phrase)
		if at < 0 {
			continue
		}
		rest := folded[at+len(phrase)-1:]
		if promised := announced.FindStringIndex(rest); promised != nil {
			rest = rest[promised[1]-1:]
		}
		if strings.Count(rest, " ") > 6 {
			return lastResort
		}
	}
	return never
}
