// Package savedtree writes the documents of a BMC into an archive for others: a bug report that can be replayed.
// Names, numbers and addresses of the machine are replaced, each by the same value everywhere and of the same shape,
// so that the drivers behave with the copy as they do with the BMC.
//
// It asks no BMC: documents in, an archive out.
package savedtree
