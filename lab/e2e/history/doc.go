// Package history kills, freezes and cuts off conductors of one cluster while nodes go through their lives. It checks
// the requests that they acknowledged, and their requests to BMCs, against a ledger of its own. A conductor is the test
// binary itself. The package has tests alone.
package history
