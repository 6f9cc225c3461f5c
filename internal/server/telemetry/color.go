package telemetry

import (
	"io"
	"regexp"
)

// Colored returns a writer that colors the lines of a text log for a terminal: the
// time dim, the level by its severity.
func Colored(w io.Writer) io.Writer { return colored{w} }

type colored struct{ w io.Writer }

var levels = []struct {
	lines *regexp.Regexp
	paint []byte
}{
	{regexp.MustCompile(`(?m)^(time=\S+) (level=ERROR\S*) `), []byte("\x1b[2m$1\x1b[0m \x1b[1;31m$2\x1b[0m ")},
	{regexp.MustCompile(`(?m)^(time=\S+) (level=WARN\S*) `), []byte("\x1b[2m$1\x1b[0m \x1b[1;33m$2\x1b[0m ")},
	{regexp.MustCompile(`(?m)^(time=\S+) (level=INFO\S*) `), []byte("\x1b[2m$1\x1b[0m \x1b[32m$2\x1b[0m ")},
	{regexp.MustCompile(`(?m)^(time=\S+) (level=DEBUG\S*) `), []byte("\x1b[2m$1\x1b[0m \x1b[36m$2\x1b[0m ")},
}

// Write writes whole lines.
func (c colored) Write(lines []byte) (int, error) {
	painted := lines
	for _, l := range levels {
		painted = l.lines.ReplaceAll(painted, l.paint)
	}
	_, err := c.w.Write(painted)
	return len(lines), err
}
