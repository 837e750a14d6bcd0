package metrics

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// work has the metrics of the engine's work. It is the engine's Observer.
type work struct {
	effects  *prometheus.CounterVec
	retries  *prometheus.CounterVec
	running  prometheus.Gauge
	took     *prometheus.HistogramVec
	commits  prometheus.Histogram
	refusals *prometheus.CounterVec
}

func newWork() work {
	w := work{
		effects: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ferrite_effects_total",
			Help: "Attempts at effects (calls to BMCs and agents) that have ended, by name and outcome."},
			[]string{"effect", "outcome"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ferrite_effect_retries_total",
			Help: "Attempts at effects after the first."}, []string{"effect"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{Name: "ferrite_effects_running",
			Help: "Effects that are being carried out."}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ferrite_effect_duration_seconds",
			Help:    "Time that an attempt at an effect took.",
			Buckets: []float64{.01, .05, .25, 1, 5, 15, 60, 300, 1800}}, []string{"effect"}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "ferrite_store_commit_duration_seconds",
			Help:    "Time that the database took for a change of a node.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5}}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ferrite_store_commit_errors_total",
			Help: "Changes that the database did not take: stale and fenced ones are decided again, failed ones are faults."},
			[]string{"reason"}),
	}
	for _, reason := range []string{"stale", "fenced", "refused", failedCommit} {
		w.refusals.WithLabelValues(reason) // an alert needs the zero before the first
	}
	return w
}

// failedCommit is the reason of a change that was not taken by a fault of the database.
const failedCommit = "failed"

func (w work) all() []prometheus.Collector {
	return []prometheus.Collector{w.effects, w.retries, w.running, w.took, w.commits, w.refusals}
}

// EffectBegan counts an effect as running.
func (w work) EffectBegan(name string, attempt int) {
	w.running.Inc()
	if attempt > 1 {
		w.retries.WithLabelValues(name).Inc()
	}
}

// EffectEnded counts its outcome and time.
func (w work) EffectEnded(name, outcome string, took time.Duration) {
	w.running.Dec()
	w.effects.WithLabelValues(name, outcome).Inc()
	w.took.WithLabelValues(name).Observe(took.Seconds())
}

// Stored takes note of a change of a node.
func (w work) Stored(took time.Duration, err error) {
	var refusal *node.Refusal
	switch {
	case err == nil:
		w.commits.Observe(took.Seconds())
	case errors.Is(err, node.ErrStale):
		w.refusals.WithLabelValues("stale").Inc()
	case errors.Is(err, node.ErrFenced):
		w.refusals.WithLabelValues("fenced").Inc()
	case errors.As(err, &refusal):
		w.refusals.WithLabelValues("refused").Inc()
	default:
		w.refusals.WithLabelValues(failedCommit).Inc()
	}
}
