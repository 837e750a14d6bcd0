package nodeapi

import "time"

// Leases answers GET /ferrite/v1/leases: every address the boot service has
// handed out or keeps for a machine, in the order of the MACs.
type Leases struct {
	Leases []Lease `json:"leases"`
}

// Lease is one of them. A Static one is a reservation: it has no end.
type Lease struct {
	MAC     string    `json:"mac"` // lower case, with colons
	IP      string    `json:"ip"`
	Subnet  string    `json:"subnet,omitempty"` // the name of the subnet, where it has one
	Static  bool      `json:"static"`
	Expires time.Time `json:"expires,omitzero"`
}

// Reservation is the body of PUT /ferrite/v1/leases/{mac}, which answers the
// Lease it made.
type Reservation struct {
	IP     string `json:"ip"`               // IPv4, of a subnet the boot service serves
	Subnet string `json:"subnet,omitempty"` // its name, needed where several subnets have the address
}
