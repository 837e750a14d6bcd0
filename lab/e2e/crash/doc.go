// Package crash ends conductors in the middle of their work. It compares their nodes and hosts with those left by
// conductors that ran undisturbed. A conductor is the test binary itself, with a store that kills the process at a
// chosen write. The package has tests alone.
package crash
