//go:build !race

package crash

// sample: the conductor is killed at every write.
const sample = 1
