package bootpolicy_test

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ferrite-metal/ferrite/conductor/boot/bootpolicy"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/pxe"
)

const mac = "52:54:00:00:00:01"

// policy is one over a store that has a single node with one port.
func policy(t *testing.T, n node.Node, p node.Port) *bootpolicy.Policy {
	t.Helper()
	s := mem.New()
	n.UUID, n.Driver, n.CreatedAt = "11111111-2222-4333-8444-555555555555", "redfish", time.Unix(0, 0)
	if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
		t.Fatal(err)
	}
	n, err := s.Node(t.Context(), n.UUID)
	if err != nil {
		t.Fatal(err)
	}
	p.UUID, p.NodeUUID, p.Address = "21111111-2222-4333-8444-555555555555", n.UUID, mac
	if _, err := s.Commit(t.Context(), node.Change{Save: &n, AddPorts: []node.Port{p}}); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	return &bootpolicy.Policy{
		Engine: engine.New(engine.Config{Store: s, Log: log}), Log: log,
		Kernel: "/images/vmlinuz", Initrd: "/images/initrd", APIURL: "http://10.0.0.1:6385", Append: "quiet",
		ByArch: map[string]bootpolicy.Files{"aarch64": {Kernel: "/images/arm/vmlinuz", Initrd: "/images/arm/initrd"}},
	}
}

func booting(activity, wait string) node.Node {
	iface, name, _ := strings.Cut(wait, ".")
	return node.Node{
		ProvisionState: node.Cleaning,
		Run: &node.Run{
			Activity: activity, Steps: []node.Step{{Interface: "power", Step: "power_on"}, {Interface: iface, Step: name}},
		},
	}
}

// namedImages finds every image.
type namedImages struct{}

func (namedImages) ISOURL(_ context.Context, _ node.Node, source string) (string, error) {
	return "http://here/" + source + ".iso", nil
}

func (namedImages) BootFile(_ context.Context, n node.Node, source string) (string, error) {
	return filepath.Join("/here", n.Lessee, source), nil
}

func TestBoot(t *testing.T) {
	rest := node.Node{ProvisionState: node.Active}
	wrote := booting("deploy", "agent.wait_for_heartbeat")
	wrote.Run.Index = 2
	byName := booting("clean", "agent.wait_for_heartbeat")
	byName.Lessee = "red" // the lessee's images do not count
	byName.DriverInfo = map[string]any{"deploy_kernel": "image:vmlinuz", "deploy_ramdisk": "http://h/r"}
	own := booting("clean", "agent.wait_for_heartbeat")
	own.DriverInfo = map[string]any{"deploy_kernel": "http://h/k", "deploy_ramdisk": "http://h/r",
		"kernel_append_params": "%default% debug"}
	instance := booting("deploy", "agent.wait_for_heartbeat")
	instance.DriverInfo = own.DriverInfo
	instance.InstanceInfo = map[string]any{"kernel_append_params": "first %default%"}
	cleaned := own
	cleaned.InstanceInfo = instance.InstanceInfo
	arm := booting("clean", "agent.wait_for_heartbeat")
	arm.Properties = map[string]any{"cpu_arch": "aarch64"}
	silent := own
	silent.DriverInfo = map[string]any{"kernel_append_params": ""}
	live := func(info map[string]any) node.Node {
		return node.Node{ProvisionState: node.Active, Interfaces: map[string]string{"deploy": "ramdisk"}, InstanceInfo: info}
	}
	rescued := booting("rescue", "agent.wait_for_heartbeat")
	rescued.DriverInfo = map[string]any{"rescue_kernel": "http://h/rk", "rescue_ramdisk": "http://h/rr",
		"deploy_kernel": "http://h/k", "deploy_ramdisk": "http://h/r"}
	for name, tc := range map[string]struct {
		n    node.Node
		mac  string
		pxe  bool
		want pxe.Boot
	}{
		"a stranger is ignored":              {rest, "52:54:00:ff:ff:ff", true, pxe.Boot{Why: pxe.ReasonUnknown}},
		"a node at rest gets an address":     {rest, mac, true, pxe.Boot{Action: pxe.Address, Why: pxe.ReasonNotToBoot}},
		"the last boot of a deploy, to disk": {wrote, mac, true, pxe.Boot{Action: pxe.Address, Why: pxe.ReasonNotToBoot}},
		"a port that is not for booting": {booting("clean", "agent.wait_for_heartbeat"), mac, false,
			pxe.Boot{Action: pxe.Address, Why: pxe.ReasonOtherPort}},
		"cleaning boots the ramdisk": {booting("clean", "agent.wait_for_heartbeat"), mac, true, pxe.Boot{
			Action: pxe.Ramdisk, Kernel: "/images/vmlinuz", Initrd: "/images/initrd",
			Cmdline: "ipa-api-url=http://10.0.0.1:6385 BOOTIF=52:54:00:00:00:01 panic=10 quiet",
		}},
		"inspection says where to send the data": {booting("inspect", "inspect.wait_for_data"), mac, true, pxe.Boot{
			Action: pxe.Ramdisk, Kernel: "/images/vmlinuz", Initrd: "/images/initrd",
			Cmdline: "ipa-api-url=http://10.0.0.1:6385 BOOTIF=52:54:00:00:00:01 " +
				"ipa-inspection-callback-url=http://10.0.0.1:6385/v1/continue_inspection " +
				"ipa-inspection-collectors=default,pci-devices panic=10 quiet",
		}},
		"a node with a ramdisk of its own": {own, mac, true, pxe.Boot{
			Action: pxe.Ramdisk, Kernel: "http://h/k", Initrd: "http://h/r",
			Cmdline: "ipa-api-url=http://10.0.0.1:6385 BOOTIF=52:54:00:00:00:01 panic=10 quiet debug",
		}},
		"an instance's kernel parameters come before the node's": {instance, mac, true, pxe.Boot{
			Action: pxe.Ramdisk, Kernel: "http://h/k", Initrd: "http://h/r",
			Cmdline: "ipa-api-url=http://10.0.0.1:6385 BOOTIF=52:54:00:00:00:01 panic=10 first quiet",
		}},
		"but not when the machine is cleaned": {cleaned, mac, true, pxe.Boot{
			Action: pxe.Ramdisk, Kernel: "http://h/k", Initrd: "http://h/r",
			Cmdline: "ipa-api-url=http://10.0.0.1:6385 BOOTIF=52:54:00:00:00:01 panic=10 quiet debug",
		}},
		"no kernel parameters instead of the conductor's": {silent, mac, true, pxe.Boot{
			Action: pxe.Ramdisk, Kernel: "/images/vmlinuz", Initrd: "/images/initrd",
			Cmdline: "ipa-api-url=http://10.0.0.1:6385 BOOTIF=52:54:00:00:00:01 panic=10",
		}},
		"a workload has its instance's kernel parameters": {live(map[string]any{"kernel": "http://h/k",
			"ramdisk": "http://h/r", "ramdisk_kernel_arguments": "root=x", "kernel_append_params": "%default% a"}), mac, true,
			pxe.Boot{
				Action: pxe.Ramdisk, Kernel: "http://h/k", Initrd: "http://h/r", Cmdline: "quiet a root=x",
			}},
		"a ramdisk for the architecture of the machine": {arm, mac, true, pxe.Boot{
			Action: pxe.Ramdisk, Kernel: "/images/arm/vmlinuz", Initrd: "/images/arm/initrd",
			Cmdline: "ipa-api-url=http://10.0.0.1:6385 BOOTIF=52:54:00:00:00:01 panic=10 quiet",
		}},
		"a node with a ramdisk of its own by name": {byName, mac, true, pxe.Boot{
			Action: pxe.Ramdisk, Kernel: "/here/image:vmlinuz", Initrd: "http://h/r",
			Cmdline: "ipa-api-url=http://10.0.0.1:6385 BOOTIF=52:54:00:00:00:01 panic=10 quiet",
		}},
		"an instance that is an ISO": {live(map[string]any{"boot_iso": "http://h/live.iso"}), mac, true, pxe.Boot{
			Action: pxe.Image, ImageURL: "http://h/live.iso",
		}},
		"an instance that is a ramdisk": {live(map[string]any{"kernel": "http://h/k", "ramdisk": "http://h/r",
			"ramdisk_kernel_arguments": "quiet"}), mac, true, pxe.Boot{
			Action: pxe.Ramdisk, Kernel: "http://h/k", Initrd: "http://h/r", Cmdline: "quiet",
		}},
		"an ISO by name": {live(map[string]any{"boot_iso": "image:live"}), mac, true, pxe.Boot{
			Action: pxe.Image, ImageURL: "http://here/image:live.iso",
		}},
		"a kernel by name": {live(map[string]any{"kernel": "image:vmlinuz", "ramdisk": "http://h/r"}), mac, true, pxe.Boot{
			Action: pxe.Ramdisk, Kernel: "/here/image:vmlinuz", Initrd: "http://h/r",
		}},
		"an instance that names a file of ours": {live(map[string]any{"kernel": "/etc/shadow", "ramdisk": "http://h/r"}), mac,
			true, pxe.Boot{Action: pxe.Address, Why: pxe.ReasonNotToBoot}},
		"a rescue with a ramdisk of its own": {rescued, mac, true, pxe.Boot{
			Action: pxe.Ramdisk, Kernel: "http://h/rk", Initrd: "http://h/rr",
			Cmdline: "ipa-api-url=http://10.0.0.1:6385 BOOTIF=52:54:00:00:00:01 panic=10 quiet",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			hw, err := net.ParseMAC(tc.mac)
			if err != nil {
				t.Fatal(err)
			}
			p := policy(t, tc.n, node.Port{PXEEnabled: tc.pxe})
			p.Images = namedImages{}
			got, err := p.Boot(t.Context(), pxe.Client{MAC: hw, Files: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("boot (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUndecidedIsStranger: anybody can have a node discovered, with ports of any name.
func TestUndecidedIsStranger(t *testing.T) {
	hw, _ := net.ParseMAC(mac)
	for name, tc := range map[string]struct {
		n    node.Node
		want bool
	}{
		"discovered": {
			node.Node{ProvisionState: node.Enroll, DriverInternalInfo: map[string]any{"discovered_at": "2026-01-02T03:04:05Z"}},
			true,
		},
		"discovered, taken on": {
			node.Node{ProvisionState: node.Manageable,
				DriverInternalInfo: map[string]any{"discovered_at": "2026-01-02T03:04:05Z"}}, false,
		},
		"enrolled by an operator": {node.Node{ProvisionState: node.Enroll}, false},
	} {
		got, err := policy(t, tc.n, node.Port{PXEEnabled: true}).Boot(t.Context(), pxe.Client{MAC: hw})
		if err != nil || got.Stranger != tc.want {
			t.Errorf("%s: a stranger: %t, %v, want %t", name, got.Stranger, err, tc.want)
		}
	}
}

// TestStranger: a machine that is not enrolled is inspected if discovery is on. Its agent gets only the URL for
// inspection data.
func TestStranger(t *testing.T) {
	hw, _ := net.ParseMAC("52:54:00:ff:ff:ff")
	p := policy(t, node.Node{ProvisionState: node.Active}, node.Port{PXEEnabled: true})
	p.Engine.Discovery = engine.Discovery{Driver: "redfish", Limit: 1}
	p.Pins = func() []string { return []string{"aa"} }
	want := pxe.Boot{
		Action: pxe.Ramdisk, Kernel: "/images/vmlinuz", Initrd: "/images/initrd",
		Cmdline: "BOOTIF=52:54:00:ff:ff:ff ipa-inspection-callback-url=http://10.0.0.1:6385/v1/continue_inspection " +
			"ipa-inspection-collectors=default,pci-devices panic=10 ferrite-api-sha256=aa quiet",
		Stranger: true,
	}
	got, err := p.Boot(t.Context(), pxe.Client{MAC: hw, Script: true})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, boot (-want +got):\n%s", err, diff)
	}
	p.Kernel = ""
	if got, err := p.Boot(t.Context(), pxe.Client{MAC: hw}); err != nil || got.Action != pxe.Ignore ||
		got.Why != pxe.ReasonNoRamdisk {
		t.Errorf("without a ramdisk: %+v, %v", got, err)
	}
}

// TestPins: the ramdisk learns the API's present certificate.
func TestPins(t *testing.T) {
	p := policy(t, booting("clean", "agent.wait_for_heartbeat"), node.Port{PXEEnabled: true})
	hw, _ := net.ParseMAC(mac)
	for _, pins := range [][]string{{"aa"}, {"bb", "cc"}} {
		p.Pins = func() []string { return pins }
		got, err := p.Boot(t.Context(), pxe.Client{MAC: hw, Script: true})
		if want := " ferrite-api-sha256=" + strings.Join(pins, ",") + " "; err != nil ||
			!strings.Contains(got.Cmdline, want) {
			t.Errorf("command line %q (%v), want it to say%s", got.Cmdline, err, want)
		}
	}
}

// TestOwnFiles: a node's own ramdisk may be a file of a folder that is open to nodes. An editor of a node cannot have
// any other file served.
func TestOwnFiles(t *testing.T) {
	dir := t.TempDir()
	open, secret := filepath.Join(dir, "open"), filepath.Join(dir, "open-not", "ferrite.db")
	for _, file := range []string{filepath.Join(open, "sub", "k"), filepath.Join(open, "r"), secret} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(open, "link")); err != nil {
		t.Fatal(err)
	}
	hw, _ := net.ParseMAC(mac)
	for named, served := range map[string]bool{
		open + "/sub/k": true, "file://" + open + "/sub/k": true, open + "/sub/../sub/k": true,
		secret: false, "file://" + secret: false, open + "/../open-not/ferrite.db": false, open + "/link": false,
		open + "/none": false, "open/sub/k": false, "ftp://h/k": false,
	} {
		n := booting("clean", "agent.wait_for_heartbeat")
		n.DriverInfo = map[string]any{"deploy_kernel": named, "deploy_ramdisk": open + "/r"}
		p := policy(t, n, node.Port{PXEEnabled: true})
		if got, err := p.Boot(t.Context(), pxe.Client{MAC: hw}); err == nil {
			t.Errorf("with no folder open, %s is served as %s", named, got.Kernel)
		}
		p.Local = []string{filepath.Join(dir, "missing"), open}
		got, err := p.Boot(t.Context(), pxe.Client{MAC: hw})
		switch {
		case served && (err != nil || got.Kernel != open+"/sub/k" || got.Initrd != open+"/r"):
			t.Errorf("%s: served %s and %s: %v", named, got.Kernel, got.Initrd, err)
		case !served && (err == nil || !strings.Contains(err.Error(), "driver_info/deploy_kernel")):
			t.Errorf("%s: served %s: %v", named, got.Kernel, err)
		}
	}
}

// TestNoPasswordInAScript: a ramdisk is not put into a script if its URL holds a password, because a script goes over
// the machine's network in the clear.
func TestNoPasswordInAScript(t *testing.T) {
	hw, _ := net.ParseMAC(mac)
	n := booting("clean", "agent.wait_for_heartbeat")
	n.DriverInfo = map[string]any{"deploy_kernel": "http://u:secret@h/k", "deploy_ramdisk": "http://h/r"}
	got, err := policy(t, n, node.Port{PXEEnabled: true}).Boot(t.Context(), pxe.Client{MAC: hw})
	if err == nil || !strings.Contains(err.Error(), "driver_info/deploy_kernel") ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("served %q, %v", got.Kernel, err)
	}
}

// TestWord: the boot script alone holds the one-time token, the same at every try. It is the token of
// ironic-python-agent, and in the URL for its inspection data. No other answer contains it, and only its hash is kept.
func TestWord(t *testing.T) {
	hw, _ := net.ParseMAC(mac)
	p := policy(t, booting("inspect", "inspect.wait_for_data"), node.Port{PXEEnabled: true})
	p.Engine.RamdiskAuth = engine.RamdiskAuth{Words: true, Key: []byte("k")}
	plain, err := p.Boot(t.Context(), pxe.Client{MAC: hw})
	if err != nil || strings.Contains(plain.Cmdline, "ipa-agent-token") {
		t.Fatalf("DHCP is told %q, %v", plain.Cmdline, err)
	}
	script, err := p.Boot(t.Context(), pxe.Client{MAC: hw, Script: true})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(script.Cmdline, "ipa-agent-token=")
	word, _, _ := strings.Cut(rest, " ")
	if len(word) < 32 || !strings.Contains(script.Cmdline, "/v1/continue_inspection?boot_word="+word+" ") {
		t.Errorf("command line %q", script.Cmdline)
	}
	if again, err := p.Boot(t.Context(), pxe.Client{MAC: hw, Script: true}); err != nil || again != script {
		t.Errorf("a retry gets %q, %v", again.Cmdline, err)
	}
	n, _, err := p.Engine.NodeByMAC(t.Context(), mac)
	if err != nil || !n.Agent.IsWord(word) || n.Agent.WordHash == word || n.Agent.WordSalt == word {
		t.Errorf("kept is %+v, %v", n.Agent, err)
	}
}

// TestScriptAfterTheWord: a machine that has proven itself, and asks for its script once
// more, is handed back to its firmware; its run has ended. A fetched kernel says nothing.
func TestScriptAfterTheWord(t *testing.T) {
	hw, _ := net.ParseMAC(mac)
	n := booting("clean", "agent.wait_for_heartbeat")
	n.ProvisionState, n.Run.Index = node.CleanWait, 1
	n.Agent = node.Agent{Token: "t", TokenSent: true, WordHash: "h"}
	p := policy(t, n, node.Port{PXEEnabled: true})
	p.Engine.RamdiskAuth = engine.RamdiskAuth{Words: true, Leases: true}
	for _, tc := range []struct {
		script bool
		want   pxe.Action
	}{{false, pxe.Ramdisk}, {true, pxe.Address}} {
		if b, err := p.Boot(t.Context(),
			pxe.Client{MAC: hw, Script: tc.script, IP: netip.MustParseAddr("10.0.0.5")}); err != nil || b.Action != tc.want {
			t.Errorf("script %v: %+v, %v", tc.script, b, err)
		}
	}
	if n, _, err := p.Engine.NodeByMAC(t.Context(), mac); err != nil || n.ProvisionState != node.CleanFailed {
		t.Errorf("node is %q, %v", n.ProvisionState, err)
	}
}

// TestOtherPort: firmware that boots from a port not meant for it shows as a stage; an
// operating system that asks for an address there is not.
func TestOtherPort(t *testing.T) {
	hw, _ := net.ParseMAC(mac)
	for name, tc := range map[string]struct {
		firmware pxe.Firmware
		boots    bool
		want     string
	}{
		"firmware at another port":             {pxe.UEFI, false, "boot requested by another port"},
		"firmware at the right one":            {pxe.UEFI, true, "dhcp offer"},
		"an operating system at another port":  {pxe.System, false, "dhcp offer"},
		"iPXE at another port, as the NIC has": {pxe.IPXE, false, "boot requested by another port"},
	} {
		p := policy(t, booting("clean", "agent.wait_for_heartbeat"), node.Port{PXEEnabled: tc.boots})
		p.Reached(t.Context(), pxe.Client{MAC: hw, Firmware: tc.firmware}, pxe.StageOffer)
		s, err := p.Engine.Status(t.Context(), "11111111-2222-4333-8444-555555555555")
		if err != nil || len(s.BootStages) != 1 || s.BootStages[0].Name != tc.want {
			t.Errorf("%s: %+v, %v", name, s.BootStages, err)
		}
	}
}

func TestNoRamdisk(t *testing.T) {
	p := policy(t, booting("clean", "agent.wait_for_heartbeat"), node.Port{PXEEnabled: true})
	p.Kernel = ""
	hw, _ := net.ParseMAC(mac)
	if _, err := p.Boot(context.Background(), pxe.Client{MAC: hw}); err == nil ||
		!strings.Contains(err.Error(), "--ramdisk") {
		t.Errorf("without a ramdisk: %v", err)
	}
}

func TestLeases(t *testing.T) {
	p := policy(t, node.Node{ProvisionState: node.Active}, node.Port{})
	hw, _ := net.ParseMAC(mac)
	want := pxe.Lease{MAC: hw, IP: netip.MustParseAddr("10.0.0.5"), Static: true}
	if err := p.SaveLease(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got, err := p.Leases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pxe.Lease{want}, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("leases (-want +got):\n%s", diff)
	}
	lent := pxe.Lease{MAC: net.HardwareAddr{0x52, 0x54, 0, 0, 0, 9}, IP: netip.MustParseAddr("10.0.0.9"),
		Expires: time.Unix(1000, 0)}
	if err := p.SaveLease(t.Context(), lent); err != nil {
		t.Fatal(err)
	}
	for _, l := range []pxe.Lease{want, lent} { // the reservation stays
		if err := p.EndLease(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := p.Leases(t.Context()); err != nil || len(got) != 1 || !got[0].Static {
		t.Errorf("after the end of a lease: %v, %v", got, err)
	}
}

// TestSpoiledLeases: rows that are no leases keep no machine from its address.
func TestSpoiledLeases(t *testing.T) {
	p := policy(t, node.Node{ProvisionState: node.Active}, node.Port{})
	for ip, mac := range map[string]string{"10.0.0.5": mac, "10.0.0.6": "52:54", "10.0.0.7": "52:54:00:00:00:01:02:03",
		"fd00::1": "52:54:00:00:00:03", "10.0.0": "52:54:00:00:00:02", "": ""} {
		if err := p.Engine.SaveLease(t.Context(), node.Lease{MAC: mac, IP: ip}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := p.Leases(t.Context())
	if err != nil || len(got) != 1 || got[0].MAC.String() != mac {
		t.Errorf("%v, %v, want the one of %s alone", got, err, mac)
	}
}
