// Package sshconsole is the SSH server of a board's controller, joined to its machine's serial line: the connection
// itself is the console, or a command of a command line is. Its host key is made when it starts.
//
// It must not know Redfish or QEMU.
package sshconsole
