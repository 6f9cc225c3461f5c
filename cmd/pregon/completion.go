package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completeCommand is what the scripts of all shells call with the words that
// were typed, the last of them unfinished. It is taken before flags are read,
// since the words are no complete command.
const completeCommand = "complete"

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish. Try: source <(pregon completion bash)"`
}

// Run prints the script.
func (c *completionCmd) Run(p *process) error {
	_, err := io.WriteString(p.stdout, completionScripts[c.Shell])
	return err
}

// Where nothing is found the shells complete the names of files.
var completionScripts = map[string]string{
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

// printCompletions prints what the last word may become, each with what it is.
func printCompletions(w io.Writer, app *kong.Application, words []string) error {
	for _, c := range completions(app, words) {
		if _, err := fmt.Fprintf(w, "%s\t%s\n", c.word, c.help); err != nil {
			return err
		}
	}
	return nil
}

type completion struct{ word, help string }

func completions(app *kong.Application, words []string) (found []completion) {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "=" }) // a word of its own to bash
	if len(words) == 0 {
		words = []string{""}
	}
	typed, words := words[len(words)-1], words[:len(words)-1]
	add := func(word, help string) {
		if strings.HasPrefix(word, typed) {
			found = append(found, completion{word, help})
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

// walk follows the words to a command. It returns how many arguments that has,
// and the flag that waits for its value.
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
