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

var (
	auditEntries = prometheus.NewDesc("ferrite_audit_entries", "Entries of the audit.", nil, nil)
	auditBytes   = prometheus.NewDesc("ferrite_audit_bytes", "Bytes of the entries of the audit.", nil, nil)
)

// Describe names the metrics.
func (a auditSize) Describe(out chan<- *prometheus.Desc) { out <- auditEntries; out <- auditBytes }

// Collect reads them.
func (a auditSize) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), auditTime)
	defer cancel()
	entries, bytes, err := a.read(ctx)
	if err != nil {
		return
	}
	out <- prometheus.MustNewConstMetric(auditEntries, prometheus.GaugeValue, float64(entries))
	out <- prometheus.MustNewConstMetric(auditBytes, prometheus.GaugeValue, float64(bytes))
}
