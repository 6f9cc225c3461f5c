package doctor

import (
	"bytes"
	"net/http"
	"testing"
)

// FuzzInspect checks that the lines of findings are in the page.
func FuzzInspect(f *testing.F) {
	f.Add([]byte("<html>\n<title>Una página\n</title>"), "text/html; charset=utf-8", int64(1))
	f.Add([]byte("<?xml version='1.0' encoding='latin1'?>\n\xf3"), "text/xml", int64(40374))
	f.Add([]byte("\n\nÃ³ \xff"), "text/html; charset=iso-8859-1", int64(0))
	f.Fuzz(func(t *testing.T, body []byte, contentType string, number int64) {
		for _, verdict := range []Verdict{OK, Failed} {
			c := Check{Verdict: verdict}
			c.inspect(&Answer{Status: 200, Header: http.Header{"Content-Type": {contentType}}, body: body}, "html")
			c.Odd(lineOfNumber(body, number), "number")
			for _, finding := range c.Findings {
				if finding.Line < 0 || finding.Line > 1+bytes.Count(body, []byte{'\n'}) {
					t.Errorf("the page has no line %d: %s", finding.Line, finding.Text)
				}
			}
		}
	})
}
