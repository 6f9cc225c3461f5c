package chart

import "embed"

// Files has the templates, texts and style of charts, in folders of these names.
//
//go:embed style templates texts
var Files embed.FS
