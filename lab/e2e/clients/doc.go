// Package clients runs clients against `ferrite serve` with fake hardware: Debian's baremetal and openstacksdk, and
// kubectl, all unmodified and behind the build tags e2e and clients; and ferrite's own commands. The package has tests
// alone.
package clients
