// Package reconciler reconciles hosts with their machines. When a host's document, its DataImage, a secret it names or
// the node behind it has changed, it asks package host for the next act, has the engine carry it out, and saves the
// documents.
//
// It must not decide (that is host's), and touches nodes by the engine's verbs alone, as an operator does. It
// remembers nothing that it could not find again: a conductor that ends anywhere goes on from its documents and nodes.
package reconciler
