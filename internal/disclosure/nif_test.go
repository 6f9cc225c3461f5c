package disclosure_test

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestParseNIF(t *testing.T) {
	tests := []struct {
		literal string
		want    disclosure.NIF
		checks  bool
	}{
		{"A28015865", "A28015865", true},
		{"A-28023430", "A28023430", true},
		{"a39000013", "A39000013", true},
		{"ES A.390.00013", "A39000013", true},
		{" G-81660722 ", "G81660722", true},
		{"N0119863I", "N0119863I", true},
		{"Q2891005G", "Q2891005G", true},
		{"A28015866", "A28015866", false}, // shape without check: kept, never refused
		{"A2801586K", "", false},
		{"K28015865", "", false}, // a person
		{"BRL-000356", "", false},
		{"16086", "", false},
		{"ES", "", false},
		{"", "", false},
		{"Ñ28015865", "", false},
		{"A2801586５", "", false},
	}
	for _, tt := range tests {
		got, ok := disclosure.ParseNIF(tt.literal)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("ParseNIF(%q) = %q, %v; want %q", tt.literal, got, ok, tt.want)
		}
		if got.Checks() != tt.checks {
			t.Errorf("%q.Checks() = %v, want %v", got, got.Checks(), tt.checks)
		}
	}
}

func TestMadeNIFsCheck(t *testing.T) {
	for _, digits := range []string{"0000000", "1234567", "9999999", "2801586"} {
		if n := disclosure.MakeNIF('A', digits); !n.Checks() {
			t.Errorf("MakeNIF(A, %s) = %s, which does not check", digits, n)
		}
	}
}

func FuzzParseNIF(f *testing.F) {
	for _, s := range []string{"A-28023430", "BRL-000356", "esa39000013", "\xff", "ı28015865"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := disclosure.ParseNIF(s)
		_ = n.Checks() // must not panic
		if !ok {
			return
		}
		if again, ok := disclosure.ParseNIF(string(n)); !ok || again != n {
			t.Errorf("%q normalises to %q, which normalises to %q", s, n, again)
		}
	})
}

func TestOtherSpelling(t *testing.T) {
	for literal, want := range map[string]string{
		"A15075062": "A-15075062", "A-15075062": "A15075062", "a15075062": "A-15075062", "V-69001239": "V69001239", "16086": "", "BRL-000356": "", "": "",
	} {
		if got, ok := disclosure.OtherSpelling(literal); got != want || ok != (want != "") {
			t.Errorf("OtherSpelling(%q) = %q, %v, want %q", literal, got, ok, want)
		}
	}
}
