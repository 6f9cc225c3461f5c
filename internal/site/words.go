package site

import "maps"

// texts are texts of the pages by their keys, in Spanish and in English.
type texts map[string][2]string

// words are all texts. A page with many has them next to its handler.
var words = func() texts {
	all := texts{}
	for _, some := range []texts{common, reportWords, searchWords, analyticsWords, issuerWords, developerWords, statusWords} {
		maps.Copy(all, some)
	}
	return all
}()

// common are the texts of all pages.
var common = texts{
	"site.name":     {"Pregón", "Pregón"},
	"skip":          {"Ir al contenido", "Skip to the content"},
	"nav":           {"Secciones", "Sections"},
	"nav.feed":      {"Comunicaciones", "Disclosures"},
	"nav.issuers":   {"Emisores", "Issuers"},
	"nav.analytics": {"Analítica", "Analytics"},
	"nav.dev":       {"API", "API"},
	"nav.status":    {"Estado", "Status"},
	"nav.language":  {"Idioma", "Language"},
	"home":          {"Inicio", "Home"},

	"banner.label": {"Aviso", "Notice"},
	"banner.title": {"Mercado simulado.", "Simulated market."},
	"banner.text": {
		"Todo lo que aquí se lee es ficticio: no se ha registrado en ningún supervisor.",
		"Everything you read here is fictional: none of it was filed with any regulator.",
	},

	"search.label":       {"Buscar comunicaciones y emisores", "Search disclosures and issuers"},
	"search.placeholder": {"Sociedad, ticker, tema o número", "Company, ticker, subject or number"},
	"search.button":      {"Buscar", "Search"},
	"suggest.none":       {"Sin sugerencias: pulse Intro para buscar", "No suggestions: press Enter to search"},

	"state.live":     {"En directo", "Live"},
	"state.quiet":    {"En calma", "Quiet"},
	"state.degraded": {"Con limitaciones", "Degraded"},
	"state.starting": {"Empezando", "Starting"},
	"state.blind":    {"Fuente inaccesible", "Source unreachable"},
	"state.off":      {"Archivo", "Archive"},
	"state.about":    {"Estado de la fuente", "State of the source"},

	"type.IP":  {"Información privilegiada", "Inside information"},
	"type.HR":  {"Hecho relevante", "Significant event"},
	"type.OIR": {"Otra información relevante", "Other relevant information"},

	"kinds.company": {"Sociedades", "Companies"},
	"kinds.fund":    {"Fondos", "Funds"},
	"kinds.manager": {"Gestoras", "Managers"},
	"kinds.other":   {"Otras entidades", "Other entities"},

	"today":       {"hoy", "today"},
	"yesterday":   {"ayer", "yesterday"},
	"ago.now":     {"ahora", "just now"},
	"ago.minutes": {"hace %s min", "%s min ago"},
	"days":        {"%s días", "%s days"},
	"madrid":      {"hora de Madrid", "Madrid time"},
	"all":         {"Todas", "All"},
	"any":         {"Cualquiera", "Any"},

	"feed.title":       {"Comunicaciones de la CNMV al momento", "CNMV disclosures as they are filed"},
	"feed.heading":     {"Últimas comunicaciones", "Latest disclosures"},
	"feed.description": {"Información privilegiada, hechos relevantes y otra información relevante de los emisores españoles, en cuanto se registran.", "Inside information and other relevant information of Spanish issuers, as soon as they are filed."},
	"feed.new.one":     {"%s nueva", "%s new"},
	"feed.new.other":   {"%s nuevas", "%s new"},
	"feed.more":        {"Hay más comunicaciones nuevas: recargar", "There are more new disclosures: reload"},
	"feed.offline":     {"Sin conexión. Se vuelve a intentar.", "No connection. Trying again."},
	"feed.noscript":    {"Recargue la página para ver las nuevas.", "Reload the page to see new ones."},
	"feed.empty":       {"Ninguna comunicación cumple estas condiciones.", "No disclosure meets these conditions."},
	"feed.empty.help":  {"Quite alguna condición, o busque el nombre o el ticker del emisor.", "Remove a condition, or search for the name or ticker of the issuer."},
	"feed.past":        {"No hay más comunicaciones: esta página está más allá del final.", "There are no more disclosures: this page is past the end."},
	"feed.corrected":   {"Rectificada", "Corrected"},
	"feed.suspect":     {"Fecha dudosa", "Doubtful date"},
	"feed.together":    {"Comunicadas a la vez", "Filed together"},
	"feed.pace":        {"Ritmo de hoy", "Today’s pace"},
	"feed.pace.text":   {"%s comunicaciones hasta ahora; lo habitual a esta hora son %s.", "%s disclosures so far; %s are usual by this time."},
	"feed.active":      {"Más activos en 30 días", "Most active in 30 days"},
	"feed.follow":      {"Seguir", "Follow"},
	"reports.one":      {"%s comunicación", "%s disclosure"},
	"reports.other":    {"%s comunicaciones", "%s disclosures"},
	"simulated":        {"Simulación", "Simulation"},

	"page.newer":  {"Más recientes", "Newer"},
	"page.older":  {"Anteriores", "Older"},
	"page.newest": {"Las últimas", "Newest"},
	"pages":       {"Páginas", "Pages"},
	"page.number": {"Página %d", "Page %d"},

	"filter.types":    {"Tipo de comunicación", "Type of disclosure"},
	"filter.without":  {"Sin fondos de titulización", "Without securitisation funds"},
	"filter.more":     {"Más filtros", "More filters"},
	"filter.apply":    {"Aplicar", "Apply"},
	"filter.clear":    {"Quitar todo", "Clear all"},
	"filter.remove":   {"Quitar: %s", "Remove: %s"},
	"filter.search":   {"Texto", "Text"},
	"filter.issuer":   {"Emisor", "Issuer"},
	"filter.kind":     {"Clase de emisor", "Kind of issuer"},
	"filter.category": {"Categoría", "Category"},
	"filter.market":   {"Mercado", "Market"},
	"filter.from":     {"Desde", "From"},
	"filter.to":       {"Hasta", "To"},

	"footer.source":  {"Fuente", "Source"},
	"footer.asfiled": {"Se reproduce lo registrado, sin alterarlo. La misma información se obtiene gratis en la web de la CNMV.", "Reproduced as filed. The information can be obtained free of charge at the web site of the CNMV."},
	"footer.demo":    {"Las comunicaciones verdaderas se obtienen gratis en la web de la CNMV.", "The real disclosures can be obtained free of charge at the web site of the CNMV."},

	"error.back":       {"Ir a las últimas comunicaciones", "Go to the latest disclosures"},
	"error.id":         {"Identificador de la petición: %s", "Id of this request: %s"},
	"unknown.category": {"No se conoce ninguna categoría «%s». Quizá buscaba:", "No category “%s” is known. Perhaps you meant:"},
	"unknown.market":   {"No se conoce ningún mercado «%s». Quizá buscaba:", "No market “%s” is known. Perhaps you meant:"},
	"unknown.issuer":   {"No se conoce ningún emisor «%s», o hay varios. Quizá buscaba:", "No issuer “%s” is known, or there are several. Perhaps you meant:"},
	"error.400":        {"La petición no es válida", "The request is not valid"},
	"error.401":        {"La credencial no es válida", "The credential is not valid"},
	"error.403":        {"Sin permiso", "Not allowed"},
	"error.404":        {"Aquí no hay nada", "There is nothing here"},
	"error.429":        {"Demasiadas peticiones", "Too many requests"},
	"error.500":        {"Algo ha fallado por nuestra parte", "Something went wrong on our side"},
	"error.503":        {"No disponible en este momento", "Not available right now"},
	"error.other":      {"La petición no se ha podido atender", "The request could not be answered"},
	"error.404.do":     {"La página puede haber cambiado de dirección. Busque la comunicación o el emisor.", "The page may have moved. Search for the disclosure or the issuer."},
	"error.500.do":     {"Vuelva a intentarlo. Si se repite, díganos el identificador de la petición.", "Try again. If it happens again, tell us the id of the request."},
	"error.429.do":     {"Espere unos segundos y vuelva a intentarlo.", "Wait a few seconds and try again."},
	"error.503.do":     {"Vuelva a intentarlo en unos segundos.", "Try again in a few seconds."},
	"loading.title":    {"Cargando", "Loading"},
	"loading.text":     {"El servicio está cargando las comunicaciones. Esta página se recarga sola en unos segundos.", "The service is loading the disclosures. This page reloads by itself in a few seconds."},
}
