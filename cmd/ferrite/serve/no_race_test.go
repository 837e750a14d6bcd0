//go:build !race

package serve

// sample: the conductor is killed at every write.
const sample = 1
