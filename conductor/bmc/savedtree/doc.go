// Package savedtree writes the documents of a BMC into an archive that others may see: a bug report
// that can be replayed. Names, numbers and addresses that belong to one machine are replaced, each
// by the same everywhere and of the same shape, so that the drivers find in the copy what they find
// in the BMC.
//
// It asks no BMC: documents in, an archive out.
package savedtree
