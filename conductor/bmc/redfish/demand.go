package redfish

// Demand is a property that the driver needs for one of its functions.
type Demand struct {
	Document string // schema
	Property string // with the objects that it is in
	Since    string // the version that brought it
	For      string // the function that needs it
}

// Demands is the table. Every property outside of it is optional: without it, or with a meaningless value, all else
// works.
func Demands() []Demand {
	return []Demand{
		{"ServiceRoot", "Systems.@odata.id", "ServiceRoot v1.0", "finding the machine, unless redfish_system_id is set"},
		{"ComputerSystemCollection", "Members[0].@odata.id", "DSP0266 1.0, in every collection",
			"finding the machine, unless redfish_system_id is set"},
		{"ComputerSystem", "PowerState", "ComputerSystem v1.0", "the power state"},
		{"ComputerSystem", "Actions.#ComputerSystem.Reset.target", "ComputerSystem v1.0", "power changes"},
	}
}
