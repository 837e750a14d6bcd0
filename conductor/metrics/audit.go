package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// auditTime bounds the look at the audit's size, which is one small table.
const auditTime = 5 * time.Second

// auditSize is the size of the audit. It is left out while the database does not answer.
type auditSize struct {
	read func(ctx context.Context) (entries, bytes int64, err error)
}

func auditDescs() (entries, bytes *prometheus.Desc) {
	return prometheus.NewDesc("ferrite_audit_entries", "Entries of the audit.", nil, nil),
		prometheus.NewDesc("ferrite_audit_bytes", "Bytes of the entries of the audit.", nil, nil)
}

// Describe is of prometheus.Collector.
func (a auditSize) Describe(to chan<- *prometheus.Desc) {
	entries, bytes := auditDescs()
	to <- entries
	to <- bytes
}

// Collect is of prometheus.Collector.
func (a auditSize) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), auditTime)
	defer cancel()
	count, size, err := a.read(ctx)
	if err != nil {
		return
	}
	entries, bytes := auditDescs()
	to <- prometheus.MustNewConstMetric(entries, prometheus.GaugeValue, float64(count))
	to <- prometheus.MustNewConstMetric(bytes, prometheus.GaugeValue, float64(size))
}
