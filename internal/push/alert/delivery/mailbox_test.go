package delivery_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/push/queue"
	"pregon/internal/push/watchlist"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// issuerNIF returns the NIF of a fictional issuer, which is not a valid one.
func issuerNIF(n int) string { return fmt.Sprintf("A%08d", n) }

// mailboxes are the accounts of a test, and which reports each of them follows.
type mailboxes struct {
	issuers int
	rhythms []alert.Rhythm                                 // of the alerts, in turn; what is daily comes at 01:13
	follows map[string]func(number int64, issuer int) bool // by address
}

// add makes accounts with a channel each and alerts that overlap.
func (m *mailboxes) add(t *testing.T, p *process, accounts int) {
	t.Helper()
	m.follows = map[string]func(int64, int) bool{}
	for n := range accounts {
		by := access.WholeAccount(fmt.Sprintf("https://id.example.com#%d", n))
		address := fmt.Sprintf("reader%d@example.com", n)
		c := p.channel(t, by, address)
		one, two := n%m.issuers, (n*7+3)%m.issuers
		list, err := p.lists.Create(t.Context(), by, watchlist.Draft{
			Name:    "Mine",
			Issuers: []string{issuerNIF(one), issuerNIF(two)},
		})
		if err != nil {
			t.Fatal(err)
		}
		rhythm := m.rhythms[n%len(m.rhythms)]
		p.alert(t, by, c.ID, rhythm, func(d *subscription.AlertDraft) {
			d.Filter.Watchlist = list.ID
			d.At = 60 + 13
		})
		p.alert(t, by, c.ID, rhythm, func(d *subscription.AlertDraft) {
			d.Filter.Issuer = issuerNIF(one) // also on the list
			d.At = 60 + 13
		})
		word := ""
		if n%2 == 1 {
			word = fmt.Sprintf("word%02d", n%20)
			p.alert(t, by, c.ID, alert.Grouped, func(d *subscription.AlertDraft) { d.Filter.Search = word })
		}
		m.follows[address] = func(number int64, issuer int) bool {
			return issuer == one || issuer == two || word != "" && int(number)%20 == n%20
		}
	}
}

// of returns the issuer of a report.
func (m *mailboxes) of(number int64) int { return int(number*13) % m.issuers }

// report sets issuer and title of a report.
func (m *mailboxes) report(r *disclosure.Report) {
	issuer := m.of(r.Number)
	r.NIF = issuerNIF(issuer)
	r.CompanyName = fmt.Sprintf("EMPRESA FICTICIA %d, S.A.", issuer)
	r.Title = fmt.Sprintf("report%d word%02d", r.Number, r.Number%20)
	if r.Number%3 == 0 {
		withoutDocument(r)
	}
}

// compare compares all messages with those that are expected: each report that an account
// follows, once.
func (m *mailboxes) compare(t *testing.T, box *postbox, reports int64) {
	t.Helper()
	for address, follows := range m.follows {
		var got, want []string
		for _, l := range box.letters(address) {
			if l.more > 0 {
				t.Errorf("a message to %s has %d events that are not shown", address, l.more)
			}
			for _, title := range l.titles {
				got = append(got, strings.Fields(title)[0])
			}
		}
		for number := int64(1); number <= reports; number++ {
			if follows(number, m.of(number)) {
				want = append(want, fmt.Sprintf("report%d", number))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if len(want) == 0 {
			t.Errorf("%s follows nothing: the test shows nothing", address)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s got %v, want %v", address, got, want)
		}
	}
}

// 1,000 reports, whose documents are read in any order, arrive at 200 accounts that follow
// lists, issuers and words, by two processes: each event once, in one message.
func TestMailboxes(t *testing.T) {
	const batch = 50
	accounts, reports := 200, 1000
	if testing.Short() || longtest.Race { // the others are for make test-all
		accounts, reports = 20, 100
	}
	synctest.Test(t, func(t *testing.T) { // it is 01:00 in Madrid
		start := time.Now()
		w, box := newWorld(t), &postbox{}
		w.poll = 2 * time.Second
		p := w.process(t, box, nil)
		q := w.process(t, box, nil)
		m := &mailboxes{
			issuers: 40,
			rhythms: []alert.Rhythm{alert.AtOnce, alert.Grouped, alert.Daily},
		}
		m.add(t, p, accounts)
		for n := 0; n < reports; n += batch {
			first := w.publish(t, p.db, batch, m.report)
			time.Sleep(4 * time.Second)
			for i := range int64(batch) {
				if number := first + i*7%batch; number%3 == 1 {
					update(t, q.db, number, readDocument)
				}
			}
			time.Sleep(16 * time.Second)
		}
		time.Sleep(time.Until(start.Add(15 * time.Minute)))
		m.compare(t, box, int64(reports))
		a, b := p.Stats(), q.Stats()
		if a.Failed+b.Failed+a.Dropped+b.Dropped > 0 || a.Sent == 0 || b.Sent == 0 {
			t.Errorf("the processes have %+v and %+v", a, b)
		}
		if a.Lag != 0 || a.Pending != 0 || a.InFlight != 0 {
			t.Errorf("at the end: %+v", a)
		}
	})
}

// The same on PostgreSQL, with shorter times and fewer accounts.
func TestMailboxesInPostgres(t *testing.T) {
	const accounts, reports, batch = 12, 90, 30
	w, box := &world{postgres: pgtest.Database(t)}, &postbox{}
	start := func() *process {
		p := w.idle(t, box, nil)
		timing := queue.DefaultTiming
		timing.Poll = 20 * time.Millisecond
		p.SetTiming(timing)
		p.SetWaits(500*time.Millisecond, time.Second)
		p.run(t)
		return p
	}
	p, q := start(), start()
	m := &mailboxes{
		issuers: 6,
		rhythms: []alert.Rhythm{alert.AtOnce, alert.Grouped},
	}
	m.add(t, p, accounts)
	for n := 0; n < reports; n += batch {
		first := w.publish(t, p.db, batch, m.report)
		for i := range int64(batch) {
			if number := first + i; number%3 == 1 {
				update(t, q.db, number, readDocument)
			}
		}
	}
	var ids []string
	for id := range p.alerts.Known().Channels {
		ids = append(ids, id)
	}
	waittest.For(t, "everything is sent", func() bool {
		endpoints, err := p.db.Endpoints(t.Context(), ids...)
		if err != nil || p.Stats().Lag > 0 || len(endpoints) < accounts {
			return false
		}
		for _, e := range endpoints {
			if e.Pending > 0 {
				return false
			}
		}
		return true
	})
	m.compare(t, box, reports)
}
