package sources

import (
	"context"

	"pregon/internal/source/doctor"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// Record returns a tape of what the sites answer.
func Record() *doctor.Tape { return doctor.Record(regulator.NewTransport()) }

// Examine reads every surface of the site once, through the tape of the options, which
// lack only the clients.
func (s Site) Examine(ctx context.Context, o doctor.Options) error {
	var err error
	o.Regulator, o.Exchange, err = s.clients(throttle.New(s.Pace), transports{
		regulator: o.Tape.For(doctor.Regulator),
		exchange:  o.Tape.For(doctor.Exchange),
	})
	if err != nil {
		return err
	}
	_, err = doctor.Run(ctx, o)
	return err
}
