package summary

import (
	"embed"
	"strings"

	"pregon/internal/document/lexicon"
)

// The word lists are data, in files of their own.
//
//go:embed words/*.txt
var wordFiles embed.FS

var lists = lexicon.Load(wordFiles, "words")

func lexiconOf(name string) lexicon.Set { return lists.Set(name) }

func phrasesOf(name string) lexicon.Phrases { return lists.Phrases(name) }

// visible returns a text on one line without invisible characters.
func visible(text string) string { return squeeze(lexicon.WithoutHidden(text)) }

// squeeze makes every run of white space one space.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }
