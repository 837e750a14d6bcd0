package metrics

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// maxClasses bounds how many resource classes are counted by their names; others are "other".
const maxClasses = 100

// Nodes is an index of the nodes, by which they are counted without reading them. It takes some 60 bytes a node. It
// follows a core's writes.
type Nodes struct {
	now func() time.Time

	mu      sync.Mutex
	of      map[uuid.UUID]known
	counts  map[group]int
	busy    map[uuid.UUID]time.Time // since when nodes are in a state that is to pass
	classes map[string]string       // as they are shown, so that nodes share the texts
	gone    map[uuid.UUID]bool      // deleted before all were read; nil after
	lasted  *prometheus.HistogramVec
	moves   *prometheus.CounterVec
}

// group is the labels that nodes are counted by.
type group struct {
	state       node.State
	class       string
	maintenance bool
	fault       bool
}

type known struct {
	group
	revision int64
}

func newNodes(now func() time.Time) *Nodes {
	return &Nodes{now: now, of: map[uuid.UUID]known{}, counts: map[group]int{}, busy: map[uuid.UUID]time.Time{},
		classes: map[string]string{}, gone: map[uuid.UUID]bool{},
		lasted: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ferrite_node_state_duration_seconds",
			Help:    "Time that nodes were in a state that passes (working, waiting, held, failed) when they left it.",
			Buckets: []float64{1, 5, 15, 60, 300, 900, 3600, 14400, 86400}}, []string{"state"}),
		moves: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ferrite_node_transitions_total",
			Help: "Changes of the provision state as they were saved."}, []string{"from", "to"}),
	}
}

// Committed takes note of a change.
func (n *Nodes) Committed(_ context.Context, c *node.Committed) {
	switch {
	case c.Delete != "":
		n.Deleted(c.Delete)
	case c.Read:
		n.Read(c.Saved)
	case c.Wrote():
		n.Saved(c.Saved, c.Insert != nil)
	}
}

// Saved takes note of a node as it was written.
func (n *Nodes) Saved(saved node.Node, isNew bool) { n.note(saved, isNew, true) }

// Read takes note of a node that was read.
func (n *Nodes) Read(read node.Node) { n.note(read, false, false) }

// Deleted forgets a node.
func (n *Nodes) Deleted(id string) {
	key, err := uuid.Parse(id)
	if err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget(key)
	if n.gone != nil {
		n.gone[key] = true
	}
}

// AllRead says that every node of before the start was read.
func (n *Nodes) AllRead() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = nil
}

func (n *Nodes) note(v node.Node, isNew, saved bool) {
	key, err := uuid.Parse(v.UUID)
	if err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if isNew {
		n.forget(key)
		delete(n.gone, key)
	}
	old, had := n.of[key]
	if had && old.revision >= v.Revision || n.gone[key] && !saved {
		return
	}
	if had && saved && old.state != v.ProvisionState {
		n.moved(key, old.state, v.ProvisionState)
	}
	if had {
		n.add(old.group, -1)
	}
	g := group{v.ProvisionState, n.class(v.ResourceClass), v.Maintenance, v.Fault != ""}
	n.of[key] = known{g, v.Revision}
	n.add(g, 1)
	switch since := v.ProvisionUpdatedAt; {
	case v.ProvisionState.Class() == node.Stable:
		delete(n.busy, key)
	case since != nil:
		n.busy[key] = *since
	default:
		n.busy[key] = n.now()
	}
}

func (n *Nodes) moved(key uuid.UUID, from, to node.State) {
	n.moves.WithLabelValues(string(from), string(to)).Inc()
	if since, was := n.busy[key]; was {
		n.lasted.WithLabelValues(string(from)).Observe(max(0, n.now().Sub(since).Seconds()))
	}
}

func (n *Nodes) forget(key uuid.UUID) {
	if old, had := n.of[key]; had {
		n.add(old.group, -1)
		delete(n.of, key)
		delete(n.busy, key)
	}
}

func (n *Nodes) add(g group, by int) {
	if n.counts[g] += by; n.counts[g] == 0 {
		delete(n.counts, g)
	}
}

// class is a resource class as it is shown.
func (n *Nodes) class(name string) string {
	if shown, ok := n.classes[name]; ok {
		return shown
	}
	if len(n.classes) >= maxClasses {
		return "other"
	}
	n.classes[name] = clean(name)
	return n.classes[name]
}

var (
	nodesDesc = prometheus.NewDesc("ferrite_nodes", "Nodes by provision state, resource class, maintenance and fault.",
		[]string{"state", "resource_class", "maintenance", "fault"}, nil)
	oldestDesc = prometheus.NewDesc("ferrite_node_oldest_in_state_seconds",
		"Time that a node has been in this state for the longest, of states that pass (working, waiting, held, failed).",
		[]string{"state"}, nil)
)

// Describe names the metrics.
func (n *Nodes) Describe(out chan<- *prometheus.Desc) {
	out <- nodesDesc
	out <- oldestDesc
	n.lasted.Describe(out)
	n.moves.Describe(out)
}

// Collect counts. It passes over the nodes that are in a state that passes, and no others.
func (n *Nodes) Collect(out chan<- prometheus.Metric) {
	counts, oldest := n.counted()
	for g, count := range counts {
		out <- prometheus.MustNewConstMetric(nodesDesc, prometheus.GaugeValue, float64(count), string(g.state), g.class,
			yes(g.maintenance), yes(g.fault))
	}
	for state, info := range node.States {
		if info.Class == node.Stable {
			continue
		}
		out <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, oldest[state].Seconds(), string(state))
	}
	n.lasted.Collect(out)
	n.moves.Collect(out)
}

func (n *Nodes) counted() (counts map[group]int, oldest map[node.State]time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	counts, oldest = maps.Clone(n.counts), map[node.State]time.Duration{}
	now := n.now()
	for key, since := range n.busy {
		state := n.of[key].state
		oldest[state] = max(oldest[state], now.Sub(since))
	}
	return counts, oldest
}

func yes(is bool) string {
	if is {
		return "true"
	}
	return "false"
}
