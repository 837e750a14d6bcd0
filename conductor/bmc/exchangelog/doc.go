// Package exchangelog remembers the latest requests to each machine: to its BMC, and to its agent. They are in memory
// alone: a restart forgets them.
//
// It must not hold bodies of requests or answers, which may be secret.
package exchangelog
