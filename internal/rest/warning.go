package rest

import "strings"

// warningHeader is the header with warnings about values of a request that were
// accepted and are probably wrong. They are plain ASCII: values are not repeated.
const warningHeader = "Pregon-Warning"

// warn returns the response with the warnings about the parameters of its request.
func (a response) warn(sentences []string) response {
	a.warnings = strings.Join(sentences, " ")
	return a
}
