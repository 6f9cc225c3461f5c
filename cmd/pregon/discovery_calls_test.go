package main_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/rest/resttest"
	archive "pregon/internal/transfer/bulk" // bulk is another name of this package
)

// described is an operation of the OpenAPI document.
type described struct {
	id, method, path string
	query            url.Values
	body             bool
	members          bool
}

// operations reads the OpenAPI document, with the examples of parameters.
func (n *newcomer) operations() (out []described) {
	doc := resttest.Document()
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			d := described{id: op.OperationID, method: method, path: path, query: url.Values{}, body: op.RequestBody != nil}
			security := cmp.Or(op.Security, &doc.Security)
			d.members = len(*security) > 0
			for _, requirement := range *security {
				d.members = d.members && len(requirement) > 0
			}
			for _, p := range op.Parameters {
				example := p.Value.Example
				for _, name := range slices.Sorted(maps.Keys(p.Value.Examples)) {
					example = cmp.Or(example, p.Value.Examples[name].Value.Value)
				}
				if p.Value.In == "query" {
					d.query.Set(p.Value.Name, fmt.Sprint(example))
				}
			}
			out = append(out, d)
		}
	}
	rank := map[string]int{ // the others need what the one makes
		"createWebhook": -1, "deleteWebhook": 1, "createKey": -1, "revokeKey": 1, "createWatchlist": -1, "deleteWatchlist": 1,
		"createChannel": -2, "createAlert": -1, "deleteAlert": 1, "deleteChannel": 2,
	}
	slices.SortFunc(out, func(a, b described) int {
		return cmp.Or(cmp.Compare(rank[a.id], rank[b.id]), cmp.Compare(a.path, b.path), cmp.Compare(a.method, b.method))
	})
	return out
}

// bodiesFor are those of the operations that need one.
func bodiesFor(receiver, issuer string) map[string]string {
	return map[string]string{
		"createWebhook":      `{"url":"` + receiver + `","filter":{"search":"dividendo"}}`,
		"previewWebhook":     `{"filter":{"search":"dividendo"}}`,
		"createStreamTicket": `{"filter":{"search":"dividendo"}}`,
		"changeWebhook":      `{"description":"changed"}`,
		"adoptWebhook":       `{"url":"` + receiver + `"}`,
		"redeliver":          `{"since":0}`,
		"createKey":          `{"name":"made"}`,
		"changeKey":          `{"name":"changed"}`,
		"rotateKey":          `{"overlap_seconds":60}`,
		"blockOwner":         `{"owner":"https://idp.example#nobody","blocked":true}`,
		"mcpJsonRpc":         `{"jsonrpc":"2.0","id":"1","method":"tools/list","params":{}}`,
		"exchangeToken":      "grant_type=urn:ietf:params:oauth:grant-type:token-exchange", // whose assertion is missing: refused
		"registerClient":     `{"redirect_uris":["https://app.example/callback"]}`,
		"revokeToken":        "token=unknown", // whose client is missing: refused

		"createWatchlist": `{"name":"made"}`,
		"changeWatchlist": `{"name":"changed"}`,
		"addToWatchlist":  `{"issuer":"` + issuer + `"}`,
		"importWatchlist": issuer,
		"createChannel":   `{"kind":"email","to":"reader@example.com"}`,
		"changeChannel":   `{"language":"en"}`,
		"createAlert":     `{"filter":{"search":"dividendo"},"channel":{"kind":"email","to":"reader@example.com"}}`,
		"changeAlert":     `{"rhythm":"grouped"}`,
		"deleteAccount":   `{"confirm":"nobody"}`, // another account: refused
	}
}

// callOperations calls what llms-full.txt tells, which is all that there is.
func (n *newcomer) callOperations() {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	bodies := bodiesFor(receiver.URL, n.issuer)
	var have []string
	made := map[string]string{} // ids, by the operation that made them
	refused := map[string]int{  // what has to be missing or unknown here
		"exchangeToken": http.StatusBadRequest, "revokeToken": http.StatusBadRequest,
		"blockOwner": http.StatusNotFound, "endSession": http.StatusNotFound, "revokeApp": http.StatusNotFound,
		"deleteAccount": http.StatusBadRequest, "testChannel": http.StatusConflict, // its receiver has not confirmed it
	}
	position := n.position()
	for _, op := range n.operations() {
		have = append(have, op.id+" "+op.method+" "+op.path)
		if op.body && bodies[op.id] == "" {
			n.t.Errorf("no body is known for %s: add one", op.id)
		}
		if op.query.Has("wait") {
			op.query.Set("wait", "0")
		}
		if op.query.Has("issuer") {
			op.query.Set("issuer", n.issuer) // one that this market has
		}
		if op.query.Has("as_of") {
			op.query.Set("as_of", time.Now().Format(time.RFC3339Nano)) // by when this market is known
		}
		if op.query.Has("in") {
			op.query.Del("as_of") // they cannot be combined
		}
		if op.query.Has("position") { // these select no reports, which other examples name
			for _, name := range []string{"position", "holder", "min_percent", "side"} {
				op.query.Del(name)
			}
		}
		op.query.Del("owner")  // the caller's own
		op.query.Del("ticket") // takes the place of a key
		keyless := maps.Clone(op.query)
		if op.query.Has("watchlist") {
			op.query.Set("watchlist", n.watchlist)
			keyless.Del("watchlist") // which always needs a key
		}
		id := n.report
		switch {
		case strings.Contains(op.path, "/positions/"):
			id = position
		case strings.Contains(op.path, "/issuers/"):
			id = n.issuer
		case strings.Contains(op.path, "/webhooks/"):
			id = made["createWebhook"]
		case strings.Contains(op.path, "/keys/"):
			id = made["createKey"]
		case strings.Contains(op.path, "/watchlists/"):
			id = made["createWatchlist"]
		case strings.Contains(op.path, "/channels/"):
			id = made["createChannel"]
		case strings.Contains(op.path, "/alerts/"):
			id = made["createAlert"]
		}
		if op.id == "getBulkFile" {
			op.path = strings.TrimPrefix(n.snapshotFile(), n.url)
		}
		path := strings.NewReplacer("{id}", id, "{seq}", "1", "{path}", "0/000").Replace(op.path)
		target := path + "?" + op.query.Encode()
		header := http.Header{"Content-Type": {"application/json"}}
		if op.id == "exchangeToken" || op.id == "revokeToken" {
			header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		keyless.Del("in") // which always needs a key
		query := path + "?" + keyless.Encode()
		if status := n.ask(op.method, query, []byte(bodies[op.id]), header).Status; (status == http.StatusUnauthorized) != op.members {
			n.t.Errorf("%s without a key: got status %d, documented as needing a key: %t", op.id, status, op.members)
		}
		header.Set("X-API-Key", n.key)
		answer := n.ask(op.method, target, []byte(bodies[op.id]), header)
		if answer.Status >= 300 && answer.Status != refused[op.id] {
			n.t.Errorf("%s %s: %d\n%.500s", op.method, target, answer.Status, answer.Body)
		}
		if strings.HasPrefix(op.id, "create") {
			made[op.id] = field(n.t, answer.Body, "id")
		}
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^#### (\\S+)\n\n`(\\S+) (\\S+)`: ").FindAllStringSubmatch(n.documents["/llms-full.txt"], -1) {
		documented = append(documented, m[1]+" "+m[2]+" "+m[3])
	}
	n.same("operations", documented, have)
}

// position returns the id of a position, once the registers are read.
func (n *newcomer) position() (id string) {
	n.t.Helper()
	eventually(n.t, func() error {
		var list struct{ Data []struct{ ID string } }
		answer := n.ask(http.MethodGet, "/api/v1/dealings?limit=1", nil, http.Header{"X-API-Key": {n.key}})
		if err := json.Unmarshal(answer.Body, &list); err != nil {
			return err
		}
		if len(list.Data) == 0 {
			return errors.New("there are no dealings yet")
		}
		id = list.Data[0].ID
		return nil
	})
	return id
}

// snapshotFile makes a snapshot, since the service waits for the end of its back-fill, and
// returns the address of a file of it.
func (n *newcomer) snapshotFile() (address string) {
	n.t.Helper()
	m := &archive.Maker{
		Archive: archive.New(archive.Dir(strings.TrimPrefix(n.store, "sqlite:")+".bulk"), slog.New(slog.DiscardHandler)),
		Log:     openStore(n.t, n.store),
		Source:  func() string { return "demo" },
		Logger:  slog.New(slog.DiscardHandler),
	}
	if _, err := m.Make(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
	eventually(n.t, func() error {
		answer := n.ask(http.MethodGet, "/api/v1/bulk", nil, http.Header{"X-API-Key": {n.key}})
		var list snapshotList
		if err := json.Unmarshal(answer.Body, &list); err != nil || len(list.Data) == 0 {
			return fmt.Errorf("got %s, %v; want a snapshot", answer.Body, err)
		}
		address = list.Data[0].Files[0].URL
		return nil
	})
	return address
}

// field reads a text from an object.
func field(t *testing.T, object []byte, name string) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(object, &fields); err != nil {
		t.Fatal(err)
	}
	text, _ := fields[name].(string)
	return text
}

// same compares the documented names with those the service has.
func (n *newcomer) same(what string, documented, have []string) {
	n.t.Helper()
	slices.Sort(documented)
	slices.Sort(have)
	if len(have) == 0 || !slices.Equal(documented, have) {
		n.t.Errorf("documented %s: got\n%q, want\n%q", what, documented, have)
	}
}

// rpc asks the MCP server. The result is nil when there is none.
func (n *newcomer) rpc(key, method string, params any) (status int, result json.RawMessage) {
	n.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "1", "method": method, "params": params})
	if err != nil {
		n.t.Fatal(err)
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if key != "" {
		header.Set("X-API-Key", key)
	}
	answer := n.ask(http.MethodPost, "/api/mcp", body, header)
	var message struct {
		ID            string
		Result, Error json.RawMessage
	}
	if answer.Status < 300 {
		if err := json.Unmarshal(answer.Body, &message); err != nil || message.ID != "1" || message.Error != nil {
			n.t.Errorf("%s %v: %v %s", method, params, err, answer.Body)
		}
	}
	return answer.Status, message.Result
}

// offered is one thing that the server lists.
type offered struct {
	Name, URI, URITemplate string
	Arguments              []struct{ Name string }
	InputSchema            struct{ Properties map[string]any }
}

// list asks for one of the server's lists, and returns its names, each with its
// arguments.
func (n *newcomer) list(method, member string) (names []string) {
	n.t.Helper()
	_, result := n.rpc("", method, map[string]any{})
	var lists map[string]json.RawMessage
	if err := json.Unmarshal(result, &lists); err != nil {
		n.t.Fatalf("%s: %v", method, err)
	}
	var all []offered
	if err := json.Unmarshal(lists[member], &all); err != nil || lists["nextCursor"] != nil {
		n.t.Fatalf("%s: %v, or there is more than one page: %s", method, err, result)
	}
	for _, o := range all {
		arguments := slices.Collect(maps.Keys(o.InputSchema.Properties))
		for _, a := range o.Arguments {
			arguments = append(arguments, a.Name)
		}
		slices.Sort(arguments)
		names = append(names, strings.Join(append([]string{cmp.Or(o.URI, o.URITemplate, o.Name)}, arguments...), " "))
	}
	return names
}

// entry is a line of llms-full.txt on what the server offers, with those on its
// arguments.
var entry = regexp.MustCompile("(?m)^- \\*\\*`([^`]+)`\\*\\*([^:\n]*):.*((?:\n  - .*)*)")

// documented reads a section of llms-full.txt: names with their arguments, and
// whether they need a key.
func (n *newcomer) documented(section string) (names []string, members map[string]bool) {
	_, rest, _ := strings.Cut(n.documents["/llms-full.txt"], "\n### "+section+"\n")
	text, _, _ := strings.Cut(rest, "\n##")
	members = map[string]bool{}
	for _, m := range entry.FindAllStringSubmatch(text, -1) {
		var arguments []string
		for _, a := range regexp.MustCompile("\n  - `([^`]+)`").FindAllStringSubmatch(m[3], -1) {
			arguments = append(arguments, a[1])
		}
		slices.Sort(arguments)
		names = append(names, strings.Join(append([]string{m[1]}, arguments...), " "))
		members[m[1]] = strings.Contains(m[2], "needs a key")
	}
	return names, members
}

// callServer calls everything that llms-full.txt documents of the MCP server.
func (n *newcomer) callServer() {
	tools, members := n.documented("Tools")
	n.same("tools", slices.Clone(tools), n.list("tools/list", "tools"))
	for _, tool := range tools {
		name, arguments, _ := strings.Cut(tool, " ")
		params := map[string]any{"name": name, "arguments": n.arguments(name, strings.Fields(arguments))}
		n.needs(members[name], "tools/call", params)
	}
	resources, members := n.documented("Resources")
	views, _ := n.documented("Views")
	n.same("resources", slices.Concat(resources, views), n.list("resources/list", "resources"))
	templates, more := n.documented("Resource templates")
	n.same("templates", slices.Clone(templates), n.list("resources/templates/list", "resourceTemplates"))
	maps.Copy(members, more)
	for _, uri := range slices.Concat(resources, views, templates) {
		n.needs(members[uri], "resources/read", map[string]any{"uri": n.expand(uri)})
	}
	prompts, _ := n.documented("Prompts")
	n.same("prompts", slices.Clone(prompts), n.list("prompts/list", "prompts"))
	for _, prompt := range prompts {
		name, arguments, _ := strings.Cut(prompt, " ")
		n.needs(false, "prompts/get", map[string]any{"name": name, "arguments": n.arguments(name, strings.Fields(arguments))})
	}
	var capabilities struct {
		Entries []struct{ Capabilities []string }
	}
	if err := json.Unmarshal([]byte(n.documents["/.well-known/ard.json"]), &capabilities); err != nil {
		n.t.Fatal(err)
	}
	for i, tool := range tools {
		tools[i], _, _ = strings.Cut(tool, " ")
	}
	n.same("capabilities", capabilities.Entries[0].Capabilities, tools)
}

// needs calls with a key, and without one, which is refused when one is needed.
func (n *newcomer) needs(key bool, method string, params map[string]any) {
	n.t.Helper()
	if arguments, ok := params["arguments"].(map[string]any); ok && (arguments["in"] != nil || arguments["watchlist"] != nil) {
		key = true // searching inside documents, or of an account
	}
	if status, _ := n.rpc("", method, params); (status == http.StatusUnauthorized) != key {
		n.t.Errorf("%s %v without a key: got status %d, documented as needing a key: %t", method, params, status, key)
	}
	status, result := n.rpc(n.key, method, params)
	if status != http.StatusOK || len(result) < 3 || bytes.Contains(result, []byte(`"isError":true`)) {
		n.t.Errorf("%s %v: %d %.500s", method, params, status, result)
	}
}

// values are good for the arguments of tools, templates and prompts.
func (n *newcomer) value(of, argument string) any {
	today := disclosure.DayOf(time.Now()).String()
	values := map[string]any{
		"id": n.report, "issuer": n.issuer, "search": "sociedad", "type": "OIR", "kind": "company", "category": "Sobre resultados",
		"from": "2020-02-08", "to": today, "date": today, "in": "document", "limit": 2, "page": 1, "offset": 0, "max_chars": 500, "language": "en",
		"market": "SIBE", "without": "securitisation", "query": "sociedad", "url": "https://receiver.example/reports",
		"fact": "buyback_programme", "min_amount": "1000", "currency": "EUR", "order": "amount",
		"person": "garcia", "holder": "capital", "position": "short,holding", "min_percent": "0.5", "side": "buy", "by": "issuer", "of": "positions", "current": true, "sector": "bancos",
	}
	switch {
	case argument == "kind" && of == "list_facts":
		return "buyback_programme"
	case argument == "kind" && of == "calendar":
		return "ex_date"
	case argument == "of" && of == "list_values":
		return "category"
	}
	if argument == "id" && strings.Contains(of, "issuer") {
		return n.issuer
	}
	if argument == "watchlist" || argument == "id" && of == "list_watchlists" {
		return n.watchlist
	}
	if values[argument] == nil {
		n.t.Errorf("no value is known for the argument %s of %s: add one", argument, of)
	}
	return values[argument]
}

func (n *newcomer) arguments(of string, names []string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		out[name] = n.value(of, name)
	}
	if out["position"] != nil && out["search"] != nil {
		for _, name := range []string{"position", "holder", "min_percent", "side"} {
			delete(out, name) // they select positions, and search selects reports
		}
	}
	return out
}

// expand fills in a URI template (RFC 6570).
func (n *newcomer) expand(template string) string {
	return regexp.MustCompile(`\{(\??)([^}]*)\}`).ReplaceAllStringFunc(template, func(part string) string {
		names, query := strings.CutPrefix(strings.Trim(part, "{}"), "?")
		if !query {
			return fmt.Sprint(n.value(template, names))
		}
		values := url.Values{}
		for name := range strings.SplitSeq(names, ",") {
			values.Set(name, fmt.Sprint(n.value(template, name)))
		}
		return "?" + values.Encode()
	})
}

// runExamples runs every curl that a document shows.
func (n *newcomer) runExamples() {
	page := n.ask(http.MethodGet, "/", nil, http.Header{"Accept": {"text/html"}})
	texts := html.UnescapeString(string(page.Body)) + n.documents["/llms-full.txt"] + n.documents["/.well-known/agent-skills/use-pregon/SKILL.md"]
	examples := regexp.MustCompile(`(?m)^(?:<pre><code>)?(curl (?:.*\\\n)*[^\n<]*)`).FindAllStringSubmatch(texts, -1)
	if len(examples) < 9 {
		n.t.Errorf("only %d examples were found", len(examples))
	}
	for _, m := range examples {
		out, err := n.runExample(m[1])
		if err != nil {
			n.t.Errorf("%s\n%v\n%.500s", m[1], err, out)
		}
		if len(out) < 10 || bytes.Contains(out, []byte(`"error"`)) {
			n.t.Errorf("%s\nprints %.500s", m[1], out)
		}
	}
}

// runExample runs a command. One that listens is ended once it has heard hello.
func (n *newcomer) runExample(command string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(n.t.Context(), patient)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-c", `curl() { command curl --fail-with-body "$@"; }; `+command)
	shell.Env = append(os.Environ(), "KEY="+n.key, "ID="+n.report, "ISSUER="+n.issuer, "COMPANY=a & b, s.a.", "CURSOR=1")
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	if !strings.Contains(command, "curl -sN") {
		return shell.Output()
	}
	stdout, err := shell.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := shell.Start(); err != nil {
		return nil, err
	}
	var out []byte
	for lines := bufio.NewReader(stdout); err == nil && !bytes.Contains(out, []byte("\nevent: hello\n")); {
		var line []byte
		line, err = lines.ReadBytes('\n')
		out = append(out, line...)
	}
	cancel()
	_ = shell.Wait() // it was killed
	return out, err
}
