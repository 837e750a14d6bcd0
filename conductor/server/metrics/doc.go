// Package metrics counts what a conductor does, for Prometheus.
//
// It must not ask anybody for anything that costs: a scrape reads counters, and an index of
// the nodes that is kept as they are saved. The parts of the conductor know it by small
// interfaces of their own.
package metrics
