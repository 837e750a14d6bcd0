package node

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// record is the commands that are one request for each node.
var record = noun.Noun{
	Path: nodeapi.Root + "/nodes", Refused: refused, Below: append(hardware, maintenance, bootDevice, confirm),
	Verbs: []noun.Verb{
		{Use: "nmi NODE...", Method: http.MethodPut, Path: "/{0}/management/inject_nmi",
			Short: "Interrupt machines so that their operating systems dump their memory"},
		{Use: "validate NODE", Short: "Show which settings each interface lacks", Path: "/{0}/validate",
			Rows: noun.Rows(validRows)},
		{Use: "inventory NODE", Short: "Show the inventory of a machine, as JSON or YAML (-o yaml)",
			Path: "/{0}/inventory", Also: asTree},
		{Use: "history NODE", Short: "Show the history of a machine", Path: "/{0}/history?detail=True", Key: "history",
			// the user is the requester of an event; empty for the conductor's own
			Columns: []output.Column{{Field: "created_at", Head: "time"}, {Field: "severity", Wide: true},
				{Field: "event_type", Head: "type"}, {Field: "user"}, {Field: "conductor", Wide: true},
				{Field: "uuid", Wide: true}, {Field: "event"}}},
		{Use: "history-event NODE EVENT", Short: "Show one event of the history, by the UUID that history -o wide has",
			Path: "/{0}/history/{1}"},
		{Use: "delete NODE...", Short: "Delete machines from the conductor",
			Long: `Delete the records of machines. The machines themselves are not touched. A machine that is
deployed or busy cannot be deleted: undeploy it, or put it into maintenance first.`,
			Method: http.MethodDelete, Path: "/{0}", Done: "deleted node {0}", Care: caution.Care{Force: caution.OfHost,
				Question: caution.Always("This deletes the records of NAMES, with ports, inventory and history.")}},
	},
}

var maintenance = noun.Noun{
	Use: "maintenance", Short: "Take machines out of service and back",
	Verbs: []noun.Verb{
		{Use: "set NODE...", Short: "Put machines into maintenance", Method: http.MethodPut, Path: "/{0}/maintenance",
			Done: "{0} is in maintenance", Fields: []noun.Field{{Name: "reason", Help: "why, for other people"}}},
		{Use: "unset NODE...", Short: "Take machines out of maintenance", Method: http.MethodDelete,
			Path: "/{0}/maintenance", Done: "{0} is out of maintenance"},
	},
}

var bootDevice = noun.Noun{
	Use: "boot-device", Short: "Boot devices of machines",
	Verbs: []noun.Verb{
		{Use: "set NODE DEVICE", Short: "Set the next boot device: pxe, disk, cdrom, ...", Method: http.MethodPut,
			Path: "/{0}/management/boot_device", Body: map[string]any{"boot_device": "{1}"}, Done: "{0} boots from {1}",
			Fields: []noun.Field{
				{Name: "persistent", Value: false, Help: "for all boots from now on, not only the next"}}},
		{Use: "show NODE", Short: "Show the next boot device", Path: "/{0}/management/boot_device"},
		{Use: "supported NODE", Short: "List the boot devices that a machine supports",
			Path: "/{0}/management/boot_device/supported"},
	},
}

// confirm is for machines that a person switches.
var confirm = noun.Noun{
	Use: "confirm", Short: "Confirm work that was done to a machine by hand",
	Long: `Machines of the hardware type manual-management have no BMC: a person presses the power
button. While a node waits for that, "ferrite node status" says so. A machine that boots from
the network is known to be on, and needs no confirmation.`,
	Path: nodeapi.FerriteRoot + "/nodes",
	Below: []noun.Noun{{Use: "power", Short: "Confirm the power of machines", Verbs: []noun.Verb{
		{Use: "on NODE...", Short: "Confirm that machines have been switched on, or restarted", Method: http.MethodPut,
			Path: "/{0}/power", Body: map[string]any{"confirmed": "power on"}, Done: "{0} is taken for power on"},
		{Use: "off NODE...", Short: "Confirm that machines have been switched off", Method: http.MethodPut,
			Path: "/{0}/power", Body: map[string]any{"confirmed": "power off"}, Done: "{0} is taken for power off"},
	}}},
}

// asTree prints as JSON for people, too.
func asTree(s *client.Session, _ *cobra.Command) noun.After {
	return func(_ *cobra.Command, _ []string, reply json.RawMessage) (json.RawMessage, error) {
		if s.People() {
			s.Output = "json"
		}
		return reply, nil
	}
}

// switchedOff ends Ironic's reason for an interface that the node has switched off, as no-console does.
const switchedOff = " (disabled or not implemented)."

func validRows(_ *client.Session, byKind map[string]nodeapi.Valid) *output.Table {
	t := output.NewTable("Interface", "Works", "Reason")
	for _, kind := range output.Sorted(byKind) {
		works := "not supported"
		reason := byKind[kind].Reason
		if v := byKind[kind].Result; v != nil {
			works = map[bool]string{true: "yes", false: "no"}[*v]
		}
		if strings.HasSuffix(reason, switchedOff) {
			works, reason = "off", ""
		}
		t.Row(kind, works, reason)
	}
	return t
}
