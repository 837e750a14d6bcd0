// Package bootmedia serves the images from which machines boot out of a BMC's virtual drive. An image is composed for
// its node as it is read, and is never stored.
//
// A BMC has no way to prove its identity. The path of an image therefore cannot be guessed. It is valid for one boot,
// or for as long as a node boots the same workload from it. One address reads it: the BMC's, or else the first that
// asks.
//
// Package bootpolicy decides the contents. This package decides nothing about a node's life.
package bootmedia
