// Package node is the command ferrite node: a verb a file.
package node
