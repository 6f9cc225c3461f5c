package delivery_test

import (
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/delivery"
	"pregon/internal/push/alert/subscription"
)

// madrid reads a time with the offset that clocks in Madrid have then.
func madrid(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04 -07", s)
	if err != nil {
		t.Fatal(err)
	}
	if got := at.In(disclosure.Madrid).Format("2006-01-02 15:04 -07"); got != s {
		t.Fatalf("%s is no time of Madrid", s)
	}
	return at
}

// Each day has one message, also the days on which the clock changes.
func TestNextDay(t *testing.T) {
	for _, test := range []struct{ now, at, want string }{
		{"2026-02-03 07:59 +01", "08:00", "2026-02-03 08:00 +01"},
		{"2026-02-03 08:00 +01", "08:00", "2026-02-04 08:00 +01"},
		{"2026-02-03 23:30 +01", "00:00", "2026-02-04 00:00 +01"},
		{"2026-12-31 12:00 +01", "08:00", "2027-01-01 08:00 +01"},
		// The clock is set forward, from 2 to 3.
		{"2026-03-28 09:00 +01", "08:00", "2026-03-29 08:00 +02"},
		{"2026-03-29 00:30 +01", "08:00", "2026-03-29 08:00 +02"},
		{"2026-03-28 09:00 +01", "02:30", "2026-03-29 03:30 +02"}, // 02:30 does not exist
		{"2026-03-29 03:30 +02", "02:30", "2026-03-30 02:30 +02"},
		// The clock is set back, from 3 to 2.
		{"2026-10-24 09:00 +02", "08:00", "2026-10-25 08:00 +01"},
		{"2026-10-24 09:00 +02", "02:30", "2026-10-25 02:30 +01"}, // the second of two
		{"2026-10-25 02:30 +02", "02:30", "2026-10-25 02:30 +01"},
		{"2026-10-25 02:30 +01", "02:30", "2026-10-26 02:30 +01"},
	} {
		at, ok := alert.ParseMinute(test.at)
		if !ok {
			t.Fatal(test.at)
		}
		got := delivery.NextDay(madrid(t, test.now).UTC(), at)
		if !got.Equal(madrid(t, test.want)) {
			t.Errorf("after %s, %s is at %v, want %s", test.now, test.at, got, test.want)
		}
	}
}

func TestNextWeek(t *testing.T) {
	for _, test := range []struct {
		now     string
		weekday time.Weekday
		want    string
	}{
		{"2026-02-03 07:59 +01", time.Tuesday, "2026-02-03 08:00 +01"},
		{"2026-02-03 08:00 +01", time.Tuesday, "2026-02-10 08:00 +01"},
		{"2026-02-03 08:00 +01", time.Monday, "2026-02-09 08:00 +01"},
		{"2026-02-03 08:00 +01", time.Sunday, "2026-02-08 08:00 +01"},
		{"2026-03-23 08:00 +01", time.Monday, "2026-03-30 08:00 +02"}, // 167 hours
		{"2026-10-19 08:00 +02", time.Monday, "2026-10-26 08:00 +01"}, // 169 hours
	} {
		got := delivery.NextWeek(madrid(t, test.now).UTC(), test.weekday, 8*60)
		if !got.Equal(madrid(t, test.want)) {
			t.Errorf("after %s, %s is at %v, want %s", test.now, test.weekday, got, test.want)
		}
	}
}

func TestIsQuiet(t *testing.T) {
	night := alert.Quiet{From: 22 * 60, To: 7*60 + 30}
	noon := alert.Quiet{From: 12 * 60, To: 14 * 60}
	for _, test := range []struct {
		quiet alert.Quiet
		at    string
		want  bool
	}{
		{alert.Quiet{}, "2026-02-03 00:00 +01", false},
		{night, "2026-02-03 21:59 +01", false},
		{night, "2026-02-03 22:00 +01", true},
		{night, "2026-02-03 00:00 +01", true},
		{night, "2026-02-03 07:29 +01", true},
		{night, "2026-02-03 07:30 +01", false},
		{night, "2026-07-03 07:29 +02", true},
		{night, "2026-03-29 03:00 +02", true},
		{night, "2026-10-25 02:30 +01", true},
		{noon, "2026-02-03 12:00 +01", true},
		{noon, "2026-02-03 13:59 +01", true},
		{noon, "2026-02-03 14:00 +01", false},
		{noon, "2026-02-03 11:59 +01", false},
	} {
		if got := delivery.IsQuiet(test.quiet, madrid(t, test.at).UTC()); got != test.want {
			t.Errorf("at %s of %v: %t, want %t", test.at, test.quiet, got, test.want)
		}
	}
}

// What falls into quiet hours comes at their end, in one message, whatever its rhythm.
func TestQuietHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is 01:00 in Madrid
		w, box := newWorld(t), &postbox{}
		w.poll = 5 * time.Second
		p := w.process(t, box, nil)
		c := p.channel(t, ana, "ana@example.com")
		quiet := alert.Quiet{From: 1*60 + 10, To: 1*60 + 40}
		if _, err := p.alerts.ChangeChannel(t.Context(), ana, c.ID, subscription.ChannelChange{Quiet: &quiet}); err != nil {
			t.Fatal(err)
		}
		p.alert(t, ana, c.ID, alert.AtOnce, nil)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(time.Minute)
		box.check(t, "", "Report 1")
		time.Sleep(10 * time.Minute)
		for range 3 {
			w.publish(t, p.db, 1, withoutDocument)
			time.Sleep(6 * time.Minute)
		}
		time.Sleep(10 * time.Minute)
		box.check(t, "", "Report 1")
		time.Sleep(2 * time.Minute)
		box.check(t, "", "Report 1", "Report 2, Report 3, Report 4")
		w.publish(t, p.db, 2, withoutDocument)
		time.Sleep(time.Minute)
		box.check(t, "", "Report 1", "Report 2, Report 3, Report 4", "Report 5", "Report 6")
	})
}

// What is beyond the messages of a day comes on the next day of Madrid, in one message.
func TestDailyLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(22*time.Hour + 40*time.Minute) // it is 23:40 in Madrid
		w, box := newWorld(t), &postbox{}
		w.poll = 5 * time.Second
		p := w.process(t, box, func(o *delivery.Options) { o.Messages = 3 })
		mail, other := p.channel(t, ana, "ana@example.com"), p.channel(t, ana, "ana@example.org")
		p.alert(t, ana, mail.ID, alert.AtOnce, nil)
		p.alert(t, ana, other.ID, alert.Grouped, func(d *subscription.AlertDraft) { d.Filter.Search = "1" })
		for n := range 4 {
			w.publish(t, p.db, 1, withoutDocument)
			if n == 0 {
				time.Sleep(6 * time.Minute) // the group is closed
			}
			time.Sleep(time.Minute)
		}
		box.check(t, mail.Address, "Report 1", "Report 2")
		box.check(t, other.Address, "Report 1")
		if got := p.Stats(); got.Limited != 1 || got.Sent != 3 {
			t.Errorf("got %+v", got)
		}
		q := w.process(t, box, func(o *delivery.Options) { o.Messages = 3 }) // reads the count
		time.Sleep(9 * time.Minute)
		box.check(t, mail.Address, "Report 1", "Report 2")
		if got := q.Stats(); got.Sent != 0 {
			t.Errorf("another process sent %d messages", got.Sent)
		}
		time.Sleep(2 * time.Minute)
		box.check(t, mail.Address, "Report 1", "Report 2", "Report 3, Report 4")
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(time.Minute)
		box.check(t, mail.Address, "Report 1", "Report 2", "Report 3, Report 4", "Report 5")
	})
}
