package main_test

import (
	"flag"
	"testing"
	"time"
)

var soak = flag.Duration("soak", 0, "how long TestPushSoak plays, such as 10m; 0 skips it")

// TestPushSoak is TestPushAgrees at ten times the peak, for as long as it is
// told, with a source that has bad hours.
func TestPushSoak(t *testing.T) {
	if *soak <= 0 {
		t.Skip("-soak 10m runs it")
	}
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play := pushPlay{lasts: *soak, every: 100 * time.Millisecond, kills: 20 * time.Second, faults: []string{
				`{"kind":"error500","surface":"feed","share":0.5,"for":"1h"}`,
				`{"kind":"reset","surface":"feed","type":"oir","share":0.5,"for":"1h"}`,
				`{"kind":"stall","surface":"feed","share":0.3,"by":"700ms","for":"1h"}`,
				`{"kind":"error500","surface":"list","share":0.5,"for":"1h"}`,
				`{"kind":"truncate","surface":"permalink","share":0.5,"for":"1h"}`,
				`{"kind":"errorpage","surface":"permalink","share":0.3,"for":"1h"}`,
				`{"kind":"error403","surface":"all","share":0.1,"for":"1h"}`,
				`{"kind":"silent","surface":"feed","type":"oir","for":"1h"}`,
				`{"kind":"frozen","surface":"feed","for":"1h"}`,
			}}
			play.run(t, newStore(t), map[string]int{"sqlite": 1, "postgres": 2}[name], 10*time.Minute)
		})
	}
}
