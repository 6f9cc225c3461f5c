package sandbox

import (
	"time"

	"pregon/internal/document/extract"
)

// clock limits the time of an answer, and that of each step of a document: one that
// takes half of the time of the document is left out.
type clock struct {
	*time.Timer
	limits  extract.Limits
	end     time.Time     // of the time for the answer
	total   time.Duration // the time for the answer
	pages   int           // to be read by OCR
	allowed time.Duration // the time that has run out when the timer fires
}

func newClock(l extract.Limits, total time.Duration) *clock {
	return &clock{
		Timer:   time.NewTimer(total),
		limits:  l,
		end:     time.Now().Add(total),
		total:   total,
		allowed: total,
	}
}

// grant adds the time to read pages by OCR.
func (c *clock) grant(pages int) {
	pages = min(pages, c.limits.OCRPages-c.pages)
	c.pages += pages
	more := c.limits.OCRTime * time.Duration(pages)
	c.total, c.end = c.total+more, c.end.Add(more)
	c.step()
}

// step begins a step.
func (c *clock) step() {
	left, most := time.Until(c.end), c.limits.Time/2
	if c.pages > 0 {
		most += c.limits.OCRTime
	}
	if c.allowed = most; left < most {
		c.allowed = c.total
	}
	c.Reset(min(left, most))
}
