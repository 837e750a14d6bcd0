// Package jobs carries out effects: one function for each, in a table by name. It calls
// BMCs, agents, image sources and other services.
//
// It must not write a node: the outcome of an effect goes to plan's settler of the same
// name.
package jobs
