// Package resttest checks responses of the service against its OpenAPI document.
package resttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"pregon/internal/rest"
	"pregon/internal/server/problem"
)

// BaseURL is the address that the document is made for.
const BaseURL = "https://pregon.example"

// Document is the OpenAPI document as clients load it.
var Document = sync.OnceValue(func() *openapi3.T {
	doc, err := openapi3.NewLoader().LoadFromData(rest.OpenAPI(BaseURL, true))
	if err != nil {
		panic(err)
	}
	return doc
})

// strict is the document without additional properties. Clients must accept
// unknown fields, since a later version may add some. The tests must detect a
// field that is not documented.
var strict = sync.OnceValue(func() *openapi3.T {
	doc, err := openapi3.NewLoader().LoadFromData(rest.OpenAPI(BaseURL, true))
	if err != nil {
		panic(err)
	}
	seen := map[*openapi3.Schema]bool{}
	for _, name := range open {
		seen[doc.Components.Schemas[name].Value] = true
	}
	var close func(*openapi3.SchemaRef)
	close = func(ref *openapi3.SchemaRef) {
		if ref == nil || ref.Value == nil || seen[ref.Value] {
			return
		}
		seen[ref.Value] = true
		more := &ref.Value.AdditionalProperties
		if more.Has == nil && more.Schema == nil && len(ref.Value.Properties) > 0 {
			more.Has = new(false)
		}
		for _, property := range ref.Value.Properties {
			close(property)
		}
		close(ref.Value.Items)
	}
	for _, ref := range doc.Components.Schemas {
		close(ref)
	}
	return doc
})

// open are the schemas that allow additional properties, because their fields
// depend on the kind or on another specification.
var open = []string{"Document", "Event", "RpcMessage", "TokenRequest"}

// The validation library only decodes plain text; the other text types are
// decoded alike.
func init() {
	for _, kind := range []string{"text/csv", "text/markdown", "text/html", "text/calendar"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.RegisteredBodyDecoder("text/plain"))
	}
}

// Answer is a response.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Read reads an answer, and leaves the response to be read again.
func Read(resp *http.Response) (Answer, error) {
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return Answer{resp.StatusCode, resp.Header, body}, err
}

// Check returns an error if a response of the whole service is not as documented.
func Check(req *http.Request, a Answer) error {
	if req.Method == http.MethodOptions {
		return nil // a CORS preflight, not an operation
	}
	method := documentedMethod(req)
	_, pattern := paths().Handler(&http.Request{Method: method, URL: req.URL})
	if pattern == "" {
		return checkProblem(a)
	}
	return CheckRoute(req, pattern, a)
}

// paths finds the documented path of an address.
var paths = sync.OnceValue(func() *http.ServeMux {
	mux := http.NewServeMux()
	for path, item := range Document().Paths.Map() {
		if path == "/" {
			path = "/{$}"
		}
		path = strings.Replace(path, "{path}", "{path...}", 1) // which has slashes: see PathOf
		for method, operation := range item.Operations() {
			mux.Handle(method+" "+path, http.NotFoundHandler())
			if isList(operation) && !strings.HasSuffix(path, "}") { // a parameter also takes a name with .csv
				mux.Handle(method+" "+path+".csv", http.NotFoundHandler())
			}
		}
	}
	return mux
})

// isList reports whether an operation is also available as CSV, at a path of its own.
func isList(operation *openapi3.Operation) bool {
	ok := operation.Responses.Status(http.StatusOK)
	return ok != nil && ok.Value.Content["text/csv"] != nil
}

// checkProblem checks the response to a request that matches no operation. It
// must be a problem document.
func checkProblem(a Answer) error {
	var doc problem.Document
	if err := json.Unmarshal(a.Body, &doc); err != nil {
		return err
	}
	if a.Status < 400 || doc.Status != a.Status || a.Header.Get("Content-Type") != "application/problem+json" {
		return fmt.Errorf("no operation is documented for the request, and the response is not a problem: status %d", a.Status)
	}
	return nil
}

// CheckRoute returns an error if the response to a request for a pattern of the
// mux is not as documented.
func CheckRoute(req *http.Request, pattern string, a Answer) error {
	path, method := PathOf(pattern), documentedMethod(req)
	item := strict().Paths.Value(path)
	if item == nil || item.GetOperation(method) == nil {
		return fmt.Errorf("the path %q of the pattern %q is not in the document", path, pattern)
	}
	operation := item.GetOperation(method)
	response := operation.Responses.Status(a.Status)
	if response == nil {
		return fmt.Errorf("the status %d is not in the document", a.Status)
	}
	// The validator passes over HEAD and 304, which have no body.
	bodyless := req.Method == http.MethodHead || len(response.Value.Content) == 0
	if bodyless && len(a.Body) > 0 {
		return errors.New("there is a body where none may be")
	}
	if a.Status == http.StatusNotModified {
		return missingHeaders(response.Value, a.Header)
	}
	asTold := req.Clone(req.Context())
	asTold.Method = method
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: asTold,
			Route: &routers.Route{
				Spec:      strict(),
				Path:      path,
				PathItem:  item,
				Method:    method,
				Operation: operation,
			},
		},
		Status: a.Status,
		Header: a.Header,
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   bodyless,
			MultiError:            true,
			SchemaValidationOptions: []openapi3.SchemaValidationOption{openapi3.WithStringFormatValidator("uri",
				absoluteURI)},
		},
	}
	input.SetBodyBytes(a.Body)
	return openapi3filter.ValidateResponse(req.Context(), input)
}

// documentedMethod returns the method of the operation in the document. HEAD
// requests are documented as GET.
func documentedMethod(req *http.Request) string {
	if req.Method == http.MethodHead {
		return http.MethodGet
	}
	return req.Method
}

func missingHeaders(r *openapi3.Response, h http.Header) error {
	for name, header := range r.Headers {
		if header.Value.Required && h.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	return nil
}

// absoluteURI implements a format check that the library does not have.
var absoluteURI = openapi3.NewCallbackValidator(func(s string) error {
	u, err := url.Parse(s)
	if err == nil && !u.IsAbs() {
		return fmt.Errorf("%q is not an absolute address", s)
	}
	return err
})

// PathOf turns a pattern of the mux into a path of the document. A list as CSV is
// the same operation. A document cannot say that a parameter has slashes.
func PathOf(pattern string) string {
	_, path, _ := strings.Cut(pattern, " ")
	return strings.Replace(strings.TrimSuffix(strings.TrimSuffix(path, "{$}"), ".csv"), "...}", "}", 1)
}
