package main

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

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
)

// The flags as kong has read them from cli are the one model of all settings:
// help, check-config, docs/cli.md, completion and the check of the environment
// are made from it.

// secretVariables have no flag, since arguments can be read by others on the
// machine.
var secretVariables = []string{secretKeyEnv, llmKeyEnv, keyEnv}

// defaultOf returns what a flag is when it is not given, or nothing when its
// help says it in words.
func defaultOf(v *kong.Value) string {
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

// describe is the help of a flag, with its default and its variable.
func describe(v *kong.Value) string {
	text := v.Help
	if def := defaultOf(v); def != "" && v.Flag != nil && v.Flag.Envs != nil {
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

// variables are the names of all environment variables that are read.
func variables(app *kong.Application) map[string]bool {
	known := map[string]bool{}
	for _, name := range secretVariables {
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

// refuseEmptyVariables refuses a setting that is there and says nothing.
func refuseEmptyVariables(app *kong.Application, environ []string) error {
	known := variables(app)
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); known[name] && value == "" {
			return fault.New(fault.Invalid, "the environment variable %s is empty: give it a value or unset it", name)
		}
	}
	return nil
}

// strict is a command that can refuse unknown variables.
type strict interface{ strict() bool }

func (c *serveCmd) strict() bool { return true }

// checkVariables warns of PREGON_ variables that are no settings: a misspelt
// one would have no effect without a word. A command that would run for long
// with the wrong settings refuses them.
func (p *process) checkVariables(command *kong.Context) error {
	selected := command.Selected()
	if selected == nil || selected.Hidden {
		return nil
	}
	c, ok := selected.Target.Addr().Interface().(strict)
	refuse := ok && c.strict()
	for _, warning := range unknownVariables(command.Model, p.environ) {
		if refuse && !warning.injected {
			return fault.New(fault.Invalid, "%s", warning.text)
		}
		fmt.Fprintln(p.stderr, "pregon: warning:", warning.text)
	}
	return nil
}

type variableWarning struct {
	text     string
	injected bool // by Kubernetes, which nobody can be blamed for
}

// injectedVariables are what Kubernetes sets in every container for a service
// with the name pregon.
var injectedVariables = []string{
	envPrefix + "_PORT", envPrefix + "_PORT_*", envPrefix + "_SERVICE_HOST", envPrefix + "_SERVICE_PORT", envPrefix + "_SERVICE_PORT_*",
}

func unknownVariables(app *kong.Application, environ []string) (found []variableWarning) {
	known := variables(app)
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if known[name] || !strings.HasPrefix(name, envPrefix+"_") {
			continue
		}
		if slices.ContainsFunc(injectedVariables, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok }) {
			found = append(found, variableWarning{fmt.Sprintf(
				"the environment variable %s is not a setting: Kubernetes sets it for a service named pregon (enableServiceLinks: false stops that)", name), true})
			continue
		}
		hint := "docs/cli.md lists them"
		if near := closest(name, slices.Sorted(maps.Keys(known))); near != "" {
			hint = "did you mean " + near + "?"
		}
		found = append(found, variableWarning{fmt.Sprintf("the environment variable %s is not a setting; %s", name, hint), false})
	}
	return found
}

// closest returns the name that begins so, else the one that is fewest edits
// away, if those are few.
func closest(name string, names []string) (best string) {
	least := 1 + len(strings.TrimPrefix(name, envPrefix+"_"))/3
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

// edits counts the letters to insert, remove or replace, and the neighbours to
// swap, that make one word another.
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

type checkConfigCmd struct {
	serveConfig
	Strict bool `help:"Refuse unknown PREGON_ variables, as serve does."`
}

func (c *checkConfigCmd) strict() bool { return c.Strict }

// Run checks and prints the settings in force, secrets hidden.
func (c *checkConfigCmd) Run(p *process, command *kong.Context) error {
	if err := c.validate(); err != nil {
		return err
	}
	if _, err := secret.NewBox(p.getenv(secretKeyEnv)); err != nil {
		return err
	}
	// What has a secret in it, or a default that depends on the rest.
	special := map[string]string{
		"store": c.show(), "redis": c.showRedis(), "base-url": c.baseURL(c.Listen), "cache-dir": c.cacheDir(slog.New(slog.DiscardHandler)),
	}
	var lines [][2]string
	for _, f := range command.Selected().Flags {
		value, ok := special[f.Name]
		if !ok {
			value = showValue(f.Target)
		}
		if f.Name != "strict" {
			lines = append(lines, [2]string{f.Name, orOff(value)})
		}
	}
	lines = append(lines, [2]string{"secret-key", hidden(p.getenv(secretKeyEnv))}, [2]string{"llm-key", hidden(p.getenv(llmKeyEnv))})
	for _, line := range lines {
		fmt.Fprintf(p.stdout, "%-24s %s\n", line[0], line[1])
	}
	return nil
}

// showValue is a setting as it would be given.
func showValue(v reflect.Value) string {
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
			all[i] = showValue(v.Index(i))
		}
		return strings.Join(all, ", ")
	}
	return fmt.Sprint(v.Interface())
}

func orOff(s string) string {
	if s == "" {
		return "off"
	}
	return s
}

// hidden says of a secret only that there is one.
func hidden(s string) string {
	if s == "" {
		return "off"
	}
	return "set"
}
