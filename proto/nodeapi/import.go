package nodeapi

import "encoding/json"

// ImportPath is where records of another program are taken over: POST Import.
const ImportPath = FerriteRoot + "/import"

// ImportGroup is the query parameter that names the conductor group of an imported node: its conductor answers.
const ImportGroup = "conductor_group"

// Import is one node with all records that belong to it; or a chassis, a deploy template or a runbook. Fields are
// those in Ironic's API, newest microversion. Read-only fields may be given, too, if they are not computed.
type Import struct {
	Source    string `json:"source"`              // a URL: which program had the record
	DryRun    bool   `json:"dry_run,omitempty"`   // answer alone, and write nothing
	Overwrite bool   `json:"overwrite,omitempty"` // also replace changes made here since the last import

	Node       map[string]any   `json:"node,omitempty"`
	Ports      []map[string]any `json:"ports,omitempty"`
	Portgroups []map[string]any `json:"portgroups,omitempty"`
	Connectors []map[string]any `json:"connectors,omitempty"`
	Targets    []map[string]any `json:"targets,omitempty"`
	Allocation map[string]any   `json:"allocation,omitempty"`
	Inventory  *ImportInventory `json:"inventory,omitempty"`

	Chassis        map[string]any `json:"chassis,omitempty"`
	DeployTemplate map[string]any `json:"deploy_template,omitempty"`
	Runbook        map[string]any `json:"runbook,omitempty"`
}

// ImportInventory is the result of the last inspection.
type ImportInventory struct {
	Inventory  json.RawMessage `json:"inventory"`
	PluginData json.RawMessage `json:"plugin_data"`
}

// Imported is the answer. With the outcome "conflict" nothing was written.
type Imported struct {
	Outcome   string       `json:"outcome"` // created, changed, unchanged or conflict
	UUID      string       `json:"uuid"`
	Changes   []Difference `json:"changes"`   // taken over
	Kept      []Difference `json:"kept"`      // changed here alone: they stay
	Conflicts []Difference `json:"conflicts"` // changed here, and other than at the source
}

// Difference is a value that differs between both sides, with secrets masked.
type Difference struct {
	Item   string `json:"item"`
	Here   any    `json:"here"`
	There  any    `json:"there"`
	Secret bool   `json:"secret,omitempty"` // a secret in it differs
}
