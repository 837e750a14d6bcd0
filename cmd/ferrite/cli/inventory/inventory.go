// Package inventory is the commands for the records beside nodes: tables of nouns.
package inventory

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Commands are the commands of all nouns.
func Commands(s *client.Session) []*cobra.Command {
	all := []*cobra.Command{eraseReportCommand(s), createCommand(s)}
	for _, n := range []noun.Noun{ports, portgroups, chassis, volumes, templates, runbooks, inspectionRules, allocations,
		leases, drivers, shards, conductors, images} {
		all = append(all, n.Command(s))
	}
	return all
}

var shards = noun.Noun{
	Use: "shard", Short: "Shards: parts of the machines for services that share them",
	Long: "Shards. ferrite node set NODE --shard SHARD puts a machine into one.",
	Path: nodeapi.Root + "/shards",
	Verbs: []noun.Verb{{Use: "list", Short: "List the shards, with their numbers of machines", Key: "shards",
		Columns: output.Columns("name", "count")}},
}

var conductors = noun.Noun{
	Use: "conductor", Short: "Conductors that share a database, and which of them leads",
	Long: `The conductors that share a database. One of them leads each conductor group, and the
others forward to it. See docs/operate/several-conductors.md.`,
	Path: nodeapi.ConductorsPath,
	Verbs: []noun.Verb{
		{Use: "list", Short: "List the conductors", Key: "conductors",
			Columns: output.Columns("name", "group", "leader", "alive", "drained", "seen_at")},
		{Use: "show CONDUCTOR", Short: "Show one conductor, with its hardware types", Of: nodeapi.Root + "/conductors",
			Path: "/{0}"},
		{Use: "drain CONDUCTOR...", Short: "Stop a conductor from leading; another one takes over",
			Method: "PUT", Path: "/{0}/drained", Body: map[string]any{"drained": true}, Done: "drained {0}"},
		{Use: "undrain CONDUCTOR...", Short: "Let a drained conductor lead again",
			Method: "PUT", Path: "/{0}/drained", Body: map[string]any{"drained": false}, Done: "undrained {0}"},
	},
}

var drivers = noun.Noun{
	Use: "driver", Short: "Hardware types and their interfaces", Path: nodeapi.Root + "/drivers",
	Verbs: []noun.Verb{
		{Use: "list", Short: "List the enabled hardware types", Key: "drivers", Columns: output.Columns("name", "hosts")},
		{Use: "show DRIVER", Short: "Show the interfaces of a hardware type", Path: "/{0}"},
		{Use: "properties DRIVER", Short: "Show the keys that --driver-info can have", Path: "/{0}/properties"},
		{Use: "raid-properties DRIVER", Short: "Show the properties of a volume for node raid set",
			Path: "/{0}/raid/logical_disk_properties"},
	},
	Below: []noun.Noun{{Use: "vendor", Short: "Methods of a hardware type", Verbs: []noun.Verb{
		{Use: "list DRIVER", Short: "List the methods of a hardware type", Path: "/{0}/vendor_passthru/methods"},
		{Use: "call DRIVER METHOD [--arguments JSON]", Short: "Call a method of a hardware type", Method: "POST",
			Path: "/{0}/vendor_passthru/{1}", Done: "{0}: {1} was called", Fields: []noun.Field{
				{Flag: "http-method", Kind: noun.Method, Value: "POST", Help: "GET, POST, PUT, PATCH or DELETE"},
				{Flag: "arguments", Kind: noun.Whole, Help: "`file` of JSON or YAML, or JSON: an object"}}},
	}}},
}

var leases = noun.Noun{
	Use: "lease", Short: "DHCP leases and reserved addresses",
	Long: `DHCP leases and reservations of the boot service, by MAC. No other machine gets a
reserved address. A reservation counts from the machine's next DHCP request on.`,
	Path: nodeapi.FerriteRoot + "/leases", Lacks: "has no leases",
	Verbs: []noun.Verb{
		{Use: "list", Short: "List leases and reserved (static) addresses", Key: "leases",
			Columns: output.Columns("mac", "ip", "subnet", "node", "static", "expires")},
		{Use: "reserve MAC IP", Short: "Reserve an address for a machine",
			Example: `  ferrite lease reserve 52:54:00:12:34:56 10.0.0.50
  ferrite lease reserve 52:54:00:12:34:56 10.1.0.50 --subnet rack-7`,
			Method: "PUT", Path: "/{0}", Body: map[string]any{"ip": "{1}"},
			Fields: []noun.Field{{Name: "subnet", Help: "name of the subnet, where several have the address"}}},
		{Use: "delete MAC...", Short: "Delete leases and reservations",
			Long: `Delete leases and reservations. A machine that still uses a leased address gets it
again when it renews. A machine without its reservation gets another address.`,
			Method: "DELETE", Path: "/{0}", Done: "deleted lease of {0}"},
	},
}
