package metrics

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// MemberConfig has the sources that the metrics of a cluster's member are read from at a scrape.
type MemberConfig struct {
	// Leads are the conductor groups there are; true for those that this conductor leads.
	Leads func() map[string]bool
	// Ready is why the database cannot be used, nil when it can.
	Ready func() error
	// Streams counts the answers without an end; nil for none.
	Streams func() connlimit.StreamCounts
}

// Member is the metrics of one conductor of a cluster, with or without a term: its own, and those for the terms in
// which it leads. It is safe for concurrent use.
type Member struct {
	registry *prometheus.Registry

	mu      sync.Mutex
	terms   []*Metrics
	handler http.Handler
}

// NewMember makes the metrics of a member that leads nothing.
func NewMember(c MemberConfig) *Member {
	m := &Member{registry: prometheus.NewRegistry()}
	registerProgram(m.registry)
	m.registry.MustRegister(leaders{c.Leads})
	registerReady(m.registry, c.Ready)
	if c.Streams != nil {
		m.registry.MustRegister(streams{c.Streams})
	}
	m.gather()
	return m
}

// gather answers scrapes from the current terms. The caller holds the lock, or has not shared m yet.
func (m *Member) gather() {
	all := prometheus.Gatherers{m.registry}
	for _, t := range m.terms {
		all = append(all, t.registry)
	}
	m.handler = answering(all, m.registry)
}

// Begin adds the metrics of a term, at zero. The label conductor_group separates the metrics of two groups.
func (m *Member) Begin(group string) *Metrics {
	t := newMetrics(prometheus.Labels{"conductor_group": clean(group)})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.terms = append(m.terms, t)
	m.gather()
	return t
}

// End takes the metrics of a term away: another conductor has them from then on.
func (m *Member) End(t *Metrics) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := []*Metrics{}
	for _, other := range m.terms {
		if other != t {
			kept = append(kept, other)
		}
	}
	m.terms = kept
	m.gather()
}

// ServeHTTP answers a scrape.
func (m *Member) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	h := m.handler
	m.mu.Unlock()
	h.ServeHTTP(w, r)
}
