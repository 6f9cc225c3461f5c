package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"pregon/internal/fault"
)

// secretFileSuffix ends the name of a variable with the path of a file that holds
// the value.
const secretFileSuffix = "_FILE"

// ReadSecretFiles returns the environment with the secrets that are in files: a
// variable NAME_FILE, for the name of a secret, is replaced by NAME with the content
// of the file, without the line break at its end.
func ReadSecretFiles(secrets, environ []string) ([]string, error) {
	environ = slices.Clone(environ)
	for i, pair := range environ {
		variable, path, _ := strings.Cut(pair, "=")
		name, ok := strings.CutSuffix(variable, secretFileSuffix)
		if !ok || !slices.Contains(secrets, name) {
			continue
		}
		if slices.ContainsFunc(environ, func(other string) bool { return strings.HasPrefix(other, name+"=") }) {
			return nil, fault.New(fault.Invalid, "both %s and %s are set: unset one of them", name, variable)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", variable, err)
		}
		value := strings.TrimRight(string(content), "\r\n")
		if value == "" {
			return nil, fault.New(fault.Invalid, "%s: the file %s is empty", variable, path)
		}
		environ[i] = name + "=" + value
	}
	return environ, nil
}
