package metrics

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Config has the sources that metrics are read from at a scrape; nil functions are left out.
type Config struct {
	// Pending is how many effects wait for their turn.
	Pending func() int
	// Audit is how many entries the audit has, and how many bytes these are.
	Audit func(ctx context.Context) (entries, bytes int64, err error)
	// Ready is why the database cannot be used, nil when it can.
	Ready func() error
	// Streams counts the answers without an end.
	Streams func() connlimit.StreamCounts
	// Free is the part of the data folder's disk that is free.
	Free func() float64
	// Clock is the conductor's clock; nil for none.
	Clock func() time.Time
	// Traces are how many spans were sent, and how many were dropped.
	Traces func() (sent, dropped uint64)
	// Sensors has the last readings of machines.
	Sensors Sensors
	// SensorSeries bounds the series of sensors in one scrape. Machines beyond it are left out, and counted.
	SensorSeries int
}

// Metrics are the metrics of one conductor. They are safe for concurrent use.
type Metrics struct {
	Nodes *Nodes
	work
	boundary
	registry   *prometheus.Registry
	registerer prometheus.Registerer // of the registry, with the labels that all metrics have
	handler    http.Handler          // nil in a term's metrics
}

// The limits of a scrape.
const (
	maxScrapes    = 4
	scrapeTimeout = 20 * time.Second
)

// New makes metrics at zero.
func New() *Metrics {
	m := newMetrics(prometheus.Labels{})
	registerProgram(m.registry)
	m.handler = answering(m.registry, m.registry)
	return m
}

// newMetrics makes the metrics of a leading conductor, with labels that all of them get.
func newMetrics(labels prometheus.Labels) *Metrics {
	m := &Metrics{Nodes: newNodes(time.Now), work: newWork(), boundary: newBoundary(), registry: prometheus.NewRegistry()}
	m.registerer = prometheus.WrapRegistererWith(labels, m.registry)
	m.registerer.MustRegister(m.Nodes)
	m.registerer.MustRegister(m.work.all()...)
	m.registerer.MustRegister(m.boundary.all()...)
	return m
}

// registerProgram adds the metrics of the program itself.
func registerProgram(r prometheus.Registerer) {
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector())
}

// answering answers scrapes with the gathered metrics, and counts the scrapes in own.
func answering(all prometheus.Gatherer, own *prometheus.Registry) http.Handler {
	return promhttp.InstrumentMetricHandler(own, promhttp.HandlerFor(all, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes, Timeout: scrapeTimeout, Registry: own,
	}))
}

// Watch adds the metrics that are read at a scrape. It is called once.
func (m *Metrics) Watch(c Config) {
	if c.Pending != nil {
		m.gauge("ferrite_effects_pending", "Effects that wait for their turn.",
			func() float64 { return float64(c.Pending()) })
	}
	if c.Audit != nil {
		m.registerer.MustRegister(auditSize{c.Audit})
	}
	if c.Ready != nil {
		registerReady(m.registerer, c.Ready)
	}
	if c.Streams != nil {
		m.registerer.MustRegister(streams{c.Streams})
	}
	if c.Free != nil {
		m.gauge("ferrite_data_free_ratio", "The part of the data folder's disk that is free.", c.Free)
	}
	if c.Clock != nil {
		m.gauge("ferrite_clock_off_seconds", "The system's clock minus the conductor's clock, which follows it slowly.",
			func() float64 { return time.Since(c.Clock()).Round(time.Second).Seconds() })
	}
	if c.Traces != nil {
		m.registerer.MustRegister(spans{c.Traces})
	}
	if c.Sensors != nil && c.SensorSeries > 0 {
		m.registerer.MustRegister(&sensors{source: c.Sensors, most: c.SensorSeries})
	}
}

func (m *Metrics) gauge(name, help string, read func() float64) {
	m.registerer.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

func registerReady(r prometheus.Registerer, ready func() error) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ferrite_store_ready",
		Help: "1 while the database can be used, else 0."}, func() float64 {
		if ready() != nil {
			return 0
		}
		return 1
	}))
}

// ServeHTTP answers a scrape.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// maxLabel bounds the value of a label, in bytes.
const maxLabel = 128

// clean makes a text from outside fit for the value of a label: valid, printable and short.
func clean(text string) string {
	text = nodeapi.Printable(strings.ToValidUTF8(text, "\ufffd"))
	if len(text) > maxLabel {
		text = strings.ToValidUTF8(text[:maxLabel], "")
	}
	return text
}
