// Package scale measures three conductors on PostgreSQL with the machines of a large site: simulated agents and BMCs in
// one process, and conductors that are the test binary itself. Small sizes are tests that end within seconds. The
// package has tests alone.
package scale
