// Package host is the commands for documents of hosts: apply, get, describe, delete, and
// the import of enrolled nodes.
package host
