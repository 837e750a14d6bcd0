// Package core is the only writer of node state. It gathers the facts around an event,
// asks package plan, saves the node together with the effect that is then pending, has
// effects carried out, and comes back with their outcome. It declares what it needs of
// stores, BMC drivers and agents.
//
// It must not decide (that is plan's), know a driver or a database, or write a node in
// any other way than through plan or an operator's edit.
package core
