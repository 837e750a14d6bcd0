// Package nodeapi is the protocol between a conductor and an operator. It has the parts of Ironic's REST API that both
// sides must spell alike (nodes, verbs, faults, microversions, secret fields) and, under /ferrite/v1, the parts that
// Ironic's API lacks.
//
// It holds shapes, their decoding and their validation only: standard library, no I/O but reading the body of a
// request. A field that Ironic answers as null is the zero value here.
package nodeapi

// Where the API is. A path without the /v1 in front works too.
const (
	Root        = "/v1"
	FerriteRoot = "/ferrite/v1"
)

// Headers of Ironic's API.
const (
	// HeaderVersion asks for a microversion and says which one was used.
	HeaderVersion = "X-Openstack-Ironic-Api-Version"
	// HeaderForce, with the value true, makes the API take a request that it refuses by default, as it may destroy
	// data. It is Ferrite's own.
	HeaderForce = "X-Ferrite-Force"
	// HeaderMinVersion and HeaderMaxVersion are on every reply under /v1.
	HeaderMinVersion = "X-Openstack-Ironic-Api-Minimum-Version"
	HeaderMaxVersion = "X-Openstack-Ironic-Api-Maximum-Version"
	// HeaderServiceVersion is the spelling common to all of OpenStack:
	// "baremetal 1.50". HeaderVersion wins when both are there.
	HeaderServiceVersion = "Openstack-Api-Version"
	// HeaderRequestID names one request in replies and in the log.
	HeaderRequestID = "Openstack-Request-Id"
	// HeaderClock is the time of the conductor's own clock, in answers of /readyz.
	HeaderClock = "X-Ferrite-Clock"
	// HeaderDatabaseClock is the time by the database's clock, in answers of /readyz of a cluster's member.
	HeaderDatabaseClock = "X-Ferrite-Database-Clock"
	// HeaderRequestIDX is the same in replies from microversion 1.107 on; in a
	// request it names the one, elsewhere, that this one is a part of.
	HeaderRequestIDX = "X-Openstack-Request-Id"
)

// MinMinor and MaxMinor are the microversions 1.N this code speaks.
const (
	MinMinor = 1
	MaxMinor = 115
)

// Masked stands where a secret would be.
const Masked = "******"

// Link is a REST link.
type Link struct {
	Href string `json:"href"`
	Rel  string `json:"rel"`
}

// VersionInfo is the version object of GET / and GET /v1.
type VersionInfo struct {
	ID         string `json:"id"`
	Links      []Link `json:"links"`
	Status     string `json:"status"`
	MinVersion string `json:"min_version"`
	Version    string `json:"version"`
}

// Discovery answers GET /.
type Discovery struct {
	Name           string        `json:"name"`
	Description    string        `json:"description"`
	DefaultVersion VersionInfo   `json:"default_version"`
	Versions       []VersionInfo `json:"versions"`
}
