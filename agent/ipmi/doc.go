// Package ipmi makes a user of the machine's own BMC, by commands of IPMI 2.0.
//
// It sends commands through a Bus and keeps none of them. It must not change a user of another owner, nor log
// anything: commands hold a password.
package ipmi
