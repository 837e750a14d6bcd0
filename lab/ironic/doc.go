// Package ironic is OpenStack Ironic in a lab, in the place of our conductor: Debian's packages ironic-api and
// ironic-conductor as one process, and beside it the DHCP and HTTP service that Ironic expects from its surroundings.
//
// It must not steer Ironic: an operator does that, over the API.
package ironic
