// Package lab puts a whole rack together: a network namespace, machines with
// a board controller each, an image server, a phone-home receiver and the
// processes run beside them, and takes all of it away again.
//
// It must not know conductors, nodes or agents: tests and `ferrite-lab` start those as child processes and talk to them
// from outside.
package lab
