package cli

import (
	"encoding"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"pregon/internal/fault"
)

// EnvPrefix begins the names of all environment variables.
const EnvPrefix = "PREGON"

// DefaultOf returns the default of a flag, or nothing when its help states it.
func DefaultOf(v *kong.Value) string {
	switch {
	case v.HasDefault:
		return v.Default
	case strings.Contains(v.Help, "Default: ") || v.Required:
		return ""
	case v.IsBool():
		return "off"
	}
	return "none"
}

// Describe returns the help of a flag with its default and its variable.
func Describe(v *kong.Value) string {
	text := v.Help
	if def := DefaultOf(v); def != "" && v.Flag != nil && v.Flag.Envs != nil {
		text += " Default: " + def + "."
	}
	if v.Required && v.Flag != nil {
		text += " Required."
	}
	if len(v.Tag.Envs) > 0 {
		text += " ($" + strings.Join(v.Tag.Envs, ", $") + ")"
	}
	return text
}

// ShowChoices lets help and errors show the values of flags that have a few of them:
// --format=table|json.
func ShowChoices(k *kong.Kong) error {
	return kong.Visit(k.Model, func(n kong.Visitable, next kong.Next) error {
		if f, ok := n.(*kong.Flag); ok && f.Enum != "" && f.PlaceHolder == "" {
			f.PlaceHolder = strings.Join(f.EnumSlice(), "|")
		}
		return next(nil)
	})
}

// variables returns the names of all environment variables that are read: those
// of flags, and secrets, which have no flag since other users of the machine can
// read the arguments of a process.
func variables(app *kong.Application, secrets []string) map[string]bool {
	known := map[string]bool{}
	for _, name := range secrets {
		known[name] = true
	}
	_ = kong.Visit(app, func(n kong.Visitable, next kong.Next) error {
		if f, ok := n.(*kong.Flag); ok {
			for _, name := range f.Envs {
				known[name] = true
			}
		}
		return next(nil)
	})
	return known
}

// CheckEmpty returns an error if a variable is set to nothing.
func CheckEmpty(app *kong.Application, secrets, environ []string) error {
	known := variables(app, secrets)
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); known[name] && value == "" {
			return fault.New(fault.Invalid, "the environment variable %s is empty: give it a value or unset it", name)
		}
	}
	return nil
}

// Unknown is a variable with our prefix that is not a setting: probably a
// misspelt one, which would silently have no effect.
type Unknown struct {
	Text     string // says which it is and what to do
	Injected bool   // by Kubernetes, not by the operator
}

// injectedVariables are set by Kubernetes in every container for a service named
// pregon.
var injectedVariables = []string{
	EnvPrefix + "_PORT", EnvPrefix + "_PORT_*", EnvPrefix + "_SERVICE_HOST", EnvPrefix +
		"_SERVICE_PORT", EnvPrefix + "_SERVICE_PORT_*",
}

// namedVariables begins the names that a config file chooses, for the secrets of
// providers. A provider without its variable is an error of the file.
const namedVariables = EnvPrefix + "_SIGNIN_"

// UnknownVariables returns the variables that are not settings.
func UnknownVariables(app *kong.Application, secrets, environ []string) (found []Unknown) {
	known := variables(app, secrets)
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if known[name] || !strings.HasPrefix(name, EnvPrefix+"_") || strings.HasPrefix(name, namedVariables) {
			continue
		}
		if slices.ContainsFunc(injectedVariables,
			func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok }) {
			found = append(found, Unknown{fmt.Sprintf(
				"the environment variable %s is not a setting: Kubernetes sets it for a service named pregon "+
					"(enableServiceLinks: false stops that)", name), true})
			continue
		}
		hint := "docs/cli.md lists them"
		if near := closest(name, slices.Sorted(maps.Keys(known))); near != "" {
			hint = "did you mean " + near + "?"
		}
		found = append(found, Unknown{fmt.Sprintf("the environment variable %s is not a setting; %s", name,
			hint), false})
	}
	return found
}

// closest returns a name that name is a prefix of, else the one at the smallest
// edit distance, if that is small.
func closest(name string, names []string) (best string) {
	least := 1 + len(strings.TrimPrefix(name, EnvPrefix+"_"))/3
	for _, candidate := range names {
		if strings.HasPrefix(candidate, name+"_") {
			return candidate
		}
		if d := edits(name, candidate); d <= least && (best == "" || d < edits(name, best)) {
			best = candidate
		}
	}
	return best
}

// edits returns the Damerau-Levenshtein distance between two words.
func edits(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// FormatValue returns the value of a flag as it would be given.
func FormatValue(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case slog.Level:
		return strings.ToLower(x.String())
	case fmt.Stringer:
		return x.String()
	case encoding.TextMarshaler:
		text, _ := x.MarshalText() // of what was read from text
		return string(text)
	case bool:
		if x {
			return "on"
		}
		return "off"
	}
	if v.Kind() == reflect.Slice {
		all := make([]string, v.Len())
		for i := range all {
			all[i] = FormatValue(v.Index(i))
		}
		return strings.Join(all, ", ")
	}
	return fmt.Sprint(v.Interface())
}
