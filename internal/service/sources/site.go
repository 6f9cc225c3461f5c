package sources

import (
	"net/http"
	"time"

	"pregon/internal/server/origin"
	"pregon/internal/source/exchange"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// Site says where the source is, and how this program reads it.
type Site struct {
	Regulator string        // origin of the regulator
	Exchange  string        // origin of the exchange
	Pace      time.Duration // least time between two requests to the regulator
	Contact   string        // of the operator, for the regulator; empty for the base URL
	BaseURL   string        // of the service; empty if there is none
	Version   string        // of the program
}

// IsPublic reports whether the source is the regulator itself. Another address may be a
// simulation, which only its answers show.
func (s Site) IsPublic() bool { return s.Regulator == regulator.PublicOrigin }

// UserAgent returns the name of the program in requests. A local address is no contact.
func (s Site) UserAgent() string {
	switch {
	case s.Contact != "":
		return "pregon/" + s.Version + " (+" + s.Contact + ")"
	case s.BaseURL != "" && !origin.IsLocal(s.BaseURL):
		return "pregon/" + s.Version + " (+" + s.BaseURL + ")"
	}
	return "pregon/" + s.Version + " (contact not given)"
}

// transports replace those of the clients. Both may be nil.
type transports struct {
	regulator http.RoundTripper
	exchange  http.RoundTripper
}

// clients returns the clients of the regulator and the exchange.
func (s Site) clients(queue *throttle.Queue, with transports) (*regulator.Client, *exchange.Client, error) {
	source, err := regulator.New(regulator.Options{
		Origin:    s.Regulator,
		UserAgent: s.UserAgent(),
		Queue:     queue,
		Transport: with.regulator,
	})
	if err != nil {
		return nil, nil, err
	}
	gap := time.Second
	if origin.IsLocal(s.Exchange) {
		gap = min(gap, s.Pace)
	}
	listed, err := exchange.New(exchange.Options{
		Origin:    s.Exchange,
		UserAgent: s.UserAgent(),
		Gap:       gap,
		Transport: with.exchange,
	})
	return source, listed, err
}
