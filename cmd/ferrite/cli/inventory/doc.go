// Package inventory is the commands for the records beside nodes: a noun a file.
package inventory
