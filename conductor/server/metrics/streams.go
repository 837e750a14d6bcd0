package metrics

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// streams are the answers without an end that have places.
type streams struct{ read func() connlimit.StreamCounts }

var (
	openStreams = prometheus.NewDesc("ferrite_api_streams",
		"Answers without an end of their own that are under way: events, logs, watches, consoles.", []string{"kind"}, nil)
	lostStreams = prometheus.NewDesc("ferrite_api_streams_lost_total",
		"Such answers that had no place (refused), or ended for another reader's (gave-way).", []string{"outcome"}, nil)
)

// Describe names the metrics.
func (s streams) Describe(out chan<- *prometheus.Desc) { out <- openStreams; out <- lostStreams }

// Collect reads them.
func (s streams) Collect(out chan<- prometheus.Metric) {
	c := s.read()
	for _, kind := range slices.Sorted(maps.Keys(c.Open)) {
		out <- prometheus.MustNewConstMetric(openStreams, prometheus.GaugeValue, float64(c.Open[kind]), kind)
	}
	out <- prometheus.MustNewConstMetric(lostStreams, prometheus.CounterValue, float64(c.Refused), "refused")
	out <- prometheus.MustNewConstMetric(lostStreams, prometheus.CounterValue, float64(c.GaveWay), "gave-way")
}
