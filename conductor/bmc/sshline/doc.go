// Package sshline is a machine's serial line behind an SSH server of its BMC: the connection itself, or a command of
// the BMC's command line.
//
// The command line is the administrator's. A user of a console must not come to it: the keys that lead from the console
// back to it are kept out of the input, and a line ends when the command line's prompt shows again.
//
// It must not know Redfish or nodes, nor let a password into an error or a log.
package sshline
