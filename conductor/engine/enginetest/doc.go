// Package enginetest is a bench for tests of an engine and its parts: a world of machines with
// BMCs and agents, in one process and in virtual time, around a real engine.
//
// A world checks the invariants of effects with every write, in a ledger. Its calls can be lost,
// its BMCs and agents can fall silent, and its conductor can be killed or frozen.
package enginetest
