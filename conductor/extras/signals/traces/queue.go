package traces

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Bounds of the queue, and times of sending.
const (
	queueSize    = 4096
	batchSize    = 512
	sendEvery    = time.Second
	tries        = 4
	firstPause   = time.Second
	longestPause = 15 * time.Second
	lastWords    = 2 * time.Second
	warnEvery    = time.Minute
)

// queue holds spans until they are sent. It is a SpanProcessor that counts the spans that it drops, unlike the
// library's.
type queue struct {
	spans    chan sdktrace.ReadOnlySpan
	to       *Target
	exporter *otlptrace.Exporter
	log      *slog.Logger
	patience time.Duration // at the end

	sent, dropped atomic.Uint64
	warned        time.Time // time of the last warning about dropped spans
	told          uint64    // how many were dropped then
	failed        error     // of the last request
}

func newQueue(c Config) *queue {
	return &queue{spans: make(chan sdktrace.ReadOnlySpan, queueSize), to: c.Target,
		exporter: otlptrace.NewUnstarted(c.Target), log: c.Log, patience: c.LastWords}
}

// OnStart does nothing.
func (*queue) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd takes a span in, or drops it.
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	select {
	case q.spans <- s:
	default:
		q.dropped.Add(1)
	}
}

// Shutdown does nothing: run ends with its context.
func (*queue) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing.
func (*queue) ForceFlush(context.Context) error { return nil }

// run sends spans until ctx ends. Then it also sends the spans that leave makes.
func (q *queue) run(ctx context.Context, leave func()) {
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			leave()
			q.end(ctx, nil)
			return
		case <-tick.C:
		}
		for len(q.spans) > 0 {
			if left := q.send(ctx, q.batch()); left != nil {
				leave()
				q.end(ctx, left)
				return
			}
		}
		q.warn(q.failed)
	}
}

// end sends the remaining spans, within a short time. Spans that are left then are dropped.
func (q *queue) end(ctx context.Context, left []sdktrace.ReadOnlySpan) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.patience)
	defer cancel()
	for batch := left; ; batch = nil {
		if batch == nil {
			batch = q.batch()
		}
		if len(batch) == 0 {
			break
		}
		q.dropped.Add(uint64(len(q.send(last, batch))))
	}
	q.warned = time.Time{} // there is no later warning
	q.warn(q.failed)
	_ = q.to.Stop(last) // it closes idle connections, which cannot fail
}

// batch takes spans that wait.
func (q *queue) batch() (batch []sdktrace.ReadOnlySpan) {
	for len(batch) < batchSize {
		select {
		case s := <-q.spans:
			batch = append(batch, s)
		default:
			return batch
		}
	}
	return batch
}

// send sends spans, several times where the receiver may take them later. Meanwhile others wait, or are dropped. It
// returns those that ctx has left unsent.
func (q *queue) send(ctx context.Context, batch []sdktrace.ReadOnlySpan) (left []sdktrace.ReadOnlySpan) {
	for try, pause := 1, firstPause; ; try, pause = try+1, min(2*pause, longestPause) {
		err := q.exporter.ExportSpans(ctx, batch)
		sent, again, after := taken(len(batch), err)
		q.sent.Add(uint64(sent))
		q.failed = err
		switch {
		case err != nil && ctx.Err() != nil:
			return batch
		case again && try < tries:
			if !sleep(ctx, max(pause, after)) {
				return batch
			}
			continue
		}
		q.dropped.Add(uint64(len(batch) - sent))
		q.warn(err)
		return nil
	}
}

// warn logs that spans are dropped, once a minute at most.
func (q *queue) warn(err error) {
	dropped := q.dropped.Load()
	if dropped == q.told || !q.warned.IsZero() && time.Since(q.warned) < warnEvery {
		return
	}
	q.log.Warn("spans were dropped: the collector does not take them, or not as fast", "count", dropped-q.told, "err", err)
	q.warned, q.told = time.Now(), dropped
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
