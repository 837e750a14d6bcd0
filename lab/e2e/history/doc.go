// Package history lets conductors of one cluster be killed, frozen and cut off while nodes go through their lives, and
// checks what they acknowledged and what they did to BMCs against a ledger of its own. A conductor is the test binary
// itself. The package has tests alone.
package history
