package host

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

var update = flag.Bool("update", false, "rewrite the diagram in docs/design/state-machines.md")

// rowCases is a situation for every row of the table.
var rowCases = []struct {
	from hostapi.State
	on   Trigger
	is   node.State // of the node
	with []edit
}{
	{hostapi.StateNone, WithBMC, "",
		[]edit{
			spec(func(s *hostapi.HostSpec) { s.BMC = hostapi.BMC{Address: "redfish://10.0.0.1", CredentialsName: "bmc"} }),
		}},
	{hostapi.StateNone, WithBMC, "", []edit{spec(func(s *hostapi.HostSpec) { s.BMC.CredentialsName = "bmc" })}},
	{hostapi.StateNone, WithoutBMC, "", nil},
	{hostapi.StateNone, Delete, "", []edit{deleted}},

	{hostapi.StateUnmanaged, WithBMC, "",
		[]edit{spec(func(s *hostapi.HostSpec) { s.BMC.Address = "redfish://10.0.0.1" })}},
	{hostapi.StateUnmanaged, Delete, "", []edit{deleted}},

	{hostapi.StateRegistering, External, node.Manageable,
		[]edit{spec(func(s *hostapi.HostSpec) { s.ExternallyProvisioned = true })}},
	{hostapi.StateRegistering, NoInspection, node.Manageable,
		[]edit{spec(func(s *hostapi.HostSpec) { s.InspectionMode = hostapi.InspectionDisabled })}},
	{hostapi.StateRegistering, NoInspection, node.Manageable,
		[]edit{annotate(hostapi.AnnotationInspect, hostapi.InspectDisabled)}},
	{hostapi.StateRegistering, Registered, node.Manageable, nil},
	{hostapi.StateRegistering, Delete, node.Manageable, []edit{deleted}},

	{hostapi.StateMatchProfile, OlderDocument, node.Manageable, nil},
	{hostapi.StateMatchProfile, Delete, node.Manageable, []edit{deleted}},

	{hostapi.StateInspecting, Inspected, node.Manageable, nil},
	{hostapi.StateInspecting, NoInspection, node.Manageable,
		[]edit{spec(func(s *hostapi.HostSpec) { s.InspectionMode = hostapi.InspectionDisabled })}},
	{hostapi.StateInspecting, Delete, node.InspectWait, []edit{deleted}},

	{hostapi.StatePreparing, Prepared, node.Manageable, nil},
	{hostapi.StatePreparing, Delete, node.CleanWait, []edit{deleted}},

	{hostapi.StateAvailable, External, node.Manageable,
		[]edit{spec(func(s *hostapi.HostSpec) { s.ExternallyProvisioned = true })}},
	{hostapi.StateAvailable, InspectAsked, node.Manageable, []edit{annotate(hostapi.AnnotationInspect, "")}},
	{hostapi.StateReady, InspectAsked, node.Manageable, []edit{annotate(hostapi.AnnotationInspect, "")}},
	{hostapi.StateAvailable, SettingsDiffer, node.Manageable, []edit{spec(func(s *hostapi.HostSpec) {
		s.RAID = &hostapi.RAID{HardwareRAIDVolumes: []hostapi.HardwareRAIDVolume{{Level: "1"}}}
	})}},
	{hostapi.StateAvailable, ImageWanted, node.Manageable, []edit{imageIs("http://images/a.qcow2")}},
	{hostapi.StateAvailable, ImageWanted, node.Manageable,
		[]edit{spec(func(s *hostapi.HostSpec) { s.CustomDeploy = &hostapi.CustomDeploy{Method: "mine"} })}},
	{hostapi.StateAvailable, Delete, node.Manageable, []edit{deleted}},
	{hostapi.StateAvailable, Delete, node.Manageable, []edit{deleted, full, status(delayed)}},

	{hostapi.StateProvisioning, Provisioned, node.Active, nil},
	{hostapi.StateProvisioning, Failed, node.DeployFailed, []edit{failing(hostapi.ProvisioningError, 1, 3*time.Minute)}},
	{hostapi.StateProvisioning, Cancelled, node.DeployWait, []edit{imageIs("")}},
	{hostapi.StateProvisioning, Cancelled, node.DeployWait,
		[]edit{
			status(func(st *hostapi.HostStatus) { st.Provisioning.CustomDeploy = &hostapi.CustomDeploy{Method: "mine"} }),
		}},
	{hostapi.StateProvisioning, Delete, node.DeployWait, []edit{deleted}},

	{hostapi.StateProvisioned, Cancelled, node.Active, []edit{imageIs("http://images/b.qcow2")}},
	{hostapi.StateProvisioned, Cancelled, node.Active, []edit{imageIs("")}},
	{hostapi.StateProvisioned, Cancelled, node.Active,
		[]edit{imageIs(""), status(func(st *hostapi.HostStatus) { st.Provisioning.Image = nil })}},
	{hostapi.StateProvisioned, Delete, node.Active, []edit{deleted}},

	{hostapi.StateExternallyProvisioned, NotExternal, node.Active,
		[]edit{spec(func(s *hostapi.HostSpec) { s.ExternallyProvisioned = false })}},
	{hostapi.StateExternallyProvisioned, Delete, node.Active, []edit{deleted}},

	{hostapi.StateDeprovisioning, Deprovisioned, node.Available, nil},
	{hostapi.StateDeprovisioning, DeprovisionedForDelete, node.Available, []edit{deleted}},
	{hostapi.StateDeprovisioning, GaveUp, node.CleanFailed, []edit{deleted, failing(hostapi.ProvisioningError, 4, 0)}},
	{hostapi.StateDeprovisioning, GaveUp, node.AdoptFailed,
		[]edit{deleted, failing(hostapi.ProvisionedRegistrationError, 4, 0)}},
	{hostapi.StateDeprovisioning, GaveUp, node.Error, []edit{deleted, failing(hostapi.PowerManagementError, 4, 0)}},
	{hostapi.StateDeprovisioning, Unreachable, node.Active,
		[]edit{deleted, failing(hostapi.RegistrationError, 4, time.Minute)}},
	{hostapi.StateDeprovisioning, Forgotten, node.Active, []edit{deleted, noNode, noSecret}},

	{hostapi.StatePoweringOffBeforeDelete, PoweredOff, node.Manageable,
		[]edit{deleted, nodeIs(func(n *node.Node) { n.PowerState = node.PowerOff })}},
	{hostapi.StatePoweringOffBeforeDelete, PoweredOff, node.Manageable,
		[]edit{deleted, spec(func(s *hostapi.HostSpec) { s.DisablePowerOff = true }),
			nodeIs(func(n *node.Node) { n.DisablePowerOff = true })}},
	{hostapi.StatePoweringOffBeforeDelete, GaveUp, node.Manageable,
		[]edit{deleted, lastError(silence), failing(hostapi.PowerManagementError, 4, 0)}},
	{hostapi.StatePoweringOffBeforeDelete, Unreachable, node.Manageable,
		[]edit{deleted, failing(hostapi.RegistrationError, 4, time.Minute)}},
	{hostapi.StatePoweringOffBeforeDelete, Forgotten, node.Manageable, []edit{deleted, noNode, noSecret}},

	{hostapi.StateProvisioned, DeleteDetached, "", []edit{deleted, noNode, annotate(hostapi.AnnotationDetached, "")}},
	{hostapi.StateInspecting, DeleteDetached, node.InspectWait,
		[]edit{deleted, annotate(hostapi.AnnotationDetached, `{"deleteAction":"delete"}`)}},
	{hostapi.StateAvailable, DeleteDetached, "",
		[]edit{deleted, noNode, status(func(st *hostapi.HostStatus) { st.OperationalStatus = hostapi.StatusDetached })}},
}

// TestEveryRow takes a host along every row, and misses none.
func TestEveryRow(t *testing.T) {
	tested := map[*Transition]bool{}
	for _, c := range rowCases {
		to, err := Next(c.from, c.on)
		if err != nil {
			t.Fatal(err)
		}
		tested[row(c.from, c.on)] = true
		t.Run(string(c.from)+": "+string(c.on), func(t *testing.T) {
			d := made(t, newFacts(c.from, c.is, c.with...))
			if got := d.Host.Status.Provisioning.State; got != to {
				t.Errorf("host is %q, want %q; error %q, action %#v", got, to, d.Host.Status.ErrorMessage, d.Action)
			}
			if d.Action != nil {
				t.Errorf("a change of state does %#v", d.Action)
			}
			if !d.RequeueAt.Equal(testNow) {
				t.Errorf("looked at again at %s, want at once", d.RequeueAt)
			}
		})
	}
	for i := range Table {
		if !tested[&Table[i]] {
			t.Errorf("no case for the row %q, %q", Table[i].From, Table[i].On)
		}
	}
}

func TestTableIsSound(t *testing.T) {
	initial := []hostapi.State{hostapi.StateNone, hostapi.StateMatchProfile}
	final := []hostapi.State{hostapi.StateDeleting}
	for _, fault := range machine.Check(slices.Collect(maps.Keys(handlers)), initial, final) {
		t.Error(fault)
	}
	for s := range handlers {
		if _, ok := conditionsByState[s]; !ok {
			t.Errorf("%q has no conditions", s)
		}
	}
	if _, err := Next(hostapi.StateAvailable, Inspected); err == nil {
		t.Error("a row that is not there was taken")
	}
}

const (
	diagramBegin = "<!-- the table of conductor/extras/hosts/host, rendered; go test ./conductor/extras/hosts/host -update -->\n```mermaid\n"
	diagramEnd   = "```\n<!-- end of the table of hosts -->"
)

func TestDiagramIsCurrent(t *testing.T) {
	const file = "../../../../docs/design/state-machines.md"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), diagramBegin)
	have, after, ok2 := strings.Cut(rest, diagramEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no diagram between %q and %q", file, diagramBegin, diagramEnd)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+diagramBegin+Mermaid()+diagramEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != Mermaid() {
		t.Errorf("the diagram in %s is stale; run go test ./conductor/extras/hosts/host -update", file)
	}
}
