// Package manual is `ferrite docs`: it lists, prints and searches the pages of
// the documentation that the program carries, and writes its man pages.
package manual
