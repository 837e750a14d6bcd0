// Package doctor tries a BMC by the drivers' own calls, and reports for each operation whether it works, which quirks
// the driver adapts to, and how long it takes: before a machine is enrolled, or when a BMC behaves oddly.
//
// It changes nothing unless it is asked to exercise the BMC, and it needs no conductor. The table of operations is
// operations.go; IPMI's is ipmi.go.
package doctor
