// Package core is the only writer of node state. It gathers the facts around an event, asks package plan, and saves the
// node together with the effect that is then pending. It has effects carried out, and decides again with their outcome.
// It declares the interfaces that stores, BMC drivers and agents implement.
//
// It must not decide (that is plan's), or know a driver or a database. It writes a node only through plan or by an
// operator's edit.
package core
