package telemetry

import (
	"errors"
	"log/slog"
	"strconv"
	"strings"
)

// AccessLog selects the requests that are logged. The zero value selects all.
type AccessLog struct {
	mode  accessMode
	every uint64 // of a sample: one in so many requests
}

type accessMode int

const (
	accessAll accessMode = iota
	accessErrors
	accessSample // errors, and some others
	accessOff
)

// UnmarshalText reads the value of a flag.
func (a *AccessLog) UnmarshalText(text []byte) error {
	switch s := string(text); s {
	case "all":
		*a = AccessLog{}
	case "errors":
		*a = AccessLog{mode: accessErrors}
	case "off":
		*a = AccessLog{mode: accessOff}
	default:
		n, ok := strings.CutPrefix(s, "1/")
		every, err := strconv.ParseUint(n, 10, 32)
		if !ok || err != nil || every == 0 {
			return errors.New("must be all, errors, off, or a share such as 1/100")
		}
		*a = AccessLog{mode: accessSample, every: every}
	}
	return nil
}

// String returns the value as UnmarshalText reads it.
func (a AccessLog) String() string {
	switch a.mode {
	case accessErrors:
		return "errors"
	case accessSample:
		return "1/" + strconv.FormatUint(a.every, 10)
	case accessOff:
		return "off"
	}
	return "all"
}

// MarshalText is the reverse of UnmarshalText.
func (a AccessLog) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// selects reports whether a request of a level is logged.
func (l *Log) selects(level slog.Level) bool {
	switch l.Access.mode {
	case accessErrors:
		return level >= slog.LevelError
	case accessSample:
		return level >= slog.LevelError || l.requests.Add(1)%l.Access.every == 0
	case accessOff:
		return false
	}
	return true
}
