package traces

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkresource "go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config has the settings and dependencies of a Tracer.
type Config struct {
	Target    *Target // where spans are sent
	Conductor string  // its name
	Version   string  // of the program
	Log       *slog.Logger
	Now       func() time.Time // time.Now when nil
	LastWords time.Duration    // how long spans are sent for at the end; 2 s when 0
}

// Tracer makes spans of the engine's reports. It is safe for concurrent use, and its methods do not wait.
type Tracer struct {
	now    func() time.Time
	tracer trace.Tracer
	queue  *queue

	mu    sync.Mutex
	nodes map[string]*activity // by UUID: those that are under way
}

// New makes a Tracer. Run sends its spans.
func New(c Config) *Tracer {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.LastWords == 0 {
		c.LastWords = lastWords
	}
	t := &Tracer{now: c.Now, queue: newQueue(c), nodes: map[string]*activity{}}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithIDGenerator(chosen{}),
		sdktrace.WithSpanProcessor(t.queue),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{AttributeValueLengthLimit: maxValue, AttributeCountLimit: 64,
			EventCountLimit: maxEvents, LinkCountLimit: 4, AttributePerEventCountLimit: 8, AttributePerLinkCountLimit: 8}),
		sdktrace.WithResource(sdkresource.NewSchemaless(attribute.String("service.name", "ferrite"),
			attribute.String("service.version", c.Version),
			attribute.String("service.instance.id", clean(c.Conductor, maxValue)))),
	)
	t.tracer = provider.Tracer("github.com/ferrite-metal/ferrite/conductor/extras/signals/traces")
	return t
}

// Run sends spans until ctx ends, and the remaining ones for a short time after.
func (t *Tracer) Run(ctx context.Context) { t.queue.run(ctx, t.leave) }

// leave ends the boot stages under way, since another process does not continue them. It does continue steps and
// activities.
func (t *Tracer) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.nodes {
		a.endStage(t, t.now())
	}
}

// Counts are how many spans a collector has taken, and how many were dropped.
func (t *Tracer) Counts() (sent, dropped uint64) { return t.queue.sent.Load(), t.queue.dropped.Load() }
