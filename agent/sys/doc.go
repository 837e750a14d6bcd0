// Package sys is the agent's edge to the kernel: mounts, modules, power,
// uevents, the kernel log, the entropy pool, the clock, software RAID, an
// installed system with programs of its own. Each call is thin, so that
// everything above declares the few it needs as an interface and is tested
// without root.
//
// It must not decide anything and imports none of our packages.
package sys

// Linux is the kernel the agent runs on. Its methods satisfy the small
// interfaces the packages above declare.
type Linux struct{}
