package main

import (
	"context"
	"math"
	"slices"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/document/llm"
	"pregon/internal/mcp"
	"pregon/internal/source/health"
	"pregon/internal/source/ingest"
	"pregon/internal/source/throttle"
	"pregon/internal/store/monitor"
	"pregon/internal/webhook"
)

// observe registers the metrics of all components.
func (s *service) observe() {
	figure := func(value func(*catalog.Snapshot) float64) func() float64 {
		return func() float64 {
			if snapshot := s.catalog.Snapshot(); snapshot != nil {
				return value(snapshot)
			}
			return 0
		}
	}
	m := s.metrics
	m.Gauge("pregon_catalog_seq", "Newest change in the catalogue.", figure(func(c *catalog.Snapshot) float64 { return float64(c.Seq()) }))
	m.Gauge("pregon_catalog_behind_seconds", "Time since the catalogue was last up to date.", func() float64 { return s.catalog.Behind().Seconds() })
	m.Gauge("pregon_catalog_reports", "Reports in the catalogue.", figure(func(c *catalog.Snapshot) float64 { return float64(c.Len()) }))
	s.catalog.Notify(s.observeReports)
	s.observeStore()
	s.observeAccess()
	s.observePush()
	if s.role.delivers() {
		s.observeWebhooks()
	}
	if s.mcp != nil {
		s.observeMCP()
	}
	if s.reader != nil {
		s.observeSource()
	}
}

// observeReports measures the latency of new reports. Times from a list are left
// out, since they have no seconds.
func (s *service) observeReports(changes []disclosure.Change) {
	for _, c := range changes {
		if r := c.Report; r != nil && c.Event == disclosure.Published && r.TimeFrom != disclosure.FromList {
			s.metrics.Report(string(r.Type), r.AvailableAt.Sub(r.PublishedAt), r.AvailableAt.Sub(r.FirstSeenAt))
		}
	}
}

func (s *service) observeStore() {
	m := s.metrics
	for _, part := range monitor.Parts {
		m.GaugeOf("pregon_store_failing", "1 while a part of the store fails or is damaged.", "part", part, func() float64 {
			return boolToFloat(slices.ContainsFunc(s.store.Failures(), func(f monitor.Failure) bool { return f.Part == part }))
		})
	}
	m.Gauge("pregon_store_checked_seconds", "Time since a file was last checked for damage to the end; +Inf for never, as on PostgreSQL.", func() float64 {
		if at := s.store.Checked(); !at.IsZero() {
			return time.Since(at).Seconds()
		}
		return math.Inf(1)
	})
	m.Gauge("pregon_store_bytes", "Size of the store, measured once a minute; NaN while it is not known.", func() float64 {
		if n := s.storeBytes.Load(); n >= 0 {
			return float64(n)
		}
		return math.NaN()
	})
	m.Gauge("pregon_store_connections_in_use", "Connections to the store that are in use.", func() float64 {
		inUse, _ := s.engine.Connections()
		return float64(inUse)
	})
	m.Gauge("pregon_store_connections_max", "Limit of connections to the store.", func() float64 {
		_, most := s.engine.Connections()
		return float64(most)
	})
}

// measureStore measures the size of the store every minute, until the context ends.
func (s *service) measureStore(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		n, err := s.engine.Size(limited)
		cancel()
		if err != nil {
			n = -1
		}
		s.storeBytes.Store(n)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *service) observeAccess() {
	m, a := s.metrics, s.auth
	for _, outcome := range access.Outcomes {
		m.CounterOf("pregon_access_total", "Requests by outcome of authorization.", "outcome", outcome, func() float64 { return float64(a.Requests(outcome)) })
	}
	m.Gauge("pregon_access_keys_behind_seconds", "Time since the keys were last known to be up to date.", func() float64 { return a.Keys.Behind().Seconds() })
	m.Gauge("pregon_limit_addresses", "Addresses and keys with counted requests.", func() float64 { return float64(a.Counted()) })
	if a.Redis != nil {
		m.Gauge("pregon_limit_shared_up", "1 while all replicas count together.", func() float64 { return boolToFloat(a.Redis.Up()) })
	}
}

func (s *service) observePush() {
	m := s.metrics
	m.CounterOf("pregon_http_refused_total", "Connections and requests refused at a limit.", "why", "bound", func() float64 { return float64(s.refused.Load()) })
	m.Gauge("pregon_push_listening", "Open streams, long polls and subscriptions.", func() float64 { return float64(s.conns.Open()) })
	m.CounterOf("pregon_push_cut_total", "Streams and subscriptions that were ended.", "why", "slow", func() float64 { return float64(s.conns.Cut()) })
}

func (s *service) observeWebhooks() {
	m := s.metrics
	for name, of := range map[string]func(webhook.Stats) int64{
		"delivered": func(st webhook.Stats) int64 { return st.Delivered },
		"failed":    func(st webhook.Stats) int64 { return st.Failed },
		"retried":   func(st webhook.Stats) int64 { return st.Retried },
		"dead":      func(st webhook.Stats) int64 { return st.Dead },
	} {
		m.CounterOf("pregon_webhook_attempts_total", "Delivery attempts by outcome; dead are deliveries given up.", "outcome", name, func() float64 { return float64(of(s.webhooks.Stats())) })
	}
	m.Gauge("pregon_webhook_behind", "Changes not yet matched with webhooks.", func() float64 { return float64(s.webhooks.Stats().Lag) })
	for name, of := range map[string]func(webhook.Stats) time.Duration{
		"all":       func(st webhook.Stats) time.Duration { return st.Matching },
		"costliest": func(st webhook.Stats) time.Duration { return st.CostliestOwner },
	} {
		m.CounterOf("pregon_webhook_judging_seconds_total", "Time spent on matching filters of webhooks: of all owners, and of the owner with the most.", "owner", name, func() float64 { return of(s.webhooks.Stats()).Seconds() })
	}
	m.Gauge("pregon_webhook_disabled", "Webhooks that are disabled, by their owner or by the service.", func() float64 { return float64(s.webhooks.Stats().Disabled) })
	m.Gauge("pregon_webhook_in_flight", "Deliveries that are being sent.", func() float64 { return float64(s.webhooks.Stats().InFlight) })
}

func (s *service) observeMCP() {
	for _, call := range mcp.CallNames() {
		s.metrics.CounterOf("pregon_mcp_calls_total", "MCP messages by tool or method.", "call", call, func() float64 {
			taken, _ := s.mcp.CallCounts(call)
			return float64(taken)
		})
		s.metrics.CounterOf("pregon_mcp_failed_total", "MCP messages that were refused or answered with a protocol error.", "call", call, func() float64 {
			_, failed := s.mcp.CallCounts(call)
			return float64(failed)
		})
	}
}

func (s *service) observeSource() {
	m := s.metrics
	m.Gauge("pregon_ingest_holding", "1 in the process that reads the source.", func() float64 { return boolToFloat(s.reader.Holding()) })
	for name, of := range map[string]func(ingest.LeaseChanges) uint64{
		"taken":   func(c ingest.LeaseChanges) uint64 { return c.Taken },
		"lost":    func(c ingest.LeaseChanges) uint64 { return c.Lost },
		"yielded": func(c ingest.LeaseChanges) uint64 { return c.Yielded },
	} {
		m.CounterOf("pregon_ingest_lease_total", "Lease changes in this process: taken, lost, or yielded to a process that sees the source.", "change", name, func() float64 { return float64(of(s.reader.LeaseChanges())) })
	}
	m.Gauge("pregon_ingest_waiting", "Reports whose page is not read yet.", func() float64 { return float64(s.reader.Waiting()) })
	s.observeDocuments()
	for _, state := range health.States {
		m.GaugeOf("pregon_source_state", "1 for the present state of the source: live, quiet, degraded or blind.", "state", string(state), func() float64 {
			return boolToFloat(s.query.SourceStatus().State == state)
		})
	}
	for _, surface := range health.Surfaces {
		m.GaugeOf("pregon_source_seen_seconds", "Time since a surface of the source was last read successfully; +Inf for never.", "surface", surface, func() float64 {
			return s.sinceSeen(surface)
		})
	}
	for _, t := range disclosure.Types {
		m.GaugeOf("pregon_source_stale", "1 for a feed that can be read but hides reports that the list shows.", "surface", health.Feed(t), func() float64 {
			return boolToFloat(s.surface(health.Feed(t)).Stale)
		})
	}
	for _, class := range throttle.Priorities {
		m.GaugeOf("pregon_source_queue", "Requests to the regulator that wait in the queue.", "class", class.String(), func() float64 { return float64(s.reader.queue.Waiting(class)) })
		m.CounterOf("pregon_source_requests_total", "Requests to the regulator.", "class", class.String(), func() float64 { return float64(s.reader.queue.Granted(class)) })
	}
}

func (s *service) observeDocuments() {
	m := s.metrics
	m.Gauge("pregon_documents_waiting", "Reports whose document is not read yet.", func() float64 { return float64(s.reader.Unread()) })
	for _, l := range sandbox.Layers {
		m.GaugeOf("pregon_documents_unconfined", "Processes that read documents without a layer of confinement.", "layer", string(l), func() float64 { return float64(s.documents.lacking(l)) })
	}
	if s.documents.model != nil {
		s.observeModel(s.documents.model)
	}
	for _, o := range document.Outcomes {
		m.CounterOf("pregon_documents_total", "Attempts to read a document by outcome: ready, again later, or failed for good.", "outcome", o.String(), func() float64 { return float64(s.documents.Counted(o)) })
	}
}

func (s *service) observeModel(model *llm.Client) {
	m := s.metrics
	for name, of := range map[string]func(llm.Stats) uint64{
		"requests": func(st llm.Stats) uint64 { return st.Requests },
		"failures": func(st llm.Stats) uint64 { return st.Failures },
		"tokens":   func(st llm.Stats) uint64 { return st.Tokens },
	} {
		m.CounterOf("pregon_llm_total", "Use of the language model: requests, failed requests, and tokens.", "of", name, func() float64 { return float64(of(model.Stats())) })
	}
	m.Gauge("pregon_llm_open", "1 while the language model is not called because it failed.", func() float64 { return boolToFloat(model.Stats().Open) })
}

func (s *service) sinceSeen(surface string) float64 {
	if at := s.surface(surface).SuccessAt; !at.IsZero() {
		return time.Since(at).Seconds()
	}
	return math.Inf(1)
}

// surface returns the state of a surface, as reported by the process that reads the
// source.
func (s *service) surface(name string) health.Surface {
	status, _ := s.coverage.Status()
	for _, sf := range status.Surfaces {
		if sf.Name == name {
			return sf
		}
	}
	return health.Surface{}
}

// boolToFloat returns 1 for true, 0 for false.
func boolToFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
