// Package metrics counts the work of a conductor, for Prometheus.
//
// It must not ask another part for anything that costs: a scrape reads counters, and an index of the nodes that is
// kept as they are saved. The parts of the conductor know it by small interfaces of their own.
package metrics
