package inventory

import (
	"encoding/json"
	"flag"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

var update = flag.Bool("update", false, "write the golden files anew")

// noBMC is a machine without one.
type noBMC struct{}

func (noBMC) IPMI(byte, byte, []byte, time.Duration) ([]byte, error) { return nil, fs.ErrNotExist }

// TestMachines compares what is found on captured machines (testdata/<name>.tree,
// sysfs and proc as they were in QEMU, see capture_e2e_test.go) with
// testdata/<name>.json.
func TestMachines(t *testing.T) {
	for _, machine := range machines(t) {
		t.Run(machine, func(t *testing.T) {
			tree := captured(t, machine)
			h := Host{
				FS: tree, IPMI: noBMC{}, Machine: "x86_64", Hostname: "h", BootIF: "01-52-54-00-77-00-01",
				Log: slog.New(slog.DiscardHandler),
				Addresses: func(string) []netip.Addr {
					return []netip.Addr{netip.MustParseAddr("fe80::1"), netip.MustParseAddr("10.0.0.5"),
						netip.MustParseAddr("2001:db8::5")}
				},
			}
			inspection := agentapi.Inspection{
				Inventory: h.Collect(t.Context()), PCIDevices: PCIDevices(tree), NUMATopology: NUMATopology(tree), DMI: DMI(tree),
				USBDevices: USBDevices(tree),
			}
			if err := inspection.Validate(); err != nil {
				t.Error(err)
			}
			got, err := json.MarshalIndent(inspection, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", machine+".json")
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWWN(t *testing.T) {
	for id, want := range map[string][3]string{
		"":                     {},
		"t10.ATA QEMU":         {},
		"naa.5000c50015ea71ac": {"0x5000c50015ea71ac", "", "0x5000c50015ea71ac"},
		"naa.600508b1001c1a2b3c4d5e6f70819203": {"0x600508b1001c1a2b", "0x3c4d5e6f70819203",
			"0x600508b1001c1a2b3c4d5e6f70819203"},
		"eui.0025385b71b0a7d8": {"eui.0025385b71b0a7d8", "", "eui.0025385b71b0a7d8"},
	} {
		name, extension, whole := wwn(id)
		if got := [3]string{name, extension, whole}; got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}

func TestMemoryOfSMBIOS(t *testing.T) {
	module := func(size uint16, extended uint32) []byte {
		b := make([]byte, 0x28)
		b[0], b[1] = smbiosMemoryDevice, byte(len(b))
		b[0x0c], b[0x0d] = byte(size), byte(size>>8)
		for i := range 4 {
			b[0x1c+i] = byte(extended >> (8 * i))
		}
		return append(b, "DIMM 0\x00\x00"...)
	}
	var table []byte
	for _, m := range [][]byte{
		module(16384, 0), module(0, 0), module(0xffff, 0), module(0x7fff, 65536), module(0x8000|2048, 0),
		{1, 4, 0, 0, 0, 0}, // another structure without strings
	} {
		table = append(table, m...)
	}
	if got := fittedMB(structures(table)); got != 16384+65536+2 {
		t.Errorf("%d MB", got)
	}
}

func FuzzSMBIOS(f *testing.F) {
	for _, machine := range machines(f) {
		f.Add(captured(f, machine)["sys/firmware/dmi/tables/DMI"].Data)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		table := structures(b)
		if fittedMB(table) < 0 {
			t.Error("negative memory")
		}
		hostInterfaces(table)
		if _, err := json.Marshal(dmiOf(table)); err != nil {
			t.Error(err)
		}
	})
}

// lanBMC answers as a BMC with a LAN channel 1.
type lanBMC struct{ v6 bool }

func (b lanBMC) IPMI(netfn, cmd byte, data []byte, _ time.Duration) ([]byte, error) {
	switch {
	case netfn == netfnApp && cmd == getChannelInfo && data[0] == 1:
		return []byte{1, mediumLAN, 1, 0x80}, nil
	case netfn == netfnTransport && cmd == getLANParams && data[1] == paramIP:
		return []byte{0x11, 10, 0, 0, 9}, nil
	case netfn == netfnTransport && cmd == getLANParams && data[1] == paramMAC:
		return []byte{0x11, 0x52, 0x54, 0, 1, 2, 3}, nil
	case netfn == netfnTransport && cmd == getLANParams && data[1] == paramIPv6Dynamic && b.v6:
		a := netip.MustParseAddr("2001:db8::9").As16()
		return append(append([]byte{0x11, 0, 1}, a[:]...), 64, 0), nil
	}
	return nil, fs.ErrInvalid
}

func TestFindBMC(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for _, tc := range []struct {
		bmc  IPMI
		want BMC
	}{
		{noBMC{}, BMC{}},
		{lanBMC{}, BMC{IPv4: "10.0.0.9", MAC: "52:54:00:01:02:03", Channel: 1}},
		{lanBMC{v6: true}, BMC{IPv4: "10.0.0.9", IPv6: "2001:db8::9", MAC: "52:54:00:01:02:03", Channel: 1}},
	} {
		if got := FindBMC(t.Context(), tc.bmc, log); got != tc.want {
			t.Errorf("%+v", got)
		}
	}
}

func TestCPUOfARM(t *testing.T) {
	tree := fstest.MapFS{
		"proc/cpuinfo": {Data: []byte("processor\t: 0\nFeatures\t: fp asimd\n\nprocessor\t: 1\nFeatures\t: fp asimd\n")},
		"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": {Data: []byte("3000000\n")},
	}
	want := agentapi.CPU{Count: 2, Architecture: "aarch64", Flags: []string{"fp", "asimd"}, SocketCount: 1,
		Frequency: "3000.0000"}
	if diff := cmp.Diff(want, CPU(tree, "aarch64")); diff != "" {
		t.Error(diff)
	}
}

func TestMACs(t *testing.T) {
	got := strings.Join(MACs(captured(t, "q35-bios-many")), ",")
	if got != "52:54:00:77:00:02,52:54:00:77:00:01" {
		t.Error(got)
	}
}
