// Package fsm is a finite state machine as a table: a row names the state that an event leads to, and the reason. A
// machine has no other transitions than its rows. Lookup, diagram and the checks of a table are the same for nodes and
// hosts.
//
// It must not know a node, a host, or any state by name.
package fsm
