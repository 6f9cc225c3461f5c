package market

// Nothing here is real. The places are invented and stand on no map, so that
// no combination of a trade and a place can be the name of a company, and the
// second surname of every person is invented too.

// places name companies and say where things happen.
var places = []string{
	"Valdebrisa", "Fuentelmirlo", "Torrealmena", "Campoluengo", "Piedraluenga", "Sotohondo", "Cerroquedo", "Valdeterna",
	"Montecárdeno", "Navalbruma", "Villarcierzo", "Hoyalmiral", "Castrolumbre", "Miralcierzo", "Guadalbrera", "Alcorzuela",
	"Benicarza", "Torredalba", "Valcorzo", "Riotemplado", "Sierralbina", "Puertocalmo", "Peñaventisca", "Robledoscuro",
	"Aldealcotán", "Fresnomalo", "Matalbornoz", "Quintanarroya", "Retamalejo", "Tamarizar", "Urdanabe", "Zarzaluenga",
	"Arcentera", "Brañacerval", "Cantalmoro", "Dehesabril", "Encinarrota", "Garzapinos", "Herradalba", "Isorbeta",
	"Jarandeta", "Losarcillo", "Norabuena", "Orcalejo", "Palomarisco", "Rocalmenara", "Sabinarejo", "Trasmulera",
	"Valverdún", "Mirandolar", "Carracedón", "Ollavieja", "Pradorrubio", "Lindosoto", "Ventalhoyo", "Espinavela",
	"el Alto Breñal", "la Sierra Albina", "el Bajo Tormenal", "la Vega Cárdena", "las Hoces Pardas", "el Valle Almagreño",
	"la Ribera Zarca", "la Costa Umbría", "el Cabo Tirseno", "los Llanos Rucios",
}

// houses are the brands of managers and of their funds.
var houses = []string{
	"Ardazul", "Belcarrón", "Corvalma", "Duernega", "Espalmeda", "Fermontia", "Galdabeza", "Hontovar", "Iralmonte", "Jadrelar",
	"Lumbrazal", "Marcovelda", "Nerpial", "Ortegalia", "Pardovena", "Quirolba", "Rebolmar", "Sanzuelda", "Tornavalle", "Urbeltza",
	"Vescarino", "Xaldemar", "Yerbalosa", "Zumelarre", "Almocázar", "Brincalba", "Cendalmar", "Drovelia", "Estrevalga", "Furcalda",
	"Grisalba", "Huelmarín", "Incaldera", "Jorcalia", "Lastrovar", "Mondarruela", "Navicorta", "Olmerada", "Pelmanar", "Rascalbero",
}

// sector is a trade: how its companies are called and what news they have.
type sector struct {
	weight int
	names  []string // followed by the place: Bodegas de Valdebrisa
	brands []string // preceded by it: Valdebrisa Alimentación
	form   string   // the legal form, where it is not the usual one
	news   []string // what "la sociedad informa sobre" may go on with
}

const (
	socimi  = ", SOCIMI, S.A."
	insurer = ", S.A., COMPAÑÍA DE SEGUROS Y REASEGUROS"
)

// sectors begin with the banks, whose loans the securitisation funds hold.
var sectors = []sector{
	{
		weight: 10,
		names:  []string{"Banco", "Crédito y Ahorro", "Banca Mercantil"},
		news: []string{
			"la emisión de cédulas hipotecarias por importe de {importe} millones de euros",
			"la venta de una cartera de préstamos dudosos por un importe bruto de {importe} millones de euros",
			"los requisitos prudenciales mínimos de capital aplicables durante {proximo}",
			"la amortización anticipada de participaciones preferentes eventualmente convertibles",
			"el cierre de {12-90} oficinas y el acuerdo alcanzado con la representación de los trabajadores",
			"el resultado del ejercicio de transparencia sobre la exposición al sector inmobiliario",
		},
	},
	{
		weight: 22,
		names:  []string{"Energías", "Renovables", "Hidroeléctrica", "Parques Eólicos", "Gas y Calor", "Saltos de Agua", "Fotovoltaica"},
		brands: []string{"Energía", "Hidráulica"},
		news: []string{
			"la puesta en servicio de un parque eólico de {20-180} MW en {lugar}",
			"la firma de un contrato de compraventa de energía a {8-15} años con {empresa}",
			"la declaración de impacto ambiental favorable de {60-450} MW fotovoltaicos en {lugar}",
			"la venta del 49 % de una cartera de {80-600} MW renovables por {importe} millones de euros",
			"el cierre de la financiación de una planta de almacenamiento en baterías de {20-120} MW",
		},
	},
	{
		weight: 18,
		names:  []string{"Construcciones", "Obras y Puertos", "Cementos", "Canteras", "Puentes y Túneles", "Firmes y Caminos"},
		brands: []string{"Infraestructuras", "Ingeniería"},
		news: []string{
			"la adjudicación de las obras de la estación depuradora {delugar} por {importe} millones de euros",
			"la adjudicación, en consorcio con {colega}, de un tramo de {8-42} kilómetros de autovía en {lugar}",
			"la cartera de obra contratada, que asciende a {importe} millones de euros",
			"la resolución de un arbitraje internacional por el que percibirá {importe} millones de euros",
			"la finalización de las obras del puerto deportivo {delugar}",
		},
	},
	{
		weight: 20,
		names:  []string{"Almazaras", "Bodegas", "Conservas", "Harinas", "Azucarera", "Lácteos", "Salinas", "Cítricos y Hortalizas"},
		brands: []string{"Alimentación", "Agroindustrial"},
		news: []string{
			"la compra de una planta de envasado en {lugar} por {importe} millones de euros",
			"la evolución de la campaña y el incremento del {pct} % en las ventas a exportación",
			"la firma de un acuerdo de suministro a {2-6} años con {colega}",
			"el impacto de la sequía en el volumen de producción de la campaña {campana}",
			"el inicio de la comercialización de sus productos en {3-14} nuevos mercados",
		},
	},
	{
		weight: 16,
		names:  []string{"Aceros", "Fundiciones", "Laminados", "Forjas", "Minas", "Altos Hornos", "Componentes Mecánicos"},
		brands: []string{"Siderurgia", "Metales"},
		news: []string{
			"la inversión de {importe} millones de euros en un nuevo horno eléctrico en {lugar}",
			"la apertura de un expediente de regulación temporal de empleo en la planta {delugar}",
			"la reanudación de la producción en la planta {delugar} tras la parada técnica",
			"la firma de un contrato plurianual de suministro con {colega}",
			"la obtención del permiso de explotación de un yacimiento de cobre en {lugar}",
		},
	},
	{
		weight: 13,
		names:  []string{"Papelera", "Cartonajes", "Celulosas", "Vidrieras", "Envases"},
		brands: []string{"Papel", "Embalajes"},
		news: []string{
			"la puesta en marcha de una nueva máquina con capacidad para {40-320} mil toneladas anuales",
			"la subida de precios del {pct} % aplicable a sus productos a partir del {pago}",
			"la paralización de la planta {delugar} por labores de mantenimiento",
			"la compra de derechos de emisión por importe de {importe} millones de euros",
		},
	},
	{
		weight: 18,
		names:  []string{"Laboratorios", "Biofármacos", "Química", "Hemoderivados", "Diagnósticos"},
		brands: []string{"Farma", "Terapias"},
		news: []string{
			"los resultados positivos del ensayo clínico de fase {fase} de su candidato {codigo}",
			"la presentación a las autoridades sanitarias de la solicitud de autorización de {codigo}",
			"la firma de un acuerdo de licencia de {codigo} con {colega}, con un pago inicial de {importe} millones de euros",
			"la designación de medicamento huérfano para {codigo}",
			"la interrupción del ensayo clínico de fase {fase} de {codigo} por falta de eficacia",
		},
	},
	{
		weight: 18,
		names:  []string{"Sistemas y Redes", "Telecomunicaciones", "Fibra Óptica", "Centros de Cómputo", "Cibernética", "Satélites"},
		brands: []string{"Telecom", "Tecnología"},
		news: []string{
			"la adjudicación de un contrato de servicios digitales por {importe} millones de euros",
			"el despliegue de fibra óptica en {12-160} municipios y el alcance de {40-900} mil hogares",
			"la puesta en marcha de un centro de proceso de datos de {6-60} MW en {lugar}",
			"la firma de una alianza comercial con {colega} en el ámbito de la ciberseguridad",
			"un incidente de seguridad informática sin impacto significativo en su actividad",
		},
	},
	{
		weight: 17,
		names:  []string{"Ferrovías", "Astilleros", "Naviera", "Transportes y Consignas", "Almacenes Logísticos", "Autobuses"},
		brands: []string{"Logística", "Naval"},
		news: []string{
			"la adjudicación del suministro y mantenimiento de {8-64} trenes por {importe} millones de euros",
			"la botadura de un buque de apoyo a parques eólicos marinos construido en {lugar}",
			"la firma de un contrato de distribución a {3-7} años con {empresa}",
			"la ampliación de la terminal de mercancías {delugar}",
			"la concesión del servicio de transporte de viajeros {delugar} por un plazo de {8-15} años",
		},
	},
	{
		weight: 13,
		names:  []string{"Hoteles", "Balnearios", "Posadas y Fondas", "Viajes"},
		brands: []string{"Hoteles y Resorts"},
		news: []string{
			"la incorporación de {2-11} hoteles en régimen de alquiler en {lugar}",
			"el incremento del {pct} % en los ingresos por habitación disponible",
			"la venta y posterior arrendamiento de un hotel en {lugar} por {importe} millones de euros",
			"la firma de una alianza comercial con {colega}",
		},
	},
	{
		weight: 22, form: socimi,
		names:  []string{"Inmuebles", "Rentas Urbanas", "Edificios y Alquileres", "Solares y Rentas", "Locales Comerciales"},
		brands: []string{"Patrimonio", "Oficinas"},
		news: []string{
			"la compra de un edificio de oficinas en {lugar} por {importe} millones de euros",
			"la valoración de su cartera inmobiliaria, que asciende a {importe} millones de euros",
			"la venta de {2-14} activos no estratégicos por un importe superior a su valor en libros",
			"la firma de un contrato de arrendamiento de {4-60} mil metros cuadrados con {empresa}",
			"la firma con {unbanco} de un préstamo hipotecario a {5-12} años por importe de {importe} millones de euros",
		},
	},
	{
		weight: 4, form: insurer,
		names:  []string{"Aseguradora", "Previsión", "Vida y Rentas"},
		brands: []string{"Seguros"},
		news: []string{
			"el informe sobre la situación financiera y de solvencia, con una ratio del {160-240} %",
			"la firma de un acuerdo de distribución de seguros en exclusiva con {unbanco}",
			"el impacto estimado de las inundaciones, que asciende a {importe} millones de euros",
		},
	},
	{
		weight: 10,
		names:  []string{"Tejidos", "Curtidos", "Calzados", "Sederías"},
		brands: []string{"Moda"},
		news: []string{
			"la apertura de {6-48} tiendas en {2-9} países durante el ejercicio {ano}",
			"el incremento del {pct} % en las ventas a superficie comparable",
			"el cierre de la fábrica {delugar} y el traslado de su producción",
			"la firma de un contrato de franquicia con {colega}",
		},
	},
	{
		weight: 7,
		names:  []string{"Prensa y Radio", "Ediciones", "Estudios Cinematográficos"},
		brands: []string{"Comunicación"},
		news: []string{
			"la venta de sus emisoras en {lugar} por {importe} millones de euros",
			"la evolución de los ingresos publicitarios, que descienden un {pct} %",
			"la firma de un acuerdo de coproducción con {colega}",
		},
	},
}

// securities are the lines of securitisation funds, with their legal form.
var securities = []struct{ line, form string }{
	{"Hipotecario", "Fondo de Titulización Hipotecaria"},
	{"Hipotecario", "Fondo de Titulización de Activos"},
	{"Vivienda", "Fondo de Titulización"},
	{"Consumo", "Fondo de Titulización"},
	{"Pymes", "Fondo de Titulización de Activos"},
	{"Empresas", "Fondo de Titulización"},
	{"Auto", "Fondo de Titulización"},
	{"Arrendamientos", "Fondo de Titulización"},
	{"Cédulas", "Fondo de Titulización de Activos"},
}

// policies are what investment funds invest in.
var policies = []string{
	"Renta Fija Corto Plazo", "Renta Fija Flexible", "Renta Fija Alto Rendimiento", "Bolsa Española", "Bolsa Europa", "Bolsa Global",
	"Bolsa Mercados Emergentes", "Mixto Prudente", "Mixto Equilibrado", "Mixto Decidido", "Pequeñas Compañías", "Dividendo",
	"Garantizado Otoño", "Rentas 2029", "Objetivo 2028", "Objetivo 2031", "Tecnología", "Salud", "Sostenible Global",
	"Monetario Euro", "Deuda Pública", "Retorno Absoluto", "Selección de Fondos", "Índice Europa", "Infraestructuras",
}

var (
	women    = []string{"Leonor", "Beatriz", "Inés", "Mercedes", "Elvira", "Carmen", "Nuria", "Amaya", "Rocío", "Teresa", "Pilar", "Olalla"}
	men      = []string{"Gonzalo", "Álvaro", "Íñigo", "Rodrigo", "Tomás", "Jaime", "Fernando", "Ramón", "Andrés", "Eduardo", "Julián", "Mateo"}
	surnames = []string{"Ruiz", "Ortega", "Navarro", "Gil", "Serrano", "Molina", "Castaño", "Pardo", "Crespo", "Lozano", "Vidal", "Arias"}
	second   = []string{"Valdecierzo", "Cantalmoro", "Torrealmena", "Hoyalmiral", "Belcarrón", "Iralmonte", "Zumelarre", "Galdabeza", "Quirolba", "Urdanabe"}
	posts    = []struct{ woman, man string }{
		{"consejera independiente", "consejero independiente"},
		{"consejera independiente", "consejero independiente"},
		{"consejera dominical", "consejero dominical"},
		{"consejera ejecutiva", "consejero ejecutivo"},
		{"presidenta no ejecutiva", "presidente no ejecutivo"},
		{"consejera delegada", "consejero delegado"},
		{"directora financiera", "director financiero"},
		{"secretaria no consejera", "secretario no consejero"},
	}
)

// The invented trades around the market: who rates, who deals, who audits.
var (
	agencies = []string{"Baremo Calificación Crediticia", "Ponderal Ratings", "Cotejo Ratings"}
	brokers  = []string{"Bolsín de Castrolumbre, S.V., S.A.", "Corro de Valores Torredalba, S.V., S.A.", "Parqué Iralmonte, A.V., S.A."}
	auditors = []string{"Cotejo y Arqueo Auditores, S.L.P.", "Balanza de Valcorzo Auditores, S.L.P.", "Punteo Auditores, S.L.P."}
	grades   = []string{"AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+", "B"}
)

// noTickers are given to nobody: they belong to real shares, or are words that
// nobody would want to be quoted under.
var noTickers = []string{
	"CACA", "COCA", "PEDO", "ISIN", "EDPR",
	"A3M", "ACS", "ACX", "ADZ", "AEDAS", "AENA", "AI", "AIR", "ALB", "ALC", "ALM", "ALNT", "AMP", "AMS", "ANA", "ANE", "APAM", "APG",
	"ART", "ATRY", "AZK", "BAIN", "BAV", "BBVA", "BDL", "BIO", "BKT", "BKY", "CABK", "CAF", "CASH", "CBAV", "CCEP", "CIE", "CIRSA",
	"CLEO", "CLNX", "COL", "COXG", "CUN", "DESA", "DIA", "DOM", "EBRO", "ECR", "EDR", "EKT", "ELE", "ENC", "ENG", "ENO", "ENRS",
	"EZE", "FAE", "FCC", "FDR", "FER", "GALQ", "GAM", "GCO", "GEST", "GIGA", "GRE", "GRF", "GSJ", "HBX", "HOME", "IAG", "IBE", "IBG",
	"IDR", "INC", "INSUR", "ISE", "ISUR", "ITX", "IZER", "LDA", "LGT", "LIB", "LLYC", "LOG", "LRE", "MAKS", "MAP", "MCM", "MDF",
	"MEL", "MRL", "MTB", "MTS", "MVC", "NEA", "NHH", "NTC", "NTGY", "NXT", "NYE", "OHLA", "OLE", "ORY", "PAR", "PHM", "PRS", "PSG",
	"PUIG", "PVA", "QBT", "R4", "RED", "REE", "REN", "REP", "RJF", "RLIA", "ROVI", "SAB", "SAI", "SAN", "SCYR", "SLR", "SNG", "SOL",
	"SPS", "SQRL", "STG", "TEF", "TLGO", "TRE", "TRG", "TUB", "UBS", "UNI", "VID", "VIS", "VOC", "YTRA",
}
