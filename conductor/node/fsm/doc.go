// Package fsm is a finite state machine that is a table: a row says which state
// an event leads to, and why. A machine has no other transitions than its rows.
// Lookup, diagram and the checks of a table are the same for nodes and hosts.
//
// It must not know a node, a host, or any state by name.
package fsm
