// Package debian takes packages out of Debian's archive. It uses apt where the host has it, or fetches over HTTP by
// itself, which needs no program of the host. It trusts a mirror only for content signed by Debian's keys: InRelease
// is signed, names the hash of Packages, and Packages names the hash of each .deb. See
// docs/decisions/0072-packages-without-apt.md.
//
// It unpacks into a folder and runs nothing of a package. It must not know the purpose of the packages.
package debian
