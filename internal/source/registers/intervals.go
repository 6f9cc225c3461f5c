package registers

import (
	"time"

	"pregon/internal/disclosure"
)

// intervals are the times between repetitions.
type intervals struct {
	directory    time.Duration // the longest wait for the directory of a new store
	shorts       time.Duration // between two conditional requests for the workbook
	shortsSoon   time.Duration // the same in the evening, when it changes
	dealings     time.Duration // between two reads of the list of dealings, in working hours
	dealingsIdle time.Duration // the same at other hours
	sweep        time.Duration // between two windows of the past that are read again
	unread       time.Duration // between two searches for documents that are not read
	reread       time.Duration // the first wait before a document is fetched again
	pace         time.Duration // between two old documents
	lastDays     time.Duration // between two reads of the page of the last days
	issuer       time.Duration // before the register of an issuer is read again
	identity     time.Duration // before the general data of an issuer are read again
	soon         time.Duration // before an issuer is read again that changes on one day
	former       time.Duration // before the history of a former holder is read again, of an issuer that changes
	next         time.Duration // between two searches for the next issuer
	erase        time.Duration // between two searches for names that are to be erased
	pause        time.Duration // between two batches of one register
	firstRetry   time.Duration
	longestRetry time.Duration
}

var usual = intervals{
	directory:    2 * time.Minute,
	shorts:       time.Hour,
	shortsSoon:   10 * time.Minute,
	dealings:     4 * time.Minute,
	dealingsIdle: 30 * time.Minute,
	sweep:        12 * time.Hour,
	unread:       time.Minute,
	reread:       10 * time.Second,
	pace:         time.Second,
	lastDays:     15 * time.Minute,
	issuer:       7 * 24 * time.Hour,
	identity:     30 * 24 * time.Hour,
	soon:         time.Hour,
	former:       6 * time.Hour,
	next:         10 * time.Second,
	erase:        time.Hour,
	pause:        20 * time.Millisecond,
	firstRetry:   time.Minute,
	longestRetry: time.Hour,
}

// often are the intervals for a source that need not be spared.
var often = intervals{
	directory:    time.Minute,
	shorts:       10 * time.Second,
	shortsSoon:   10 * time.Second,
	dealings:     5 * time.Second,
	dealingsIdle: 5 * time.Second,
	sweep:        time.Hour,
	unread:       10 * time.Second,
	reread:       time.Second,
	pace:         100 * time.Millisecond,
	lastDays:     10 * time.Second,
	issuer:       24 * time.Hour,
	identity:     24 * time.Hour,
	soon:         10 * time.Second,
	former:       time.Minute,
	next:         time.Second,
	erase:        time.Hour,
	pause:        20 * time.Millisecond,
	firstRetry:   2 * time.Second,
	longestRetry: time.Minute,
}

// forShorts returns the time until the next request for the workbook. It changes once a
// day, in the evening.
func (i *intervals) forShorts(now time.Time) time.Duration {
	if minute := minuteOf(now); minute >= 17*60 && minute < 22*60 {
		return i.shortsSoon
	}
	return i.shorts
}

// forDealings returns the time until the next read of the list of dealings.
func (i *intervals) forDealings(now time.Time) time.Duration {
	day := disclosure.DayOf(now).Weekday()
	weekend := day == time.Saturday || day == time.Sunday
	if minute := minuteOf(now); weekend || minute < 7*60 || minute >= 22*60 {
		return i.dealingsIdle
	}
	return i.dealings
}

// minuteOf returns the minute of the day in Madrid.
func minuteOf(now time.Time) int {
	now = now.In(disclosure.Madrid)
	return 60*now.Hour() + now.Minute()
}
