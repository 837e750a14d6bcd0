//go:build race

package crash

// sample: under the race detector each of some hundred conductors takes a second
// to start, and it looks at this process alone; every so many a write is enough.
// make e2e kills at every one.
const sample = 9
