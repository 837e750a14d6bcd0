package host

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// twoDisks is the result of an inspection of a machine with two disks.
func twoDisks(t *testing.T) *hostapi.Hardware {
	t.Helper()
	text, err := json.Marshal(agentapi.Inventory{Disks: []agentapi.Disk{
		{Name: "/dev/sda", ByPath: "/dev/disk/by-path/pci-0000:00:1f.2-ata-1", Model: "Old", Serial: "S1", Size: 100 << 30,
			Rotational: true},
		{Name: "/dev/nvme0n1", Model: "New", Serial: "S2", Size: 500 << 30},
	}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := translate.Hardware(&node.Inspected{Inventory: text})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestNoRootDisk: an available host reports, in one event, that an image would find no disk; nothing else changes.
func TestNoRootDisk(t *testing.T) {
	hints := func(h hostapi.RootDeviceHints) edit {
		return spec(func(s *hostapi.HostSpec) { s.RootDeviceHints = &h })
	}
	without := func(path string) edit {
		return status(func(st *hostapi.HostStatus) {
			st.Hardware.Storage = st.Hardware.Storage[1:]
			st.HardwareProfile = path
		})
	}
	for name, tc := range map[string]struct {
		state hostapi.State
		with  []edit
		want  string // that it begins with; "" for nothing
	}{
		"the default": {with: nil},
		"by name":     {with: []edit{hints(hostapi.RootDeviceHints{DeviceName: "/dev/nvme0n1"})}},
		"by path": {
			with: []edit{hints(hostapi.RootDeviceHints{DeviceName: "/dev/disk/by-path/pci-0000:00:1f.2-ata-1"})},
		},
		"by size": {with: []edit{hints(hostapi.RootDeviceHints{MinSizeGigabytes: 200})}},
		"no such serial": {with: []edit{hints(hostapi.RootDeviceHints{SerialNumber: "S3"})},
			want: "spec.rootDeviceHints: no suitable disk: none matches root_device "},
		"too large": {with: []edit{hints(hostapi.RootDeviceHints{MinSizeGigabytes: 501})},
			want: "spec.rootDeviceHints: no suitable disk"},
		"kept": {
			with: []edit{nodeIs(func(n *node.Node) {
				n.Properties["skip_block_devices"] = []any{map[string]any{"serial": "S1"}}
			})}, want: `without spec.rootDeviceHints, of hardware profile "unknown": no suitable disk`,
		},
		"no such default": {
			with: []edit{without(translate.UnknownProfile)},
			want: `without spec.rootDeviceHints, of hardware profile "unknown": no suitable disk: none matches root_device `,
		},
		"any": {with: []edit{without("empty")}},
		"nobody knows": {
			with: []edit{
				hints(hostapi.RootDeviceHints{SerialNumber: "S3"}),
				status(func(st *hostapi.HostStatus) { st.Hardware.Storage = nil }),
			},
		},
		"a live image": {
			with: []edit{hints(hostapi.RootDeviceHints{SerialNumber: "S3"}), offline, imageIs("http://images/a.iso"),
				spec(func(s *hostapi.HostSpec) { live := hostapi.LiveISO; s.Image.Format = &live })},
		},
		"volumes": {with: []edit{hints(hostapi.RootDeviceHints{SerialNumber: "S3"}), spec(hardwareRAID)}},
		"at work": {
			state: hostapi.StateProvisioned, with: []edit{hints(hostapi.RootDeviceHints{SerialNumber: "S3"})},
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := status(func(st *hostapi.HostStatus) { st.Hardware = twoDisks(t) })
			facts := newFacts(hostapi.StateAvailable, node.Manageable, append([]edit{found}, tc.with...)...)
			if tc.state != "" {
				facts = newFacts(tc.state, node.Active, append([]edit{found}, tc.with...)...)
			}
			facts.Host.Status.Provisioning.RAID = facts.Host.Spec.RAID
			d := begin(facts)
			d.setConditions()
			got := d.condition(hostapi.ConditionAvailable)
			if !strings.HasPrefix(got.Message, tc.want) || tc.want == "" && got.Message != "" {
				t.Errorf("it says %q, want %q", got.Message, tc.want)
			}
			if tc.state == "" && (got.Status != hostapi.True || got.Reason != Available) {
				t.Errorf("it is %s %s", got.Status, got.Reason)
			}
			var told []string
			for _, e := range d.events() {
				told = append(told, e.Type+" "+e.Reason+" "+e.Message)
			}
			var want []string
			if tc.want != "" {
				want = []string{"Warning NoRootDevice " + got.Message}
			}
			if diff := cmp.Diff(want, told); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			facts.Host = d.h
			again := begin(facts)
			again.setConditions()
			if all := again.events(); len(all) > 0 {
				t.Errorf("it is reported again: %v", all)
			}
		})
	}
}
