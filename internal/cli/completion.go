package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// CompleteCommand is the command that the completion scripts call with the words
// typed so far, the last of them unfinished. It is handled before flags are
// parsed, since the words are not a complete command.
const CompleteCommand = "complete"

// CompletionScripts are the scripts of the shells, by name. If there is no
// completion, the shells complete file names.
var CompletionScripts = map[string]string{
	"bash": `_pregon() {
  local IFS=$'\n'
  COMPREPLY=($(pregon complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _pregon pregon
`,
	"zsh": `#compdef pregon
_pregon() {
  local -a found
  found=("${(@f)$(pregon complete "${(@)words[2,CURRENT]}" 2>/dev/null | sed -e 's/:/\\:/g' -e 's/\t/:/')}")
  if [[ -n "${found[1]}" ]]; then _describe pregon found; else _files; fi
}
compdef _pregon pregon
`,
	"fish": `complete -c pregon -a '(pregon complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

// PrintCompletions prints the completions of the last word, one a line, each with
// its help.
func PrintCompletions(w io.Writer, app *kong.Application, words []string) error {
	for _, c := range Completions(app, words) {
		if _, err := fmt.Fprintf(w, "%s\t%s\n", c.Word, c.Help); err != nil {
			return err
		}
	}
	return nil
}

// Completion is a word that may follow, with its help.
type Completion struct{ Word, Help string }

// Completions returns the completions of the last word.
func Completions(app *kong.Application, words []string) (found []Completion) {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "=" }) // bash passes it as a word
	if len(words) == 0 {
		words = []string{""}
	}
	typed, words := words[len(words)-1], words[:len(words)-1]
	add := func(word, help string) {
		if strings.HasPrefix(word, typed) {
			found = append(found, Completion{word, help})
		}
	}
	node, arguments, open := walk(app.Node, words)
	if open != nil {
		for _, value := range enumOf(open) {
			add(value, "")
		}
		return found
	}
	if strings.HasPrefix(typed, "-") {
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				add("--"+f.Name, f.Help)
			}
		}
		return found
	}
	for _, child := range node.Children {
		if !child.Hidden {
			add(child.Name, child.Help)
		}
	}
	if arguments < len(node.Positional) {
		for _, value := range enumOf(node.Positional[arguments]) {
			add(value, "")
		}
	}
	return found
}

// walk follows the words to a command. It returns the number of positional
// arguments after it, and the flag whose value is expected next, if any.
func walk(node *kong.Node, words []string) (at *kong.Node, arguments int, open *kong.Value) {
	for _, word := range words {
		name, isFlag := strings.CutPrefix(word, "--")
		switch child := childOf(node, word); {
		case open != nil:
			open = nil
		case isFlag:
			open = flagOf(node, name)
		case child != nil:
			node, arguments = child, 0
		default:
			arguments++
		}
	}
	return node, arguments, open
}

// childOf returns the command of that name.
func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// flagOf returns the flag of that name if it takes a value.
func flagOf(node *kong.Node, name string) *kong.Value {
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			if f.Name == name && !f.IsBool() {
				return f.Value
			}
		}
	}
	return nil
}

func enumOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return strings.Split(v.Enum, ",")
}
