// Package host decides the next act for a BareMetalHost: plain data in (the document, the secrets it names, the node
// behind it, the time), plain data out (the document as it becomes, and at most one act on the node). It has one file
// per state, and the gates before them. Package translate makes a node of the document; package firmware keeps the
// documents about firmware.
//
// Its decisions are the same as Metal3's: states, errors, conditions and calls follow baremetal-operator 0.14. It is
// pure: no I/O, no clock, no goroutine. It never touches a node: an Action is an operator's request, which the engine
// may refuse.
package host
