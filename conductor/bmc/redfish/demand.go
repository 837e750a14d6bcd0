package redfish

// Demand is a property without which the driver cannot do what it is for.
type Demand struct {
	Document string // schema
	Property string // with the objects that it is in
	Since    string // the version that brought it
	For      string // what cannot be done without it
}

// Demands is the table. Every property that is not in it is optional: without it, or with one of a kind that says
// nothing, all else works.
func Demands() []Demand {
	return []Demand{
		{"ServiceRoot", "Systems.@odata.id", "ServiceRoot v1.0", "finding the machine, unless redfish_system_id is set"},
		{"ComputerSystemCollection", "Members[0].@odata.id", "DSP0266 1.0, in every collection",
			"finding the machine, unless redfish_system_id is set"},
		{"ComputerSystem", "PowerState", "ComputerSystem v1.0", "the power state"},
		{"ComputerSystem", "Actions.#ComputerSystem.Reset.target", "ComputerSystem v1.0", "power changes"},
	}
}
