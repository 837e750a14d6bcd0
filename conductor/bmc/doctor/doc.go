// Package doctor looks at a BMC as the drivers will use it, and says of each operation whether it is there, which ways
// around the driver takes, and how long it takes: before a machine is enrolled, or when one behaves oddly.
//
// It changes nothing unless it is asked to exercise the BMC, and it needs no conductor. The table of operations is
// operations.go; IPMI's is ipmi.go.
package doctor
