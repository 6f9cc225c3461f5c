package mask_test

import (
	"bytes"
	"strings"
	"testing"

	"pregon/internal/text/mask"
)

func TestCredentials(t *testing.T) {
	const random = "0123456789ABCDEFGHIJabcdefghijkl012345"
	const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbmEifQ.c2lnbmF0dXJl-_x"
	for text, want := range map[string]string{
		"":                                                  "",
		"/api/v1/reports/oir-40374":                         "/api/v1/reports/oir-40374",
		"the key pregon_live_" + random + ".":               "the key pregon_live_….",
		"/api/v1/pregon_live_" + random + "/x y":            "/api/v1/pregon_live_…/x y",
		"PREGON_LIVE_" + random:                             "PREGON_LIVE_…",
		"pregon_refresh_" + random:                          "pregon_refresh_…",
		"pregon%5Flive%5f" + random:                         "pregon%5Flive%5f…",
		"pregon%255Flive%255F" + random:                     "pregon%255Flive%255F…",
		"pregon_live_" + random + `" pregon_live_` + random: `pregon_live_…" pregon_live_…`,
		"pregon_live_…":                                     "pregon_live_…",
		"pregon_live_ is the prefix":                        "pregon_live_ is the prefix",
		"Bearer " + jwt:                                     "Bearer eyJ…",
		"/" + jwt[:30]:                                      "/eyJ…",
		"keyJar eyJar":                                      "keyJar eyJar",
		"whsec_c2VjcmV0c2VjcmV0+/=":                         "whsec_…",
		"/feed.atom?watchlist=wlf_" + random + "&lang=en":   "/feed.atom?watchlist=wlf_…&lang=en",
		"%2Fwls%5F" + random:                                "%2Fwls%5F…",
		"/api/v1/stream?ticket=stk_" + random:               "/api/v1/stream?ticket=stk_…",
		"ticket%3Dstk%5F" + random + "&after=1":             "ticket%3Dstk%5F…&after=1",
		"the prefix stk_, stkr":                             "the prefix stk_, stkr",
		"the prefixes wls_ and wlf_, howls":                 "the prefixes wls_ and wlf_, howls",
		"wl_0123456789":                                     "wl_0123456789",
		"pregon://reports/latest":                           "pregon://reports/latest",
		"pregon_live_short and pregon_dead":                 "pregon_live_… and pregon_dead",
	} {
		if got := mask.Credentials(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if again := mask.Credentials(mask.Credentials(text)); again != mask.Credentials(text) {
			t.Errorf("%q is masked twice", text)
		}
		var out bytes.Buffer
		if n, err := (mask.Writer{Writer: &out}).Write([]byte(text)); n != len(text) || err != nil || out.String() != want {
			t.Errorf("%q is written as %q, %d, %v", text, &out, n, err)
		}
	}
	if long := strings.Repeat("pregon_live_", 10_000); len(mask.Credentials(long)) > 20 {
		t.Error("a long one is not masked at once")
	}
}
