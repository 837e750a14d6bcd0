// Package claim decides about HostClaims, as Metal3's operator does: which host is bound to a claim, which of its
// fields the host gets, and when it is released. It is pure: documents in, documents out.
//
// The binding has two sides. A claim's status names the host, and the host's consumerRef names the claim. Neither alone
// binds: a writer of one namespace gains no host of another.
package claim
