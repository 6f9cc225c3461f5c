package market

import (
	"slices"

	"pregon/internal/disclosure"
)

// topic is something that is filed about, under one heading of the register.
// The headings are spelt as the register spells them, stray spaces and all.
type topic struct {
	series   disclosure.Type
	category string
	also     string // a second heading that some of its reports carry
	who      role   // who files about it
	weight   int    // in an ordinary month, within the series
	months   string // how usual it is from January to December, a digit each; nothing is usual all year
	periodic bool   // it is what the rush at the end of some months is made of
	story    string // topics of one story may be filed in a row
	row      int    // so many of its first subjects may be filed in a row
	page     bool   // the link leads to a page of the register, never to a document
	subjects []string
}

// usual is the digit of an ordinary month.
const usual = 4

func (t *topic) inMonth(month int) int {
	if t.months == "" {
		return usual
	}
	return int(t.months[month] - '0')
}

const issuing = listed | private

// topics are all there is to file about. Words in braces are blanks: see pen.
var topics = slices.Concat(insideInformation, relevantFacts, otherInformation)

var insideInformation = []topic{
	{
		series: disclosure.IP, category: "Sobre negocio y situación financiera", also: "Sobre instrumentos financieros",
		who: issuing, weight: 24,
		subjects: []string{
			"La sociedad informa sobre {negocio}",
			"La sociedad comunica {negocio}",
			"La sociedad remite nota de prensa sobre {negocio}",
			"La sociedad revisa a la baja su previsión de resultado operativo para el ejercicio {ano}",
			"La sociedad eleva un {pct} % su previsión de ingresos para el ejercicio {ano}",
			"La sociedad ha firmado la refinanciación de su deuda bancaria por importe de {importe} millones de euros",
		},
	},
	{
		series: disclosure.IP, category: "Sobre resultados ", also: "Sobre negocio y situación financiera",
		who: issuing, weight: 22, months: "144363316482", periodic: true, row: 3,
		subjects: []string{
			"Informe de resultados {delperiodo}",
			"Presentación de los resultados {delperiodo}",
			"La sociedad remite nota de prensa sobre los resultados {delperiodo}",
			"La sociedad remite información sobre los resultados correspondientes {alperiodo}",
			"Avance de resultados correspondientes {alperiodo}: los ingresos crecen un {pct} %",
			"Avance de resultados correspondientes {alperiodo}: el resultado neto se reduce un {pct} %",
		},
	},
	{
		series: disclosure.IP, category: "Sobre operaciones corporativas: fusiones, adquisiciones y otros",
		who: listed, weight: 14,
		subjects: []string{
			"La sociedad ha alcanzado un acuerdo para adquirir el {mayoria} % del capital social de {filial} por {importe} millones de euros",
			"Venta de la participación del {minoria} % que la sociedad mantenía en {colega}",
			"Los Consejos de Administración de la sociedad y de {colega} han aprobado el proyecto común de fusión",
			"La sociedad confirma que mantiene conversaciones preliminares con {colega} sobre una posible combinación de negocios",
			"Finalizan sin acuerdo las conversaciones mantenidas con {colega}",
			"La sociedad ha formalizado la venta de su filial {filial} por un importe de {importe} millones de euros",
			"Acuerdo de intenciones con {colega} para la constitución de una sociedad conjunta participada al 50 %",
		},
	},
	{
		series: disclosure.IP, category: "Sobre ofertas públicas de adquisición de acciones",
		who: listed, weight: 4,
		subjects: []string{
			"Anuncio previo de la oferta pública voluntaria de adquisición de acciones de {nombre} formulada por {colega} a un precio de {precio} euros por acción",
			"La sociedad ha recibido una manifestación de interés no vinculante para la adquisición de la totalidad de su capital social",
			"{colega} mejora la contraprestación de su oferta hasta {precio} euros por acción",
			"Los accionistas titulares del {minoria} % del capital social han suscrito compromisos irrevocables de aceptación de la oferta de {colega}",
		},
	},
	{
		series: disclosure.IP, category: "Sobre instrumentos financieros", also: "Sobre negocio y situación financiera",
		who: issuing, weight: 10,
		subjects: []string{
			"El Consejo de Administración ha aprobado una emisión de bonos simples por importe de hasta {importe} millones de euros",
			"La sociedad ha fijado los términos de una emisión de bonos por importe de {importe} millones de euros, cupón anual del {tipo} % y vencimiento en {vencimiento}",
			"Aumento de capital con derecho de suscripción preferente por importe efectivo de {importe} millones de euros",
			"El Consejo de Administración ha acordado un programa de recompra de acciones por un importe máximo de {importe} millones de euros",
			"La sociedad anuncia una oferta de recompra parcial de los bonos con vencimiento en {vencimiento}",
		},
	},
	{
		series: disclosure.IP, category: "Sobre colocaciones significativas de instrumentos financieros",
		who: listed, weight: 5,
		subjects: []string{
			"{intermediario} comunica el inicio de una colocación acelerada de acciones representativas del {minoria} % del capital social de {nombre}",
			"Resultado de la colocación acelerada entre inversores cualificados: {bloque} acciones a un precio de {precio} euros por acción",
			"Suspensión de la colocación acelerada de acciones comunicada en el día de ayer",
		},
	},
	{
		series: disclosure.IP, category: "Sobre planes estratégicos y previsiones",
		who: listed, weight: 6, row: 2,
		subjects: []string{
			"La sociedad presenta su Plan Estratégico {plan}",
			"Objetivos financieros del Plan Estratégico {plan}: inversión acumulada de {importe} millones de euros",
			"La sociedad actualiza los objetivos de su Plan Estratégico y su política de remuneración al accionista",
		},
	},
	{
		series: disclosure.IP, category: "Sobre gobierno corporativo",
		who: listed, weight: 7,
		subjects: []string{
			"El Consejo de Administración ha acordado el nombramiento de {persona}",
			"La sociedad comunica el cese de {persona}",
			"El Consejo de Administración ha acordado separar los cargos de presidente y de primer ejecutivo",
		},
	},
	{
		series: disclosure.IP, category: "Sobre calificaciones crediticias",
		who: issuing, weight: 4,
		subjects: []string{
			"{agencia} ha rebajado la calificación crediticia a largo plazo de la sociedad {baja}, con perspectiva negativa",
			"{agencia} ha elevado la calificación crediticia a largo plazo de la sociedad {sube}, con perspectiva estable",
			"{agencia} ha situado la calificación de la sociedad en revisión con implicaciones negativas",
		},
	},
	{
		series: disclosure.IP, category: "Sobre situaciones concursales",
		who: issuing, weight: 2,
		subjects: []string{
			"La sociedad ha comunicado al juzgado el inicio de negociaciones con sus acreedores al amparo del artículo 585 del texto refundido de la Ley Concursal",
			"El juzgado de lo mercantil ha dictado auto de homologación del plan de reestructuración de la sociedad",
			"La filial {filial} ha solicitado la declaración de concurso voluntario de acreedores",
		},
	},
	{
		series: disclosure.IP, category: "Sobre negocio y situación financiera",
		who: trust, weight: 2,
		subjects: []string{
			"{gestora} comunica la decisión de proceder a la liquidación anticipada del Fondo",
			"{gestora} comunica un déficit de amortización en la fecha de pago del {reciente}",
			"Desembolso del Fondo de Reserva para atender el pago de intereses de los bonos de la Serie {serie}",
		},
	},
}

// relevantFacts are filed by funds alone since 2020.
var relevantFacts = []topic{
	{
		series: disclosure.HR, category: "Fusión de IIC", who: pool, weight: 18, story: "fusión",
		subjects: []string{
			"Autorizada la fusión por absorción de {absorbido} por {nombre}, a solicitud de {gestora} y de {banco}, como gestora y depositario",
			"{gestora} comunica el acuerdo de fusión por absorción de {absorbido} (fondo absorbido) por {nombre} (fondo absorbente)",
			"Otorgado el {reciente} el documento contractual de fusión por absorción de {absorbido}",
		},
	},
	{
		series: disclosure.HR, category: "Ecuación de canje definitiva en fusiones de IIC", who: pool, weight: 9, story: "fusión",
		subjects: []string{
			"Ecuación de canje definitiva: cada partícipe de {absorbido} recibe {canje} participaciones de {nombre} por cada participación",
			"{gestora} comunica la ecuación de canje definitiva resultante de los valores liquidativos del {reciente}: {canje} participaciones",
		},
	},
	{
		series: disclosure.HR, category: "Baja/Disolución/Liquidación/Absorción", who: pool, weight: 12,
		subjects: []string{
			"Baja en el registro de {absorbido}, absorbido por {nombre}",
			"Baja en el registro de la clase {clase} de participaciones del fondo, inscrita el {reciente}",
			"{gestora} y {banco} acuerdan la disolución y liquidación de un compartimento del fondo, con suspensión del derecho de reembolso",
			"Aprobados los estados financieros de liquidación de un compartimento y el inicio del pago a sus partícipes",
		},
	},
	{
		series: disclosure.HR, category: "Revocación de IIC", who: pool, weight: 4,
		subjects: []string{
			"Revocada la autorización de un compartimento del fondo a solicitud de su sociedad gestora",
			"Revocada la autorización de {absorbido} con motivo de su absorción por {nombre}",
		},
	},
	{
		series: disclosure.HR, category: "Sustitución de Gestora o Depositario de IIC", who: pool, weight: 15,
		subjects: []string{
			"Autorizada la sustitución de {gestora} por {otragestora} como sociedad gestora del fondo",
			"Inscrita la sustitución de {banco} como entidad depositaria del fondo",
			"{gestora} comunica el acuerdo de sustitución de la entidad depositaria, que no supone variación de las comisiones",
		},
	},
	{
		series: disclosure.HR, category: "Rectificación Hecho Relevante", who: pool, weight: 4,
		subjects: []string{
			"Rectificación del hecho relevante publicado el {reciente/} por error en la fecha de efectos",
			"Se rectifica el hecho relevante publicado el {reciente/}: la comisión de gestión indicada es la máxima y no la aplicada",
		},
	},
	{
		series: disclosure.HR, category: "Otros hechos relevantes", who: pool, weight: 33,
		subjects: []string{
			"Reembolso de participaciones que ha supuesto una disminución del patrimonio superior al 20 %",
			"Endeudamiento transitorio superior al 5 % del patrimonio para atender reembolsos, regularizado el {reciente}",
			"Modificación de la comisión de gestión, que pasa a ser del {mora} % anual sobre el patrimonio a partir del {pago}",
			"{gestora} comunica el cambio de la política de inversión y la actualización del folleto y del documento de datos fundamentales",
			"Suspensión temporal del cálculo del valor liquidativo con motivo del cierre de los mercados en los que invierte",
			"Nuevo periodo de comercialización del fondo, sin comisión de suscripción hasta el {pago}",
			"Delegación de la gestión de una parte de los activos del fondo en {otragestora}",
			"Derecho de separación de los partícipes sin gastos hasta el {pago} con motivo del cambio de su política de inversión",
		},
	},
	{
		series: disclosure.HR, category: "Otros hechos relevantes", who: manager, weight: 4,
		subjects: []string{
			"La sociedad gestora comunica el nombramiento de {persona}",
			"Modificación de la participación significativa en el capital de la sociedad gestora, que alcanza el {minoria} %",
			"La sociedad gestora comunica la delegación de la función de auditoría interna en {auditor}",
		},
	},
}
