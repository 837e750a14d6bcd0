// Package nodes reads and changes nodes for several commands.
package nodes
