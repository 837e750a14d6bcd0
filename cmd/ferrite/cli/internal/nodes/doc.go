// Package nodes reads nodes for several commands, and completes their names.
package nodes
