// Package bootmedia serves the images from which machines boot out of a BMC's virtual drive. An image is composed for
// its node as it is read: nothing of it is stored.
//
// A BMC has no way to prove its identity. The path of an image therefore cannot be guessed, holds for one boot, or as
// long as a node boots the same workload from it, and one address reads it: that of the BMC, or else the first that
// asks.
//
// Package bootpolicy decides the contents. This package decides nothing about a node's life.
package bootmedia
