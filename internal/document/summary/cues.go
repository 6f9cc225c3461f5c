package summary

// topic is a subject of reports. It has the words that identify it in the category
// and the title, and the words that report the event.
type topic struct {
	told phrases
	cues phrases
}

// newTopic reads both from lines of folded words.
func newTopic(told, cues string) topic { return topic{newPhrases(told), newPhrases(cues)} }

var topics = []topic{
	newTopic(`dividendo*
		remuneracion al accionista
		scrip`, `dividendo*
		por accion
		reparto
		repartir*
		distribuir*
		distribucion
		abonar*
		se pagara
		pago
		ex dividend*
		con cargo a
		brutos
		bruto
		fecha de pago
		remuneracion`),
	newTopic(`resultado*
		informes financieros
		negocio y situacion financiera
		avance
		ventas
		prevision*
		planes estrategicos`, `beneficio*
		resultado neto
		resultado operativo
		ingresos
		ventas
		cifra de negocio*
		ebitda
		ebit
		margen
		perdida*
		deuda financiera neta
		crec*
		aument*
		disminu*
		reduc*
		prevision*
		objetivo*
		frente a
		respecto al
		trimestre
		semestre
		inversion
		contrato
		plan estrategico`),
	newTopic(`recompra*
		autocartera
		estabilizacion
		contratos de liquidez
		acciones propias`, `recompra
		recomprar*
		acciones propias
		autocartera
		programa
		contrato de liquidez
		intermediario financiero
		importe maximo
		numero maximo
		precio medio
		ha adquirido
		amortiza*
		suspension temporal
		compras
		ventas`),
	newTopic(`aumento de capital
		ampliacion de capital
		reduccion de capital
		ofertas publicas de suscripcion
		instrumentos financieros
		derechos de voto`, `aumento de capital
		ampliacion de capital
		reduccion de capital
		suscripcion preferente
		derecho de suscripcion
		nuevas acciones
		valor nominal
		prima de emision
		tipo de emision
		periodo de suscripcion
		inscri*
		derechos de voto
		capital social
		admitidas a negociacion`),
	newTopic(`ofertas publicas de adquisicion
		oferta publica
		opa
		contraprestacion
		manifestacion de interes
		compromisos irrevocables`, `oferta publica
		oferta
		opa
		contraprestacion
		euros por accion
		por cada accion
		totalidad del capital
		autoriza*
		aceptacion
		compromisos irrevocables
		exclusion de negociacion
		prima
		oferente
		formular
		formula
		voluntaria
		obligatoria`),
	newTopic(`gobierno corporativo
		nombramiento*
		cese*
		dimision*
		consejero*
		consejera*
		consejo de administracion
		reglamentos del consejo`, `ha nombrado
		nombrar*
		nombramiento
		designa*
		cese
		ha cesado
		dimision
		ha dimitido
		ha presentado su
		renuncia*
		sustitu*
		consejero*
		consejera*
		presidente
		presidenta
		vocal
		comision de auditoria
		comision de nombramientos
		cooptacion
		reeleg*
		reeleccion
		con efectos`),
	newTopic(`junta
		convocatoria*
		asamblea*`, `junta general
		convoca*
		convocatoria
		primera convocatoria
		segunda convocatoria
		orden del dia
		ha aprobado
		aprobo
		acuerdos
		asamblea
		quorum
		propuesta*`),
	newTopic(`bonos
		emision*
		obligaciones
		pagares
		instrumentos financieros
		colocacion*
		cedulas
		amortizacion`, `emision
		emitir*
		bonos
		obligaciones
		pagares
		cupon
		vencimiento
		tipo de interes
		importe nominal
		colocacion
		desembolso
		precio de emision
		amortizacion anticipada
		recompra
		inversores cualificados`),
	newTopic(`calificacion crediticia
		calificaciones
		rating
		agencia`, `calificacion
		rating
		perspectiva
		ha rebajado
		ha elevado
		ha mejorado
		ha confirmado
		ha asignado
		revision
		largo plazo
		agencia`),
	newTopic(`concurs*
		juzgado
		litigio*
		procedimiento*
		sentencia
		laudo
		reestructuracion
		demanda`, `juzgado
		tribunal
		sentencia
		demanda
		recurso
		laudo
		arbitr*
		concurso
		acreedores
		plan de reestructuracion
		homologacion
		sancion
		condena*
		indemniza*
		auto de`),
	newTopic(`operaciones corporativas
		fusion*
		adquisicion*
		adquirir
		venta de
		compraventa
		escision
		operaciones vinculadas
		combinacion de negocios
		sociedad conjunta`, `adquirir
		adquisicion
		ha adquirido
		compraventa
		venta
		ha vendido
		vender
		fusion
		absorcion
		escision
		acuerdo
		participacion
		capital social
		precio
		contrato de
		autoridades de competencia
		autoridad de competencia
		sujeto a
		sujeta a
		condicionad*
		plusvalia
		cierre de la operacion
		combinacion de negocios`),
	newTopic(`iic
		fondo*
		participes
		depositari*
		gestora
		comision de gestion
		valor liquidativo
		reembolso*
		compartimento*`, `fondo
		participes
		participaciones
		comision
		comisiones
		depositari*
		sociedad gestora
		fusion
		absor*
		ecuacion de canje
		valor liquidativo
		reembolso*
		derecho de separacion
		liquidacion
		disolucion
		politica de inversion
		folleto
		suspension
		inscri*
		baja
		autorizad*
		sustitucion
		patrimonio`),
	newTopic(`suspension*
		levantamiento*
		exclusion*
		negociacion`, `suspension
		suspender
		suspendida
		levantar
		levantamiento
		exclusion
		negociacion
		cautelarmente
		con efectos`),
	newTopic(`rectific*
		correccion`, `rectific*
		corrige*
		correccion
		donde dice
		debe decir
		error`),
}

// deeds are the verbs of news of every topic.
var deeds = newPhrases(`
	comunica que
	informa que
	informa de que
	anuncia que
	ha acordado
	ha aprobado
	han acordado
	han aprobado
	ha decidido
	ha tomado
	ha tomado la decision
	recibira
	recibiran
	pasara
	se celebrara
	se hara efectivo
	se abonara
	ha alcanzado
	ha firmado
	ha suscrito
	ha formalizado
	ha recibido
	ha presentado
	ha completado
	ha cerrado
	ha concluido
	ha resuelto
	ha dictado
	ha fijado
	ha registrado
	ha obtenido
	ha vendido
	ha adquirido
	ha nombrado
	ha confirmado
	confirma
	ha elevado
	ha rebajado
	ha comprado
	ha quedado
	ha adoptado
	ha autorizado
	ha solicitado
	ha iniciado
	ha convocado
	autoriza
	se ha acordado
	se ha autorizado
	se otorgo`)

// doings are verbs that are as common in text without news.
var doings = newPhrases(`
	ha sido
	han sido
	se ha
	se han
	ascendio
	asciende a
	ascendieron`)

// cuesFor returns the cues for the topics of a report. The title identifies the
// topics, or else the category, which is broader. If neither does, cuesFor returns
// the cues of all topics.
func cuesFor(s Source) (cues phrases, sure bool) {
	for _, about := range []string{s.Title, s.Category} {
		about = fold(about)
		for _, t := range topics {
			if t.told.in(about) {
				cues = append(cues, t.cues...)
			}
		}
		if cues != nil {
			return unique(cues), true
		}
	}
	for _, t := range topics {
		cues = append(cues, t.cues...)
	}
	return unique(cues), false
}

// unique returns the phrases once each, in their order.
func unique(all phrases) phrases {
	seen := map[string]bool{}
	var once phrases
	for _, p := range all {
		if !seen[p] {
			seen[p] = true
			once = append(once, p)
		}
	}
	return once
}
