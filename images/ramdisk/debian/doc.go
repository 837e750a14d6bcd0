// Package debian takes packages out of Debian's archive: by apt where the host has it, or by itself over HTTP, which
// needs no program of the host. Of a mirror nothing is believed that Debian's keys have not signed: InRelease is
// signed, names the hash of Packages, and Packages names the hash of each .deb.
//
// It unpacks into a folder and runs nothing of a package. It must not know what the packages are for.
package debian
