// Package translate turns a BareMetalHost document, and the secrets it names, into a node: address of the BMC, boot
// mode, image, root device hints, RAID volumes and config drive, in Ironic's words. It also turns an inspection into
// the hardware part of a document.
//
// It is pure: plain data in, plain data out. It must not decide which act is done, nor when: package host does.
package translate
