package main

import (
	"pregon/internal/fault"
	"pregon/internal/source/registers"
)

// registerFlags choose the registers of positions that are read.
type registerFlags struct {
	Registers       string `default:"shorts,dealings,holdings" placeholder:"NAMES" help:"Registers of positions that are read beside the reports: shorts, dealings and holdings, separated by commas, or none. With holdings, own shares and the general data of issuers are read too."`
	PeopleRetention int    `default:"1826" placeholder:"DAYS" help:"Days after which the names of natural persons in these registers are erased, counted from the day of the entry: 1 to 1826, which is five years."`
}

func (f *registerFlags) validate() error {
	if _, err := registers.ParseNames(f.Registers); err != nil {
		return fault.Wrap(fault.Invalid, err, "--registers: %v", err)
	}
	if f.PeopleRetention < 1 || f.PeopleRetention > registers.MaxRetention {
		return fault.New(fault.Invalid, "--people-retention %d must be from 1 to %d days", f.PeopleRetention,
			registers.MaxRetention)
	}
	return nil
}

// settings returns the choices, which are valid.
func (f *registerFlags) settings() registers.Settings {
	names, _ := registers.ParseNames(f.Registers)
	return registers.Settings{Read: names, Retention: f.PeopleRetention}
}
