package regulator_test

import (
	"testing"
	"time"

	"pregon/internal/source/regulator"
)

// TestResolveTimes checks times of the night of 25 October 2026, when the hour from
// two to three occurred twice: 00:xx UTC is the first reading, 01:xx the second.
func TestResolveTimes(t *testing.T) {
	utc := func(clock string) time.Time {
		at, err := time.Parse("2006-01-02 15:04:05", "2026-10-25 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	sure := func(n int64, clock string) regulator.Row { return regulator.Row{Number: n, At: utc(clock)} }
	twice := func(n int64, minute string) regulator.Row {
		return regulator.Row{Number: n, At: utc("00:" + minute + ":00"), Later: utc("01:" + minute + ":00")}
	}
	for name, test := range map[string]struct {
		rows []regulator.Row
		sure []regulator.Row
		want map[int64]string
	}{
		"nothing to decide": {
			rows: []regulator.Row{sure(1, "00:10:00")}, want: map[int64]string{1: "00:10:00"},
		},
		"the first, without neighbours": {
			rows: []regulator.Row{twice(1, "10")}, want: map[int64]string{1: "00:10:00"},
		},
		"the clock goes back between two": {
			rows: []regulator.Row{sure(4, "02:10:00"), twice(3, "20"), twice(2, "50"), twice(1, "10")}, // newest first, as lists are
			want: map[int64]string{1: "00:10:00", 2: "00:50:00", 3: "01:20:00", 4: "02:10:00"},
		},
		"a neighbour of the feed": {
			rows: []regulator.Row{twice(7, "05")}, sure: []regulator.Row{{Number: 6, At: utc("01:02:11")}},
			want: map[int64]string{7: "01:05:00"},
		},
		"a higher number does not count": {
			rows: []regulator.Row{twice(7, "05")}, sure: []regulator.Row{{Number: 8, At: utc("01:02:11")}},
			want: map[int64]string{7: "00:05:00"},
		},
		"a neighbour of the same minute": {
			rows: []regulator.Row{twice(7, "05")}, sure: []regulator.Row{{Number: 6, At: utc("00:05:48")}},
			want: map[int64]string{7: "00:05:00"},
		},
		"a number far away is no neighbour": {
			rows: []regulator.Row{twice(70, "05")}, sure: []regulator.Row{{Number: 7, At: utc("01:30:00")}},
			want: map[int64]string{70: "00:05:00"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, row := range regulator.ResolveTimes(test.rows, test.sure) {
				if want := utc(test.want[row.Number]); !row.At.Equal(want) || !row.Later.IsZero() {
					t.Errorf("time of %d: got %v, want %v", row.Number, row.At, want)
				}
			}
			for _, row := range test.rows {
				if row.Number == 7 && row.Later.IsZero() {
					t.Error("Settle changed its argument")
				}
			}
		})
	}
}
