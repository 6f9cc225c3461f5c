package token

import (
	"math"
	"time"
)

const (
	leeway   = 30 * time.Second // for the clocks of other parties
	maxAhead = 24 * time.Hour   // maximum of exp
)

// text returns a claim that must be an identifier.
func (j *jws) text(name string) (string, error) {
	s, ok := j.claims[name].(string)
	if !ok || s == "" || len(s) > maxText || !isPrintable(s) {
		return "", tokenError(name + " must be a text of 1 to 255 bytes without control characters")
	}
	return s, nil
}

// audience returns the single value of aud.
func (j *jws) audience() (string, error) {
	aud := j.claims["aud"]
	if list, ok := aud.([]any); ok && len(list) == 1 {
		aud = list[0]
	}
	s, ok := aud.(string)
	if !ok || s == "" {
		return "", tokenError("aud must be one text, or a list of exactly one")
	}
	return s, nil
}

// year9999 is the last time that RFC 3339 can represent.
const year9999 = 253402300799

// instant returns a claim in seconds since 1970, which may have a fraction.
func (j *jws) instant(name string) (at time.Time, there bool, err error) {
	value, there := j.claims[name]
	if !there {
		return time.Time{}, false, nil
	}
	seconds, ok := value.(float64)
	if !ok || !(seconds >= 0 && seconds <= year9999) {
		return time.Time{}, false, tokenError(name + " must be a number: seconds since 1970")
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)), true, nil
}

// times checks exp, iat and nbf, and returns exp.
func (j *jws) times(now time.Time, iatNeeded bool) (time.Time, error) {
	exp, there, err := j.instant("exp")
	if err != nil {
		return time.Time{}, err
	}
	if !there {
		return time.Time{}, tokenError("exp is missing")
	}
	if !now.Before(exp.Add(leeway)) {
		return time.Time{}, tokenError("it has expired")
	}
	if exp.After(now.Add(maxAhead)) {
		return time.Time{}, tokenError("exp may be 24 hours ahead at most")
	}
	for _, name := range []string{"iat", "nbf"} {
		from, there, err := j.instant(name)
		if err != nil {
			return time.Time{}, err
		}
		if !there && name == "iat" && iatNeeded {
			return time.Time{}, tokenError("iat is missing")
		}
		if from.After(now.Add(leeway)) {
			return time.Time{}, tokenError(name + " is in the future: it is not valid yet")
		}
	}
	return exp, nil
}
