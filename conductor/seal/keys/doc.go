// Package keys keeps the keys of a conductor in files of its data folder: the
// Ed25519 key that erase reports are signed with, and the key that secrets are
// sealed with at rest. Each is made when there is none.
//
// The package signs and seals nothing itself, and gives the private halves to
// its callers alone.
package keys
