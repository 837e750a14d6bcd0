// Package redfishtest has the surroundings of a controller under test: a machine in memory, a clock, a client, and a
// server of firmware images. Tests of the controller in lab/redfish and of the conductor's driver share it.
package redfishtest
