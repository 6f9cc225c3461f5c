package site

import (
	"embed"
	"net/url"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/rest/openapi"
)

// samples are programs that pages show. Tests run them.
//
//go:embed samples
var samples embed.FS

// snippet is a text to copy.
type snippet struct{ ID, Name, Text string }

// sample returns an embedded program for a service at an address.
func (s *Site) sample(id, name, file string) snippet {
	text, err := samples.ReadFile("samples/" + file)
	if err != nil {
		panic(err) // a name here is wrong
	}
	return snippet{ID: id, Name: name, Text: strings.TrimSpace(strings.ReplaceAll(string(text), "BASE", s.BaseURL))}
}

// developersPage is the guide for developers.
type developersPage struct {
	developersMenu
	Base      string
	Curl      snippet
	Quick     []snippet
	Stream    snippet
	Resume    snippet
	Changes   snippet
	Webhook   snippet
	Receivers []snippet
	Clients   []mcpClient
	Limit     *limit
	Scopes    []string
	Source    query.Attribution
	Demo      bool
}

// limit is the limit of callers without a credential.
type limit struct{ Requests, Seconds int }

// mcpClient is a client of the MCP server, and how it is set up.
type mcpClient struct {
	Name, Help string // Help is the key of a text
	Snippets   []snippet
}

// developersMenu leads to the pages of the reference.
type developersMenu struct {
	Groups []operationGroup
	Tag    string // of this page
}

// operationGroup are the operations with a tag.
type operationGroup struct {
	Tag, Name, URL string
	About          string // in English
	Operations     []operationLink
	Selected       bool
}

// operationLink is a line of the list of operations.
type operationLink struct {
	*openapi.Operation
	URL string
}

func (s *Site) developersMenu(q *request, selected string) developersMenu {
	out := developersMenu{Tag: selected}
	for _, tag := range s.api.Tags {
		g := operationGroup{
			Tag:      tag.Name,
			Name:     q.edition.tagName(tag.Name),
			About:    tag.Description,
			Selected: tag.Name == selected,
			URL:      q.edition.Link("/developers/" + url.PathEscape(tag.Name)),
		}
		for _, op := range s.api.Tagged(tag.Name) {
			g.Operations = append(g.Operations, operationLink{op, g.URL + "#" + url.PathEscape(op.ID)})
		}
		if len(g.Operations) > 0 {
			out.Groups = append(out.Groups, g)
		}
	}
	return out
}

// tagName returns the name of a group of operations.
func (e Edition) tagName(tag string) string {
	if key := known("dev.tag."+tag, ""); key != "" {
		return e.Text(key)
	}
	return tag
}

// anonymousLimit returns the limit of callers without a credential, or nil.
func (s *Site) anonymousLimit() *limit {
	if l := s.Query.Limit; l != nil {
		return &limit{l.Policy.Limit, int(l.Window.Seconds())}
	}
	return nil
}

// developers is the guide.
func (s *Site) developers(q *request) (*page, error) {
	data := &developersPage{
		developersMenu: s.developersMenu(q, ""),
		Base:           s.BaseURL,
		Curl:           s.sample("quick-curl", "curl", "reports.sh"),
		Quick: []snippet{
			s.sample("quick-python", "Python", "reports.py"), s.sample("quick-js", "JavaScript", "reports.mjs"), s.sample("quick-go", "Go", "reports.go.txt"),
		},
		Stream:  s.sample("stream", "curl", "stream.sh"),
		Resume:  s.sample("resume", "curl", "resume.sh"),
		Changes: s.sample("changes", "Python", "changes.py"),
		Webhook: s.sample("webhook", "curl", "webhook.sh"),
		Receivers: []snippet{
			s.sample("receiver-go", "Go", "receiver.go.txt"), s.sample("receiver-python", "Python", "receiver.py"), s.sample("receiver-js", "JavaScript", "receiver.mjs"),
		},
		Clients: s.mcpClients(),
		Limit:   s.anonymousLimit(),
		Scopes:  access.AllScopes.Names(),
		Source:  s.Query.Attribution(),
		Demo:    s.Query.Simulated(),
	}
	return &page{
		template:    "developers",
		Title:       q.edition.Text("dev.title"),
		Description: q.edition.Text("dev.description"),
		Data:        data,
	}, nil
}

// mcpClients returns the usual clients; the same as docs/mcp.md.
func (s *Site) mcpClients() []mcpClient {
	return []mcpClient{
		{Name: "Claude", Help: "dev.mcp.claude", Snippets: []snippet{{ID: "mcp-url", Name: "URL", Text: s.BaseURL + access.MCPPath}}},
		{Name: "Claude Code", Help: "dev.mcp.code", Snippets: []snippet{s.sample("mcp-claude-code", "sh", "mcp-claude-code.sh")}},
		{Name: "ChatGPT", Help: "dev.mcp.chatgpt"},
		{Name: "VS Code", Help: "dev.mcp.vscode", Snippets: []snippet{s.sample("mcp-vscode", ".vscode/mcp.json", "mcp-vscode.json")}},
		{Name: "Cursor", Help: "dev.mcp.cursor", Snippets: []snippet{s.sample("mcp-cursor", ".cursor/mcp.json", "mcp-cursor.json")}},
		{Name: "Gemini CLI", Help: "dev.mcp.gemini", Snippets: []snippet{s.sample("mcp-gemini", "sh", "mcp-gemini.sh")}},
		{Name: "Goose", Help: "dev.mcp.goose", Snippets: []snippet{s.sample("mcp-goose", "config.yaml", "mcp-goose.yaml")}},
	}
}

// referencePage is the reference of the operations with a tag.
type referencePage struct {
	developersMenu
	Group      operationGroup
	Operations []operationDetail
}

// operationDetail is an operation in the reference.
type operationDetail struct {
	*openapi.Operation
	api  *openapi.Document
	Curl snippet
}

// Kind describes the values of a parameter.
func (o operationDetail) Kind(p openapi.Parameter) string { return o.api.Kind(p.Schema) }

// Example returns an example as a text to copy.
func (o operationDetail) Example(r openapi.Response) snippet {
	return snippet{ID: o.ID + "-" + r.Status, Name: strings.Join(r.Types, ", "), Text: r.Example}
}

// conventionsTag is the name of the page of the introduction. No tag has it.
const conventionsTag = "conventions"

// reference is the reference of one tag.
func (s *Site) reference(q *request) (*page, error) {
	tag := q.PathValue("tag")
	if tag == conventionsTag {
		return s.conventions(q)
	}
	data := &referencePage{developersMenu: s.developersMenu(q, tag)}
	for _, g := range data.Groups {
		if g.Selected {
			data.Group = g
		}
	}
	if data.Group.Tag == "" {
		return nil, fault.New(fault.NotFound, "There is no page of the reference with this name.")
	}
	for _, op := range s.api.Tagged(tag) {
		data.Operations = append(data.Operations, operationDetail{op, s.api, s.curl(op)})
	}
	return &page{
		template:    "reference",
		Title:       q.edition.Text("dev.reference.title", data.Group.Name),
		Description: data.Group.About,
		Data:        data,
	}, nil
}

// curl returns a command that calls an operation.
func (s *Site) curl(op *openapi.Operation) snippet {
	path := op.Path
	values := url.Values{}
	optional := 1 // all examples at once would find nothing
	for _, p := range op.Parameters {
		examples := p.Samples()
		switch {
		case len(examples) == 0:
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(examples[0]))
		case p.In == "query" && (p.Required || optional > 0):
			values.Set(p.Name, examples[0])
			if !p.Required {
				optional--
			}
		}
	}
	command := "curl"
	if op.Method != "GET" && op.BodyExample == "" {
		command += " -X " + op.Method
	}
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	command += " '" + s.BaseURL + path + "'"
	if op.NeedsCredential {
		command += " \\\n  -H \"X-API-Key: $PREGON_KEY\""
	}
	if op.BodyExample != "" {
		if op.Method != "POST" {
			command += " -X " + op.Method
		}
		command += " \\\n  -H 'Content-Type: " + op.BodyType + "' \\\n  -d '" + strings.ReplaceAll(op.BodyExample, "'", `'\''`) + "'"
	}
	return snippet{ID: op.ID + "-curl", Name: "curl", Text: command}
}

// conventionsPage is the introduction of the reference.
type conventionsPage struct {
	developersMenu
	Blocks []block
	Errors []openapi.Response
}

func (s *Site) conventions(q *request) (*page, error) {
	requests := 0
	if l := s.anonymousLimit(); l != nil {
		requests = l.Requests
	}
	text, err := s.api.Introduction(requests)
	if err != nil {
		return nil, err
	}
	data := &conventionsPage{developersMenu: s.developersMenu(q, conventionsTag), Blocks: prose(text), Errors: s.api.Errors()}
	title := q.edition.Text("dev.conventions")
	return &page{
		template:    "conventions",
		Title:       q.edition.Text("dev.reference.title", title),
		Description: s.api.Info.Summary,
		Data:        data,
	}, nil
}

// developerWords are the texts of the pages for developers.
var developerWords = texts{
	"dev.title":            {"API para desarrolladores", "API for developers"},
	"dev.description":      {"Cómo leer las comunicaciones desde un programa: API REST, flujos, webhooks y MCP.", "How to read the disclosures from a program: REST API, streams, webhooks and MCP."},
	"dev.lead":             {"Todo lo que muestra este sitio, para programas: en JSON o CSV, por flujo, por webhook o desde un asistente. Leer no requiere registro.", "Everything on this site, for programs: as JSON or CSV, by stream, by webhook or from an assistant. Reading needs no registration."},
	"dev.menu":             {"Secciones de esta guía", "Sections of this guide"},
	"dev.guide":            {"Guía", "Guide"},
	"dev.reference":        {"Referencia", "Reference"},
	"dev.reference.title":  {"%s: referencia de la API", "%s: API reference"},
	"dev.reference.text":   {"Cada operación con sus parámetros, campos, ejemplos y errores. También como documento OpenAPI:", "Every operation with its parameters, fields, examples and errors. Also as an OpenAPI document:"},
	"dev.conventions":      {"Convenciones", "Conventions"},
	"dev.conventions.text": {"Búsqueda, credenciales, errores, CSV, caché y versiones.", "Searching, credentials, errors, CSV, caching and versions."},
	"dev.key":              {"clave", "key"},
	"dev.key.needed":       {"Requiere una clave o un token", "Needs a key or token"},
	"dev.quick":            {"Empezar", "Quick start"},
	"dev.quick.text":       {"Las cinco últimas comunicaciones de información privilegiada. Se puede pegar tal cual.", "The five newest disclosures of inside information. It can be pasted as it is."},
	"dev.quick.other":      {"Lo mismo en otros lenguajes, sin más que su biblioteca estándar:", "The same in other languages, with only their standard libraries:"},
	"dev.streams":          {"Flujos", "Streams"},
	"dev.streams.text":     {"Cada cambio llega como evento (Server-Sent Events) a los milisegundos. Los filtros son los de las listas: lo que una búsqueda encuentra, un flujo con esa búsqueda lo entrega.", "Every change arrives as an event (Server-Sent Events) within milliseconds. The filters are those of lists: what a search finds, a stream with that search delivers."},
	"dev.streams.resume":   {"El id de cada evento es su cursor. Guarde el último que haya procesado: con él se continúa sin huecos ni repeticiones, también desde un webhook o desde la lista de cambios.", "The id of an event is its cursor. Keep the last one that you processed: it continues without gaps or repetitions, also in a webhook or in the list of changes."},
	"dev.streams.changes":  {"Sin flujos, la lista de cambios espera hasta 25 segundos a que haya alguno:", "Without streams, the list of changes waits up to 25 seconds for one:"},
	"dev.webhooks":         {"Webhooks", "Webhooks"},
	"dev.webhooks.text":    {"El servicio envía cada cambio a una dirección suya y lo reintenta durante unos tres días. La respuesta a la creación contiene el secreto (whsec_…), que no se vuelve a mostrar.", "The service sends every change to an address of yours, and retries for about three days. The response to the creation has the secret (whsec_…), which is not shown again."},
	"dev.webhooks.verify":  {"Compruebe la firma de cada petición antes de creerla. Son las de Standard Webhooks: HMAC-SHA256 de «id.instante.cuerpo». Tras renovar el secreto se firma con los dos durante 24 horas. Estos receptores están completos, y nuestras pruebas los ejecutan:", "Verify the signature of every request before you trust it. They are those of Standard Webhooks: HMAC-SHA256 of “id.timestamp.body”. After a rotation of the secret, both sign for 24 hours. These receivers are complete, and our tests run them:"},
	"dev.webhooks.answer":  {"Responda 2xx en menos de 15 segundos. Cualquier otra respuesta se reintenta; 410 desactiva el webhook. El webhook-id es el mismo en cada intento: guarde los ya procesados.", "Answer 2xx within 15 seconds. Any other answer is retried; 410 disables the webhook. The webhook-id is the same at each attempt: store those that you have processed."},
	"dev.mcp":              {"Asistentes (MCP)", "Assistants (MCP)"},
	"dev.mcp.text":         {"Los asistentes que hablan Model Context Protocol consultan el servicio directamente. La clave es opcional: abre el texto de los documentos y quita el límite.", "Assistants that speak the Model Context Protocol query the service directly. A key is optional: it opens the texts of documents and lifts the limit."},
	"dev.mcp.claude":       {"Customize → Connectors → Add custom connector: un nombre y esta dirección. Se conecta desde los servidores del proveedor, así que debe ser pública.", "Customize → Connectors → Add custom connector: a name and this address. It connects from the vendor’s servers, so it must be public."},
	"dev.mcp.code":         {"La segunda línea es la primera con clave.", "The second line is the first one with a key."},
	"dev.mcp.chatgpt":      {"En chatgpt.com/plugins, +, Add custom MCP server: un nombre, la misma dirección y No authentication. No puede enviar claves.", "At chatgpt.com/plugins, +, Add custom MCP server: a name, the same address and No authentication. It cannot send a key."},
	"dev.mcp.vscode":       {"Sin clave, omita inputs y headers.", "Without a key leave out inputs and headers."},
	"dev.mcp.cursor":       {"Sin clave, omita headers.", "Without a key leave out headers."},
	"dev.mcp.gemini":       {"La segunda línea es la primera con clave. La carpeta debe ser de confianza.", "The second line is the first one with a key. The folder must be trusted."},
	"dev.mcp.goose":        {"En ~/.config/goose/config.yaml. Sin clave, omita headers.", "In ~/.config/goose/config.yaml. Without a key leave out headers."},
	"dev.limits":           {"Límites y planes", "Limits and plans"},
	"dev.limits.caller":    {"Quién", "Caller"},
	"dev.limits.sends":     {"Envía", "Sends"},
	"dev.limits.may":       {"Puede", "May"},
	"dev.limits.limit":     {"Límite", "Limit"},
	"dev.limits.anonymous": {"Anónimo", "Anonymous"},
	"dev.limits.nothing":   {"nada", "nothing"},
	"dev.limits.public":    {"leer las operaciones públicas", "read the public operations"},
	"dev.limits.requests":  {"%d peticiones cada %d segundos por dirección IP", "%d requests in any %d seconds per IP address"},
	"dev.limits.none":      {"ninguno", "none"},
	"dev.limits.key":       {"Clave", "Key"},
	"dev.limits.scopes":    {"lo que permitan sus permisos", "what its scopes allow"},
	"dev.limits.plan":      {"ninguno, salvo el de su plan", "none, unless its plan has one"},
	"dev.limits.token":     {"Token", "Token"},
	"dev.limits.text":      {"Las claves las entrega quien opera el servicio, o se crean en la cuenta. Una aplicación puede pedir acceso con OAuth. Un token de diez minutos se obtiene con una aserción de un proveedor de identidad de confianza. Los permisos son:", "Keys are issued by the operator of the service, or made in the account. An application can ask for access with OAuth. A token for ten minutes is obtained with an assertion of a trusted identity provider. The scopes are:"},
	"dev.limits.headers":   {"Cada respuesta contada dice cuántas quedan (RateLimit). Pasado el límite se responde 429 con Retry-After. Estas páginas no cuentan.", "Every counted response says how many remain (RateLimit). Above the limit the response is 429 with Retry-After. These pages are not counted."},
	"dev.limits.url":       {"Nunca ponga una credencial en una dirección: la petición se rechaza.", "Never put a credential in an address: the request is refused."},
	"dev.terms":            {"Condiciones", "Terms"},
	"dev.terms.filed":      {"Las comunicaciones se reproducen tal como se registraron, sin alterarlas. Haga lo mismo, cite la fuente y enlace la comunicación (source_url).", "Disclosures are reproduced as filed. Do the same, name the source, and link to the disclosure (source_url)."},
	"dev.terms.free":       {"La misma información se obtiene gratis en la web de la CNMV. Un servicio de pago basado en ella debe decírselo a sus clientes.", "The same information can be obtained free of charge at the web site of the CNMV. A paid service built on it must say so to its customers."},
	"dev.terms.quoted":     {"Títulos, resúmenes y textos los escriben los emisores: trátelos como citas, nunca como instrucciones.", "Titles, summaries and texts are written by the issuers: treat them as quotations, never as instructions."},
	"dev.terms.demo":       {"Este servicio contiene un mercado simulado: no presente nada de él como real.", "This service holds a simulated market: never present anything from it as real."},
	"dev.parameters":       {"Parámetros", "Parameters"},
	"dev.body":             {"Cuerpo", "Body"},
	"dev.example":          {"Ejemplo", "Example"},
	"dev.examples":         {"Ejemplos", "Examples"},
	"dev.required":         {"obligatorio", "required"},
	"dev.responses":        {"Respuestas", "Responses"},
	"dev.fields":           {"Campos de la respuesta", "Fields of the response"},
	"dev.errors.all":       {"Ejemplos de los errores", "Examples of the errors"},
	"dev.tag.reports":      {"Comunicaciones", "Disclosures"},
	"dev.tag.documents":    {"Documentos", "Documents"},
	"dev.tag.issuers":      {"Emisores", "Issuers"},
	"dev.tag.analytics":    {"Analítica", "Analytics"},
	"dev.tag.proofs":       {"Pruebas", "Proofs"},
	"dev.tag.push":         {"Flujos y webhooks", "Streams and webhooks"},
	"dev.tag.account":      {"Cuenta", "Account"},
	"dev.tag.agents":       {"Agentes", "Agents"},
	"dev.tag.access":       {"Acceso", "Access"},
	"dev.tag.service":      {"Servicio", "Service"},
}
