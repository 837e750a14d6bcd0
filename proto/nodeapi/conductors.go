package nodeapi

import "time"

// ConductorsPath lists the conductors of a cluster: GET /ferrite/v1/conductors. PUT of ConductorsPath/NAME/drained sets
// whether one may lead.
const ConductorsPath = FerriteRoot + "/conductors"

// Conductors is the answer of ConductorsPath.
type Conductors struct {
	Conductors []Conductor `json:"conductors"`
}

// Conductor is one conductor of a cluster, or the only one.
type Conductor struct {
	Name    string `json:"name"`
	Group   string `json:"group"`
	Leader  bool   `json:"leader"` // it leads its group
	Alive   bool   `json:"alive"`
	Drained bool   `json:"drained"` // it does not lead, and will not

	Address       string    `json:"address,omitempty"` // where other conductors reach it
	HardwareTypes []string  `json:"hardware_types"`
	CreatedAt     time.Time `json:"created_at"`
	SeenAt        time.Time `json:"seen_at"` // its last sign of life
}

// DrainedConductor is the body of a PUT.
type DrainedConductor struct {
	Drained bool `json:"drained"`
}
