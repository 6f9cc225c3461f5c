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
	"pregon/internal/push/webhook"
	"pregon/internal/server/telemetry"
	"pregon/internal/source/health"
	"pregon/internal/source/ingest"
	"pregon/internal/source/throttle"
	"pregon/internal/store/monitor"
	"pregon/internal/transfer/bulk"
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
	m.Gauge("pregon_catalog_seq", "Number of the newest change in the catalogue.", figure(func(c *catalog.Snapshot) float64 { return float64(c.Seq()) }))
	m.Gauge("pregon_catalog_last_sync_timestamp_seconds", "When the catalogue last had all changes of the store; 0 while it is loading. Up to ten seconds ago is normal in a quiet market.",
		figure(func(*catalog.Snapshot) float64 { return telemetry.Timestamp(time.Now().Add(-s.catalog.Behind())) }))
	m.Gauge("pregon_catalog_reports", "Reports in the catalogue.", figure(func(c *catalog.Snapshot) float64 { return float64(c.Len()) }))
	if s.role.serves() {
		m.Gauge("pregon_transparency_leaves", "Changes in the transparency log of this process.", func() float64 { return float64(s.proofs.Size()) })
		m.Gauge("pregon_transparency_signing", "1 while checkpoints are signed; 0 while the log is loading, or because the history of the store was rewritten.", func() float64 {
			_, _, ok := s.proofs.Root()
			return telemetry.Bool(ok)
		})
	}
	s.catalog.Notify(s.observeReports)
	m.Counter("pregon_report_suspect_times_total", "New reports that were seen more than 24 hours before the time at which they say they were published.", func() float64 {
		return float64(s.suspectTimes.Load())
	})
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
	if s.bulkMaker != nil {
		s.observeBulk()
	}
}

func (s *service) observeBulk() {
	m, stats := s.metrics, s.bulkMaker.Stats
	const made = "Attempts to make a snapshot for /api/v1/bulk by outcome."
	m.CounterOf("pregon_bulk_snapshots_total", made, "outcome", "made", func() float64 { return float64(stats().Made) })
	m.CounterOf("pregon_bulk_snapshots_total", made, "outcome", "failed", func() float64 { return float64(stats().Failed) })
	newest := func(value func(*bulk.Snapshot) float64) func() float64 {
		return func() float64 {
			if s := stats().Newest; s != nil {
				return value(s)
			}
			return 0
		}
	}
	m.Gauge("pregon_bulk_newest_timestamp_seconds", "When the newest snapshot was made, in the process that makes them; 0 if it is not known.",
		newest(func(s *bulk.Snapshot) float64 { return telemetry.Timestamp(s.CreatedAt) }))
	m.Gauge("pregon_bulk_newest_size_bytes", "Size of all files of the newest snapshot, in the process that makes them; 0 if it is not known.",
		newest(func(s *bulk.Snapshot) float64 { return float64(s.Bytes()) }))
}

// observeReports measures the latency of new reports. Times from a list are left
// out, since they have no seconds. A time that cannot be true is logged instead.
func (s *service) observeReports(changes []disclosure.Change) {
	for _, c := range changes {
		r := c.Report
		if r == nil || c.Event != disclosure.Published {
			continue
		}
		switch {
		case r.SuspectTime():
			s.suspectTimes.Add(1)
			s.log.Warn("a report has a time of publication that cannot be true: it is listed by when it was seen",
				"report", r.ID, "published_at", r.PublishedAt, "first_seen_at", r.FirstSeenAt)
		case r.TimeFrom != disclosure.FromList:
			s.metrics.Report(string(r.Type), r.AvailableAt.Sub(r.PublishedAt), r.AvailableAt.Sub(r.FirstSeenAt))
		}
	}
}

func (s *service) observeStore() {
	m := s.metrics
	for _, part := range monitor.Parts {
		m.GaugeOf("pregon_store_failing", "1 while a part of the store fails or is damaged, else 0.", "part", part, func() float64 {
			return telemetry.Bool(slices.ContainsFunc(s.store.Failures(), func(f monitor.Failure) bool { return f.Part == part }))
		})
	}
	if s.store.CanCheck() {
		m.Gauge("pregon_store_last_check_timestamp_seconds", "When the last check for damage that read the whole file began; 0 for never. Only with SQLite.", func() float64 {
			return telemetry.Timestamp(s.store.Checked())
		})
	}
	m.Gauge("pregon_store_size_bytes", "Size of the file and its -wal, or of the whole database, measured once a minute; NaN while it is not known.", func() float64 {
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
		m.CounterOf("pregon_access_requests_total", "Requests by outcome of authorization.", "outcome", outcome, func() float64 { return float64(a.Requests(outcome)) })
	}
	m.Gauge("pregon_access_keys_last_sync_timestamp_seconds", "When all keys of the store were last known.", func() float64 { return telemetry.Timestamp(time.Now().Add(-a.Keys.Behind())) })
	m.Gauge("pregon_ratelimit_callers", "Addresses and keys whose requests are counted.", func() float64 { return float64(a.Counted()) })
	if a.Redis != nil {
		m.Gauge("pregon_ratelimit_redis_up", "1 while Redis answers and all replicas count together, else 0. Only with --redis.", func() float64 { return telemetry.Bool(a.Redis.Up()) })
	}
}

func (s *service) observePush() {
	m := s.metrics
	m.Counter("pregon_http_refused_total", "Connections and requests refused at a limit of the server.", func() float64 { return float64(s.refused.Load()) })
	m.Gauge("pregon_push_listeners", "Open streams, long polls and subscriptions.", func() float64 { return float64(s.conns.Open()) })
	m.Counter("pregon_push_slow_listeners_total", "Streams and subscriptions that were ended because the client read too slowly.", func() float64 { return float64(s.conns.Cut()) })
}

func (s *service) observeWebhooks() {
	m := s.metrics
	counter := func(of func(webhook.Stats) int64) func() float64 {
		return func() float64 { return float64(of(s.webhooks.Stats())) }
	}
	const attempts = "Attempts to deliver an event to a webhook by outcome."
	m.CounterOf("pregon_webhook_attempts_total", attempts, "outcome", "delivered", counter(func(st webhook.Stats) int64 { return st.Delivered }))
	m.CounterOf("pregon_webhook_attempts_total", attempts, "outcome", "failed", counter(func(st webhook.Stats) int64 { return st.Failed }))
	m.Counter("pregon_webhook_retries_total", "Attempts after the first of a delivery.", counter(func(st webhook.Stats) int64 { return st.Retried }))
	m.Counter("pregon_webhook_abandoned_total", "Deliveries that were given up.", counter(func(st webhook.Stats) int64 { return st.Dead }))
	m.Gauge("pregon_webhook_pending_changes", "Changes not yet matched with webhooks.", func() float64 { return float64(s.webhooks.Stats().Lag) })
	m.Gauge("pregon_webhook_disabled", "Webhooks that are disabled, by their owner or by the service.", func() float64 { return float64(s.webhooks.Stats().Disabled) })
	m.Gauge("pregon_webhook_deliveries_in_flight", "Deliveries that are being sent.", func() float64 { return float64(s.webhooks.Stats().InFlight) })
	m.Counter("pregon_webhook_matching_seconds_total", "Time spent on matching changes with the filters of webhooks.", func() float64 { return s.webhooks.Stats().Matching.Seconds() })
	m.Gauge("pregon_webhook_matching_costliest_owner_seconds", "The part of pregon_webhook_matching_seconds_total of the owner with the longest time.", func() float64 {
		return s.webhooks.Stats().CostliestOwner.Seconds()
	})
}

func (s *service) observeMCP() {
	for _, call := range mcp.CallNames() {
		s.metrics.CounterOf("pregon_mcp_calls_total", "MCP messages by tool or method.", "call", call, func() float64 {
			taken, _ := s.mcp.CallCounts(call)
			return float64(taken)
		})
		s.metrics.CounterOf("pregon_mcp_call_failures_total", "MCP messages that were refused or answered with a protocol error.", "call", call, func() float64 {
			_, failed := s.mcp.CallCounts(call)
			return float64(failed)
		})
	}
}

func (s *service) observeSource() {
	m := s.metrics
	m.Gauge("pregon_ingest_lease_held", "1 in the process that reads the source, else 0. The sum over all replicas should be 1.", func() float64 { return telemetry.Bool(s.reader.Holding()) })
	for name, of := range map[string]func(ingest.LeaseChanges) uint64{
		"taken":   func(c ingest.LeaseChanges) uint64 { return c.Taken },
		"lost":    func(c ingest.LeaseChanges) uint64 { return c.Lost },
		"yielded": func(c ingest.LeaseChanges) uint64 { return c.Yielded },
	} {
		m.CounterOf("pregon_ingest_lease_changes_total", "Lease changes in this process: taken, lost, or yielded to a process that sees the source.", "change", name, func() float64 { return float64(of(s.reader.LeaseChanges())) })
	}
	m.Gauge("pregon_ingest_pending_pages", "Reports whose page at the regulator is not read yet.", func() float64 { return float64(s.reader.Waiting()) })
	s.observeDocuments()
	for _, state := range health.States {
		m.GaugeOf("pregon_source_state", "1 for the present state of the source, 0 for the others.", "state", string(state), func() float64 {
			return telemetry.Bool(s.query.SourceStatus().State == state)
		})
	}
	for _, surface := range health.Surfaces {
		m.GaugeOf("pregon_source_last_success_timestamp_seconds", "When a surface of the source was last read successfully, by the process that reads it; 0 for never.", "surface", surface, func() float64 {
			return telemetry.Timestamp(s.surface(surface).SuccessAt)
		})
	}
	for _, t := range disclosure.Types {
		m.GaugeOf("pregon_source_stale", "1 for a feed that can be read but hides reports that the list shows, else 0.", "surface", health.Feed(t), func() float64 {
			return telemetry.Bool(s.surface(health.Feed(t)).Stale)
		})
	}
	for _, p := range throttle.Priorities {
		m.GaugeOf("pregon_source_queue_length", "Requests to the regulator that wait in the queue.", "priority", p.String(), func() float64 { return float64(s.reader.queue.Waiting(p)) })
		m.CounterOf("pregon_source_requests_total", "Requests to the regulator.", "priority", p.String(), func() float64 { return float64(s.reader.queue.Granted(p)) })
	}
}

func (s *service) observeDocuments() {
	m := s.metrics
	m.Gauge("pregon_document_pending", "Reports whose document is not read yet. Should be near zero.", func() float64 { return float64(s.reader.Unread()) })
	for _, l := range sandbox.Layers {
		m.GaugeOf("pregon_document_workers_unconfined", "Processes that read documents without a layer of confinement, because the kernel lacks it.", "layer", string(l), func() float64 { return float64(s.documents.lacking(l)) })
	}
	if s.documents.model != nil {
		s.observeModel(s.documents.model)
	}
	for _, o := range document.Outcomes {
		m.CounterOf("pregon_document_reads_total", "Attempts to read a document by outcome: ready, again later, or failed for good.", "outcome", o.String(), func() float64 { return float64(s.documents.Counted(o)) })
	}
}

func (s *service) observeModel(model *llm.Client) {
	m := s.metrics
	m.Counter("pregon_llm_requests_total", "Requests to the language model. Only with --llm-url, as all of pregon_llm_.", func() float64 { return float64(model.Stats().Requests) })
	m.Counter("pregon_llm_request_failures_total", "Requests to the language model that failed.", func() float64 { return float64(model.Stats().Failures) })
	m.Counter("pregon_llm_tokens_total", "Tokens that the language model used.", func() float64 { return float64(model.Stats().Tokens) })
	m.Gauge("pregon_llm_circuit_open", "1 while the language model is not called because it failed, else 0.", func() float64 { return telemetry.Bool(model.Stats().Open) })
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
