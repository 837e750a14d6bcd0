package metrics

import "github.com/prometheus/client_golang/prometheus"

// leaders says which conductor groups this conductor leads.
type leaders struct{ read func() map[string]bool }

var leads = prometheus.NewDesc("ferrite_leader",
	"1 for a conductor group that this conductor leads, 0 for one that it "+
		"does not.", []string{"group"}, nil)

// Describe names the metric.
func (l leaders) Describe(out chan<- *prometheus.Desc) { out <- leads }

// Collect reads it.
func (l leaders) Collect(out chan<- prometheus.Metric) {
	for group, leading := range l.read() {
		value := 0.0
		if leading {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(leads, prometheus.GaugeValue, value, clean(group))
	}
}
