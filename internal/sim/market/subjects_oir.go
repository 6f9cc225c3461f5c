package market

import "pregon/internal/disclosure"

var otherInformation = []topic{
	// Securitisation funds.
	{
		series: disclosure.OIR, category: "Otra información relevante", also: "Sobre negocio y situación financiera",
		who: trust, weight: 124, row: 3,
		subjects: []string{
			"{gestora} remite la información relativa a la fecha de pago del {reciente}",
			"Amortización parcial de los bonos de la Serie {serie} por un importe de {euros} euros",
			"Comunicación del tipo de interés nominal aplicable a los bonos de la Serie {serie} hasta el {pago}: {tipo} %",
			"Información trimestral del Fondo correspondiente al {trimestre}",
			"Reducción del importe requerido del Fondo de Reserva hasta {euros} euros",
			"{gestora} comunica la modificación del contrato de administración de los derechos de crédito",
			"Sustitución de la entidad en la que se mantiene la cuenta de tesorería del Fondo",
			"Modificación de la escritura de constitución del Fondo otorgada el {reciente}",
			"Designación de un administrador de respaldo de los derechos de crédito cedidos por {banco}",
		},
	},
	{
		series: disclosure.OIR, category: "Sobre calificaciones crediticias",
		who: trust, weight: 40,
		subjects: []string{
			"{agencia} ha elevado la calificación de los bonos de la Serie {serie} {sube} (sf)",
			"{agencia} ha rebajado la calificación de los bonos de la Serie {serie} {baja} (sf)",
			"{agencia} confirma la calificación {rating} (sf) de los bonos de la Serie {serie}",
			"{agencia} retira la calificación de los bonos de la Serie {serie} por su amortización íntegra",
			"{agencia} sitúa en revisión las calificaciones de los bonos emitidos con cargo al Fondo",
		},
	},
	{
		series: disclosure.OIR, category: "Sobre instrumentos financieros", also: "Otra información relevante",
		who: trust, weight: 35,
		subjects: []string{
			"Sustitución de la contrapartida del contrato de permuta financiera de intereses",
			"Incorporación al Fondo de derechos de crédito adicionales por importe de {euros} euros",
			"{banco} recompra derechos de crédito fallidos por importe de {euros} euros",
			"Amortización anticipada de la totalidad de los bonos de la Serie {serie} en la fecha de pago del {pago}",
		},
	},
	{
		series: disclosure.OIR, category: "Sobre negocio y situación financiera",
		who: trust, weight: 35,
		subjects: []string{
			"Informe mensual de la cartera de derechos de crédito a cierre de {mes}: morosidad superior a 90 días del {mora} %",
			"{gestora} remite el informe de evolución de los activos cedidos por {banco}",
			"Cuentas anuales e informe de auditoría del Fondo correspondientes al último ejercicio cerrado",
		},
	},

	// Own shares.
	{
		series: disclosure.OIR, category: "Programas de recompra de acciones, estabilización y autocartera",
		who: listed, weight: 142,
		subjects: []string{
			"La sociedad comunica las operaciones efectuadas al amparo de su programa de recompra de acciones {semana}",
			"Operaciones de recompra realizadas {semana}: {acciones} acciones a un precio medio de {precio} euros",
			"Operaciones realizadas {semana} en el marco del programa de recompra de acciones propias",
			"Compra de {acciones} acciones propias {semana} al amparo del programa de recompra",
			"Información sobre el programa de recompra de acciones: transacciones efectuadas {semana}",
			"Inicio de un programa de recompra de acciones por un importe máximo de {importe} millones de euros",
			"Finalización anticipada del programa de recompra de acciones al haberse alcanzado su importe máximo",
			"La sociedad comunica la prórroga de su programa de recompra de acciones hasta el {pago}",
			"Designación de {intermediario} como entidad gestora del programa de recompra de acciones",
		},
	},
	{
		series: disclosure.OIR, category: "Contratos de liquidez y contrapartida",
		who: listed, weight: 54, months: "843843843843",
		subjects: []string{
			"Operaciones efectuadas al amparo del contrato de liquidez durante el {trimestre}",
			"Detalle de las operaciones del contrato de liquidez gestionado por {intermediario} correspondientes al {trimestre}",
			"Información trimestral sobre las operaciones del contrato de liquidez: {trimestre}",
			"La sociedad comunica la firma de un contrato de liquidez con {intermediario}",
			"Suspensión temporal del contrato de liquidez con motivo del inicio de un programa de recompra de acciones",
			"Reanudación de las operaciones del contrato de liquidez a partir del {pago}",
			"Resolución del contrato de liquidez suscrito con {intermediario}",
		},
	},

	// Meetings, reports and governance.
	{
		series: disclosure.OIR, category: "Convocatoria de Junta o Asamblea", also: "Sobre Gobierno corporativo",
		who: listed, weight: 34, months: "136896212321", row: 2,
		subjects: []string{
			"Convocatoria de la {Junta}, prevista para el {junta}",
			"Propuestas de acuerdo e informes del Consejo de Administración relativos a la {Junta}",
			"Complemento a la convocatoria de la {Junta} solicitado por accionistas titulares del {minoria} % del capital",
		},
	},
	{
		series: disclosure.OIR, category: "Convocatoria de Junta o Asamblea",
		who: listed, weight: 34, months: "212589612223", row: 3,
		subjects: []string{
			"Discurso del presidente del Consejo de Administración ante la {Junta}",
			"Acuerdos adoptados por la {Junta} celebrada el {reciente}",
			"La sociedad comunica el resultado de las votaciones de la {Junta}, con un quórum del {mayoria} %",
			"La {Junta} ha aprobado todas las propuestas sometidas a votación",
		},
	},
	{
		series: disclosure.OIR, category: "Informes financieros anuales y de auditoría",
		who: issuing, weight: 22, months: "144300000000", periodic: true, story: "cierre", page: true,
		subjects: []string{
			"Informe financiero anual del ejercicio {ejercicio}",
			"La sociedad remite el informe financiero anual y el informe de auditoría del ejercicio {ejercicio}",
			"Informe financiero anual consolidado del ejercicio {ejercicio} en formato electrónico único europeo",
		},
	},
	{
		series: disclosure.OIR, category: "Informe anual de gobierno corporativo",
		who: listed, weight: 16, months: "144200000000", periodic: true, story: "cierre",
		subjects: []string{
			"Informe anual de gobierno corporativo del ejercicio {ejercicio}",
			"La sociedad remite el Informe Anual de Gobierno Corporativo correspondiente al ejercicio {ejercicio}",
		},
	},
	{
		series: disclosure.OIR, category: "Informe anual de remuneraciones de los consejeros",
		who: listed, weight: 14, months: "144200000000", periodic: true, story: "cierre",
		subjects: []string{
			"Informe anual sobre remuneraciones de los consejeros del ejercicio {ejercicio}",
			"La sociedad remite el Informe Anual sobre Remuneraciones de los Consejeros correspondiente al ejercicio {ejercicio}",
		},
	},
	{
		series: disclosure.OIR, category: "Informes financieros semestrales y de auditoría / revisiones limitadas",
		who: issuing, weight: 18, months: "020000430100", periodic: true, page: true,
		subjects: []string{
			"Informe financiero semestral e informe de revisión limitada {delsemestre}",
			"La sociedad remite la información financiera {delsemestre}",
			"Informe financiero semestral consolidado {delsemestre}",
		},
	},
	{
		series: disclosure.OIR, category: "Sobre Gobierno corporativo", also: "Otra información relevante",
		who: listed, weight: 46, row: 3,
		subjects: []string{
			"La sociedad comunica la dimisión de {persona}",
			"El Consejo de Administración ha acordado el nombramiento por cooptación de {persona}",
			"Cambios en la composición de la Comisión de Auditoría y de la Comisión de Nombramientos y Retribuciones",
			"La sociedad comunica el nombramiento de {persona}",
			"La Junta General ha aprobado la reelección de {persona}",
		},
	},
	{
		series: disclosure.OIR, category: "Reglamentos del Consejo",
		who: listed, weight: 4, page: true,
		subjects: []string{
			"Modificación del Reglamento del Consejo de Administración",
			"Texto refundido del Reglamento del Consejo de Administración inscrito en el Registro Mercantil",
			"Nuevo Reglamento de la Comisión de Auditoría y Cumplimiento",
		},
	},

	// Business, money and the market.
	{
		series: disclosure.OIR, category: "Otra información relevante", also: "Sobre negocio y situación financiera",
		who: listed, weight: 95,
		subjects: []string{
			"La sociedad remite la presentación que utilizará en sus próximas reuniones con inversores y analistas",
			"El Consejo de Administración ha acordado un dividendo a cuenta de {dividendo} euros brutos por acción, que se abonará el {pago}",
			"Pago de dividendo: importe bruto de {dividendo} euros por acción y fecha de abono el {pago}",
			"La sociedad informa de los términos del aumento de capital liberado con el que instrumenta su sistema de dividendo flexible",
			"Calendario financiero del ejercicio {proximo}",
			"Convocatoria de la presentación a analistas de los resultados {delperiodo}, el {pago} a las {9-12}:00 horas",
			"Traslado del domicilio social dentro del mismo término municipal",
			"La sociedad remite nota de prensa sobre {negocio}",
			"Corrección de errores de la comunicación remitida en el día de hoy",
			"La sociedad comunica la contratación de {auditor} como auditor de cuentas para los ejercicios {plan}",
		},
	},
	{
		series: disclosure.OIR, category: "Sobre negocio y situación financiera", also: "Otra información relevante",
		who: issuing, weight: 40, months: "144363316482", periodic: true, row: 3,
		subjects: []string{
			"La sociedad remite el informe de resultados {delperiodo}",
			"Presentación de resultados {delperiodo}",
			"La sociedad remite nota de prensa sobre los resultados {delperiodo}",
		},
	},
	{
		series: disclosure.OIR, category: "Sobre negocio y situación financiera", also: "Sobre operaciones corporativas",
		who: issuing, weight: 42,
		subjects: []string{
			"La sociedad informa sobre {negocio}",
			"La sociedad comunica {negocio}",
			"Datos operativos de {mes}: la actividad crece un {pct} % respecto al mismo mes del año anterior",
		},
	},
	{
		series: disclosure.OIR, category: "Sobre operaciones corporativas",
		who: listed, weight: 32,
		subjects: []string{
			"La sociedad ha completado la adquisición del {mayoria} % de {filial}",
			"Inscripción en el Registro Mercantil de la escritura de fusión por absorción de {filial}",
			"Constitución de una sociedad conjunta con {colega} para el desarrollo de proyectos en {lugar}",
			"Cumplimiento de las condiciones suspensivas para la venta de {filial} por {importe} millones de euros",
			"La autoridad de competencia autoriza, con compromisos, la adquisición de {filial}",
		},
	},
	{
		series: disclosure.OIR, category: "Sobre instrumentos financieros", also: "Sobre negocio y situación financiera",
		who: issuing, weight: 58,
		subjects: []string{
			"Emisión de bonos por importe de {importe} millones de euros, cupón del {tipo} % y vencimiento en {vencimiento}",
			"Incorporación a negociación de un programa de pagarés con un saldo vivo máximo de {importe} millones de euros",
			"Amortización anticipada de las obligaciones con vencimiento en {vencimiento}",
			"Comunicación del tipo de interés aplicable al próximo periodo de devengo: {tipo} % anual",
			"Admisión a negociación de {bloque} acciones nuevas procedentes del aumento de capital",
			"Finalización del periodo de suscripción preferente: suscrito el {mayoria} % del aumento de capital",
			"Convocatoria de la Asamblea General de Bonistas de la emisión con vencimiento en {vencimiento}",
		},
	},
	{
		series: disclosure.OIR, category: "Sobre calificaciones crediticias",
		who: issuing, weight: 18,
		subjects: []string{
			"{agencia} confirma la calificación {rating} de la sociedad con perspectiva {perspectiva}",
			"{agencia} modifica de estable a positiva la perspectiva de la calificación de la sociedad",
			"{agencia} asigna la calificación {rating} a la emisión de bonos con vencimiento en {vencimiento}",
			"{agencia} eleva la calificación a largo plazo de la sociedad {sube}",
		},
	},
	{
		series: disclosure.OIR, category: "Comunicación de operaciones vinculadas",
		who: listed, weight: 10,
		subjects: []string{
			"Operación vinculada con {empresa}, accionista titular del {minoria} % del capital, por importe de {importe} millones de euros",
			"Informe de la Comisión de Auditoría sobre la operación vinculada relativa a la financiación otorgada por un accionista significativo",
			"La sociedad informa sobre la firma de un contrato de prestación de servicios con una parte vinculada",
		},
	},
	{
		series: disclosure.OIR, category: "Total número de derechos de voto y de capital  ",
		who: listed, weight: 14, page: true,
		subjects: []string{
			"Número total de derechos de voto: {capital}",
			"La sociedad comunica el número total de derechos de voto y el capital social a cierre de {mes}",
			"Capital social representado por {capital} acciones, con un derecho de voto cada una",
		},
	},
	{
		series: disclosure.OIR, category: "Ofertas públicas de adquisición de acciones",
		who: listed, weight: 9,
		subjects: []string{
			"Admitida a trámite la solicitud de autorización de la oferta pública de adquisición de acciones de {nombre} presentada por {colega}",
			"Autorizada la oferta pública voluntaria de adquisición de acciones de {nombre} formulada por {colega}",
			"Informe del Consejo de Administración de {nombre} sobre la oferta pública de adquisición formulada por {colega}",
			"Resultado de la oferta pública de adquisición: aceptada por el {mayoria} % de las acciones a las que se dirigió",
			"El plazo de aceptación de la oferta formulada por {colega} finaliza el {pago}",
		},
	},
	{
		series: disclosure.OIR, category: "Ofertas públicas de suscripción y venta",
		who: listed, weight: 4,
		subjects: []string{
			"Fin del periodo de estabilización de la oferta y ejercicio parcial de la opción de sobreasignación",
			"Precio de la oferta de suscripción fijado en {precio} euros por acción",
			"Aprobado el folleto informativo de la oferta pública de suscripción de {bloque} acciones",
		},
	},
	{
		series: disclosure.OIR, category: "Sobre suspensiones, levantamientos y exclusiones de negociación",
		who: listed, weight: 11,
		subjects: []string{
			"Se suspende cautelarmente, con efectos inmediatos, la negociación de las acciones de {nombre}",
			"Se levanta, con efectos desde las {9-16}:30 horas, la suspensión de la negociación de las acciones de {nombre}",
			"La Sociedad Rectora anuncia la exclusión de negociación de las obligaciones de {nombre} con vencimiento en {vencimiento}, con efectos del {pago/}, inclusive",
		},
	},
}
