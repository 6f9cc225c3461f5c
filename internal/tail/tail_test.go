package tail

import (
	"bytes"
	"testing"
)

func TestEvent(t *testing.T) {
	const report = `{"id":"ip-3401","type":"IP","company_name":"OTRA","title":"Uno\u001b[2Jdos","published_at":"2026-04-22T12:00:00+02:00","event":"report.updated","changed":["title"]}`
	for name, test := range map[string]struct {
		printer Printer
		want    string
	}{
		"plain":  {Printer{}, "2026-04-22 12:00:00  IP   ip-3401     OTRA                              Uno\ufffd[2Jdos (report.updated title)\n"},
		"colour": {Printer{Colors: true}, "\x1b[2m2026-04-22 12:00:00\x1b[0m  \x1b[1;31mIP \x1b[0m  ip-3401     OTRA                              Uno\ufffd[2Jdos\x1b[2m (report.updated title)\x1b[0m\n"},
		"json":   {Printer{JSON: true, Colors: true}, report + "\n"},
	} {
		var out bytes.Buffer
		test.printer.Out = &out
		if err := test.printer.Event([]byte(report)); err != nil || out.String() != test.want {
			t.Errorf("%s: got %q, %v\nwant %q", name, out.String(), err, test.want)
		}
	}
}
