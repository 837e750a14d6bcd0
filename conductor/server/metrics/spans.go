package metrics

import "github.com/prometheus/client_golang/prometheus"

// spans counts the spans of traces by outcome.
type spans struct{ read func() (sent, dropped uint64) }

var spanCounts = prometheus.NewDesc("ferrite_trace_spans_total",
	"Spans of traces, by outcome: sent to the collector, or dropped.", []string{"outcome"}, nil)

// Describe names the metric.
func (s spans) Describe(out chan<- *prometheus.Desc) { out <- spanCounts }

// Collect reads it.
func (s spans) Collect(out chan<- prometheus.Metric) {
	sent, dropped := s.read()
	out <- prometheus.MustNewConstMetric(spanCounts, prometheus.CounterValue, float64(sent), "sent")
	out <- prometheus.MustNewConstMetric(spanCounts, prometheus.CounterValue, float64(dropped), "dropped")
}
