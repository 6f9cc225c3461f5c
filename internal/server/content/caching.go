package content

import (
	"net/http"
	"strconv"
	"time"
)

// ThroughCache reports whether a shared cache, such as a CDN, sent a request: caches name
// themselves in CDN-Loop (RFC 8586). A client that sends the header itself only loses the
// headers about itself.
func ThroughCache(r *http.Request) bool { return r.Header["Cdn-Loop"] != nil }

// aboutCaller are the headers that concern one caller or one request.
var aboutCaller = []string{"Ratelimit", "Ratelimit-Policy", "X-Request-Id"}

// Values of Cache-Control for an answer that changes at any time. A shared cache keeps it
// for a second, and never sends it afterwards, also while it fetches a newer one or cannot.
const (
	sharedSecond = "s-maxage=1, stale-while-revalidate=0, stale-if-error=0"
	notLimits    = `no-cache="RateLimit, RateLimit-Policy"`
)

var (
	kept1s       = []string{"public, max-age=1"}
	kept1sLimits = []string{"public, max-age=1, " + notLimits}
	kept1sShared = []string{"public, max-age=0, " + sharedSecond}
)

// SetPublic completes the headers of an answer that is the same for every caller without a
// credential, and that its client may keep for maxAge, at least a second.
//
// A shared cache keeps the answer for a second, whatever maxAge is. An answer to a cache has
// no header that concerns one caller, because the cache sends them to all. Another answer
// says that the limits of the caller are not to be kept; a cache that does not announce
// itself then keeps nothing of it.
func SetPublic(h http.Header, r *http.Request, maxAge time.Duration) {
	brief := maxAge < 2*time.Second
	switch {
	case ThroughCache(r):
		dropCaller(h)
		h["Cache-Control"] = kept1sShared
		if !brief {
			h["Cache-Control"] = []string{"public, max-age=" + seconds(maxAge) + ", " + sharedSecond}
		}
	case h["Ratelimit"] != nil:
		h["Cache-Control"] = kept1sLimits
		if !brief {
			h["Cache-Control"] = []string{"public, max-age=" + seconds(maxAge) + ", " + notLimits}
		}
	case brief:
		h["Cache-Control"] = kept1s
	default:
		h["Cache-Control"] = []string{"public, max-age=" + seconds(maxAge)}
	}
}

// SetImmutable is SetPublic for an answer whose address has only this content: shared
// caches keep it for maxAge too.
func SetImmutable(h http.Header, r *http.Request, maxAge time.Duration) {
	value := "public, max-age=" + seconds(maxAge) + ", immutable"
	if ThroughCache(r) {
		dropCaller(h)
	} else if h["Ratelimit"] != nil {
		value += ", " + notLimits
	}
	h["Cache-Control"] = []string{value}
}

func dropCaller(h http.Header) {
	for _, name := range aboutCaller {
		delete(h, name)
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(max(1, int(d.Seconds()))) }
