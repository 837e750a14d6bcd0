// Package reconciler reconciles hosts with their machines: it looks at a host whenever its document,
// its DataImage, a secret it names or the node behind it has changed, asks package
// host what follows, has the engine do that, and saves the documents.
//
// It must not decide (that is host's), and touches nodes by the engine's verbs
// alone, as an operator does. It remembers nothing that it could not find again:
// a conductor that ends anywhere goes on where documents and nodes are.
package reconciler
