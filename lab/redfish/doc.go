// Package redfish is the board controller of one lab machine: a Redfish
// service (DMTF DSP0266, DSP2046) that presses the machine's buttons, with the
// sessions, ETags and errors real controllers have, and with their failures
// on demand.
//
// It must not start processes or touch the network itself: it acts through
// the Machine interface and fetches media and firmware with the HTTP client it
// is given.
package redfish
