// Package host decides what a conductor does for a BareMetalHost: plain data in
// (the document, the secrets it names, the node behind it, the time), plain data
// out (the document as it becomes, and at most one thing to be done to the node).
// One file per state, one per annotation's matter, one per part of the document
// that becomes a part of the node.
//
// Its decisions are Metal3's: states, errors, conditions and calls are those of
// baremetal-operator 0.14. It is pure: no I/O, no clock, no goroutine. It never
// touches a node: an Action is an operator's request, which the engine may refuse.
package host
