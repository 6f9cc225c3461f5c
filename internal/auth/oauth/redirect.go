package oauth

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/server/origin"
)

const maxRedirect = 500 // bytes of a redirect URI

// appSchemes are schemes of well-known applications that have no dot, as RFC 8252
// asks for. Any other scheme without a dot may mean something to a browser.
var appSchemes = []string{"claude", "cursor", "goose", "raycast", "vscode", "vscode-insiders", "windsurf", "zed"}

// loopback are the beginnings of redirect URIs of programs that listen on the person's
// own machine.
var loopback = []string{"http://127.0.0.1", "http://[::1]", "http://localhost"}

// responseParameters are added to a redirect URI, which must not have them already.
var responseParameters = []string{"code", "state", "iss", "error", "error_description"}

// checkRedirect returns what is wrong with a redirect URI, or "".
func checkRedirect(uri string) string {
	if uri == "" || len(uri) > maxRedirect {
		return "must have 1 to 500 bytes"
	}
	if strings.ContainsFunc(uri, func(c rune) bool {
		return c <= ' ' || c > '~' ||
			strings.ContainsRune("\"<>\\^`{|}*#", c)
	}) {
		return "must not have a fragment, a wildcard, spaces, or characters that a URI cannot have"
	}
	if !origin.PlainHost(uri) {
		return "must have its host in ASCII and without percent-encoding: write an internationalized name in its " +
			"xn-- form"
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme == "" || !strings.HasPrefix(uri, u.Scheme+":") { // Parse accepts capital letters
		return "must be an absolute URI, with its scheme in lower case"
	}
	if u.User != nil || strings.Contains(u.Host, "@") {
		return "must not have a user or a password"
	}
	if hasDotSegment(u) {
		return "must not have the path segments . or .."
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "has a query that cannot be read"
	}
	for _, name := range responseParameters {
		if query.Has(name) {
			return "must not have the parameter " + name + ": the response adds it"
		}
	}
	return checkScheme(uri, u)
}

func checkScheme(uri string, u *url.URL) string {
	switch {
	case u.Scheme == "https":
		if u.Opaque != "" || u.Hostname() == "" {
			return "must have a host"
		}
		if _, err := origin.Canonical(u.Scheme + "://" + u.Host); err != nil {
			return err.Error()
		}
	case u.Scheme == "http":
		if _, ok := withoutPort(uri); !ok {
			return "must begin with https://, or with http:// and 127.0.0.1, [::1] or localhost"
		}
	case !strings.Contains(u.Scheme, ".") && !slices.Contains(appSchemes, u.Scheme):
		return "must begin with https://, or with a scheme of the application that has a dot, such as com.example.app:/"
	}
	return ""
}

// hasDotSegment reports whether a path has a segment . or .., escaped or not. A server
// may resolve it, and so end at another path than the registered one.
func hasDotSegment(u *url.URL) bool {
	for _, path := range []string{u.Path, u.EscapedPath(), u.Opaque} {
		for segment := range strings.SplitSeq(path, "/") {
			if plain, err := url.PathUnescape(segment); err == nil {
				segment = plain
			}
			if segment == "." || segment == ".." {
				return true
			}
		}
	}
	return false
}

// withoutPort returns a redirect URI to the person's own machine without its port,
// which such a program may choose at each start (RFC 8252).
func withoutPort(uri string) (string, bool) {
	for _, begin := range loopback {
		rest, ok := strings.CutPrefix(uri, begin)
		if !ok {
			continue
		}
		if port, ok := strings.CutPrefix(rest, ":"); ok {
			end := strings.IndexAny(port, "/?")
			if end < 0 {
				end = len(port)
			}
			if n, err := strconv.ParseUint(port[:end], 10, 16); err != nil || n == 0 {
				return "", false
			}
			rest = port[end:]
		}
		return begin + rest, rest == "" || rest[0] == '/' || rest[0] == '?'
	}
	return "", false
}

// matches reports whether a redirect URI of a request is a registered one, which is
// valid: the same text, but for the port on the person's own machine.
func matches(registered, uri string) bool {
	if registered == uri {
		return true
	}
	want, ok := withoutPort(registered)
	got, too := withoutPort(uri)
	return ok && too && want == got
}

// isLoopback reports whether a redirect URI leads to the person's own machine.
func isLoopback(uri string) bool {
	_, ok := withoutPort(uri)
	return ok
}

// hostOf returns the part of a redirect URI that tells people where it leads: the host.
// Of a scheme of an application it is the whole address, since many applications share
// a scheme: vscode://publisher.extension leads to an extension of anyone.
func hostOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	if u.Scheme == "https" || u.Scheme == "http" {
		return u.Host
	}
	return uri
}

// withParameters returns a redirect URI with the parameters of a response. Nothing
// else of it changes.
func withParameters(uri string, values url.Values) string {
	separator := "?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	return uri + separator + values.Encode()
}
