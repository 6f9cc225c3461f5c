package layering_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// messageFolders have the errors that pages show.
var messageFolders = []string{
	"account", "auth/access", "auth/account", "auth/oauth", "auth/signin", "push/alert/channel", "push/alert/subscription",
	"push/events", "push/watchlist", "push/webhook/delivery", "push/webhook/subscription", "query", "server/httpserver", "server/outbound",
	"site",
}

// formatArguments are the positions of formats in the calls that make errors.
var formatArguments = map[string]int{
	"fault.InvalidField": 2,
	"fault.New":          1,
	"fault.NewField":     2,
	"fault.Wrap":         2,
	"problem.OfStatus":   2,
	"Reject":             2,
	"limited":            4,
	"rejected":           2,
}

// formatFields are the fields of errors that hold formats.
var formatFields = map[string]string{
	"fault.Error": "Message",
	"fault.Field": "Reason",
	"fault.Text":  "Format",
	"Refusal":     "Text",
}

// Every message that a page may show has a Spanish wording, and no wording is without its
// message.
func TestMessages(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("../../site/render/messages.json")
	if err != nil {
		t.Fatal(err)
	}
	var worded map[string]string
	if err := json.Unmarshal(body, &worded); err != nil {
		t.Fatal(err)
	}
	formats, all := map[string]string{}, map[string]bool{}
	for _, folder := range messageFolders {
		readMessages(t, folder, formats, all)
	}
	if len(formats) < 100 {
		t.Fatalf("only %d messages were found", len(formats))
	}
	for _, format := range slices.Sorted(maps.Keys(formats)) {
		if worded[format] == "" {
			t.Errorf("%s: %q is not in internal/site/render/messages.json", formats[format], format)
		}
	}
	for _, format := range slices.Sorted(maps.Keys(worded)) {
		if !all[format] {
			t.Errorf("internal/site/render/messages.json has %q, which no package says", format)
		}
	}
}

// readMessages adds the formats of the errors in a folder, with their places, and all texts
// that are there.
func readMessages(t *testing.T, folder string, formats map[string]string, all map[string]bool) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("../..", folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if s, constant := constantText(e); constant {
					all[s] = true
				}
			}
			if s, ok := formatIn(n); ok && !forPrograms[s] {
				formats[s] = set.Position(n.Pos()).String()
			}
			computed := computedFormat(n)
			if computed == nil {
				computed = computedMessage(n)
			}
			if computed != nil {
				t.Errorf("%s: a message is computed, so that no wording is found for it: use a format with arguments",
					set.Position(computed.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// formatIn returns the format of an error that an expression makes, if it has one of its
// own.
func formatIn(n ast.Node) (format string, ok bool) {
	if e := formatOf(n); e != nil {
		format, ok = constantText(e)
	}
	return format, ok && strings.Trim(format, "%sv") != ""
}

// formatOf returns the expression that is the format of the error which an expression makes,
// or nil.
func formatOf(n ast.Node) (format ast.Expr) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if at, known := formatArguments[nameOf(n.Fun)]; known && at < len(n.Args) {
			return n.Args[at]
		}
	case *ast.CompositeLit:
		field, known := formatFields[nameOf(n.Type)]
		if n.Type == nil { // an element of a list of fault.Field
			field, known = "Reason", true
		}
		if !known {
			return nil
		}
		for _, element := range n.Elts {
			pair, named := element.(*ast.KeyValueExpr)
			if named && nameOf(pair.Key) == field {
				format = pair.Value
			}
		}
	}
	return format
}

// computedFormat returns the format of the error that an expression makes if it is put
// together from texts, or nil. Such a message has other words each time.
func computedFormat(n ast.Node) ast.Expr {
	format := formatOf(n)
	switch e := format.(type) {
	case *ast.BinaryExpr:
		if _, constant := constantText(e); !constant {
			return e
		}
	case *ast.CallExpr:
		if strings.HasPrefix(nameOf(e.Fun), "Sprint") {
			return e
		}
	}
	return nil
}

// computedMessage returns the only argument of an error if it is put together from texts, or
// nil.
func computedMessage(n ast.Node) ast.Expr {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	at, known := formatArguments[nameOf(call.Fun)]
	if !known || len(call.Args) != at+2 {
		return nil
	}
	format, _ := constantText(call.Args[at])
	sum, isSum := call.Args[at+1].(*ast.BinaryExpr)
	if format != "%s" || !isSum {
		return nil
	}
	return sum
}

// nameOf returns the name of a function or type: with its package if that is fault or
// problem.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if of, ok := e.X.(*ast.Ident); ok && (of.Name == "fault" || of.Name == "problem") {
			return of.Name + "." + e.Sel.Name
		}
		return e.Sel.Name
	}
	return ""
}

// constantText returns the value of a text made of literals.
func constantText(e ast.Expr) (s string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		left, isText := constantText(e.X)
		right, isTextToo := constantText(e.Y)
		return left + right, isText && isTextToo && e.Op == token.ADD
	}
	return "", false
}

// forPrograms are messages of the same packages that no page shows: they are for operators,
// or for programs that use tokens.
var forPrograms = map[string]bool{
	"%q is not a host of a push service: use a name in small letters, such as push.example.com, or .push.example.com " +
		"for all below it": true,
	"A token cannot manage an account: sign in at %s/account, or send a key as X-API-Key.": true,
	"An application cannot manage webhooks or watchlists of a person: use the console at %s/account, or send a key " +
		"as X-API-Key.": true,
	"Give owner, the id of an account, and blocked, true or false.":                                         true,
	"Give seq for one change, or since for all changes after one.":                                          true,
	"A backup of the store was restored, and this process is still loading it. Try again in a few seconds.": true,
	"The limit of %d open streams and waiting requests is reached: close one.":                              true,
	"This server does not have the change %v yet. Try again in a few seconds.":                              true,
	"Shutting down.": true,
	"There is no key %q. GET /api/v1/account/keys lists yours.":                                             true,
	"This needs a key or token with the scope %s: send it as Authorization: Bearer, or a key as X-API-Key.": true,
	"This needs a key: send it as X-API-Key, or sign in at %s/account.":                                     true,
	"panic": true,
	"push services need an address of the operator: mailto:ADDRESS or https://…":                                        true,
	"that is a key, not the id of one: pregon keys revoke - reads a key from standard input; treat this one as exposed": true,
	"the address of the mail server must end after the port":                                                            true,
	"the address of the mail server must not contain a user or a password: they have settings of their own":             true,
	"the mail server must be smtp://HOST:PORT or smtps://HOST:PORT":                                                     true,
	"the mail server needs both a user and a password, or neither":                                                      true,
	"the number of e-mails in a second must be 1 or more, or 0 for no limit":                                            true,
	"the port of the mail server must be from 1 to 65535":                                                               true,
	"the refresh token is not valid: it was revoked, has expired, or belongs to another client":                         true,
	"the refresh token was used before: the application has to be authorized again":                                     true,
	"the secret of the provider %s is read from the environment variable %s, which is not set":                          true,
	"the sender of alerts must be an e-mail address, such as Pregón <alerts@example.com>":                               true,
	"the token of the Telegram bot does not have the form 123456789:ABC…, which BotFather gives":                        true,
	"there is no key %q: pregon keys list shows all":                                                                    true,
	"there is no plan %q: use %s":                             true,
	"there is no scope %q: use %s":                            true,
	"there is no webhook %q: pregon webhooks list shows them": true,
}
