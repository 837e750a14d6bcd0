package inventory

import (
	"encoding/json"
	"flag"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
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

// TestMachines compares the inventory of captured machines (testdata/<name>.tree, sysfs and proc as they were in QEMU,
// see capture_e2e_test.go) with testdata/<name>.json.
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
	if list, damage := structures(table); fittedMB(list) != 16384+65536+2 || damage != "" {
		t.Errorf("%d MB, %s", fittedMB(list), damage)
	}
}

// TestDamagedSMBIOS: tables before the damage are read, and the damage is named.
func TestDamagedSMBIOS(t *testing.T) {
	bios := "\x00\x06\x00\x00\x01\x02" + "Maker\x00V\xfc1\x00\x00"
	for name, c := range map[string]struct {
		table   string
		kinds   int
		version string
		damage  string
	}{
		"whole":              {bios + "\x7f\x04\x01\x00\x00\x00", 2, "V?1", ""},
		"no end":             {bios, 1, "V?1", ""},
		"zeros behind":       {bios + strings.Repeat("\x00", 30), 1, "V?1", ""},
		"cut in the texts":   {bios[:len(bios)-4], 1, "V", ""},
		"cut behind":         {bios + "\x11\x28\x02", 1, "V?1", "damaged at byte 17 of 20, after structure 1"},
		"cut in a structure": {bios + "\x11\x28\x02\x00\x01", 1, "V?1", "damaged at byte 17 of 22, after structure 1"},
		"a length below 4":   {bios + "\x11\x01\x02\x00" + bios, 1, "V?1", "damaged at byte 17 of 38, after structure 1"},
		"nothing":            {"", 0, "", ""},
	} {
		list, damage := structures([]byte(c.table))
		version := ""
		if len(list) > 0 {
			version = list[0].text(5)
		}
		if len(list) != c.kinds || version != c.version || damage != c.damage {
			t.Errorf("%s: %d structures, version %q, %q", name, len(list), version, damage)
		}
	}
}

// TestOddItems: no item of a list fails the list, and each is named with a reason.
func TestOddItems(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tree := fstest.MapFS{
		"sys/firmware/dmi/tables/DMI": text("\x00\x04\x00\x00\x00\x00\x04\x02"),
		"sys/block/mtdblock0/size":    text("8\n"), "sys/block/mtdblock0/device/subsystem/x": text(""),
		"sys/class/dmi/id/product_serial": text("To be filled by O.E.M.\n"),
		"sys/class/dmi/id/product_name":   text("R\xe4ck\n"),
	}
	for name, address := range map[string]string{"eth0": "52:54:00:00:00:01", "eth1": "00:00:00:00:00:00", "eth2": "",
		"eth3": "ff:ff:ff:ff:ff:ff", "eth4": "52:54:00:00:00:02"} {
		tree["sys/class/net/"+name+"/address"], tree["sys/class/net/"+name+"/type"] = text(address+"\n"), text("1\n")
		tree["sys/class/net/"+name+"/device/vendor"] = text("0x8086\n")
	}
	var log strings.Builder
	h := Host{FS: tree, IPMI: noBMC{}, Addresses: func(string) []netip.Addr { return nil },
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	found := agentapi.Inspection{Inventory: h.Collect(t.Context())}
	if err := found.Validate(); err != nil {
		t.Error(err)
	}
	if want := []string{"52:54:00:00:00:01", "52:54:00:00:00:02"}; !slices.Equal(found.Inventory.MACs(), want) ||
		!slices.Equal(MACs(tree), want) || len(found.Inventory.Interfaces) != 5 {
		t.Errorf("addresses %v, %v of %d interfaces", found.Inventory.MACs(), MACs(tree), len(found.Inventory.Interfaces))
	}
	if serial := found.Inventory.SystemVendor.SerialNumber; serial != "To be filled by O.E.M." {
		t.Errorf("serial number %q: Ironic shows it as it is", serial)
	}
	for _, named := range []string{"kind=disk name=/dev/mtdblock0", "kind=address name=eth1", "kind=address name=eth2",
		"kind=address name=eth3", "kind=SMBIOS", "damaged at byte 6 of 8"} {
		if !strings.Contains(log.String(), named) {
			t.Errorf("%q is not named in:\n%s", named, log.String())
		}
	}
}

// TestMemoryOfOddFirmware: flash is no memory, and firmware that lists too few modules does not lessen it.
func TestMemoryOfOddFirmware(t *testing.T) {
	array := func(handle, use byte) string {
		return "\x10\x0f" + string([]byte{handle}) + "\x00\x03" + string([]byte{use}) + strings.Repeat("\x00", 9) + "\x00\x00"
	}
	module := func(array byte, mb string) string {
		return "\x11\x15\x50\x00" + string([]byte{array}) + strings.Repeat("\x00", 7) + mb +
			strings.Repeat("\x00", 7) + "\x00\x00"
	}
	for name, c := range map[string]struct {
		table  string
		kernel string // KiB
		want   int64
	}{
		"flash beside memory": {array(1, 3) + array(2, 5) + module(1, "\x00\x04") + module(1, "\x00\x04") +
			module(2, "\x04\x00"),
			"2000000", 2048},
		"half of the modules": {array(1, 3) + module(1, "\x00\x04"), "4000000", 3906},
		"no modules":          {array(1, 3), "4000000", 3906},
		"no array":            {module(9, "\x00\x10"), "4000000", 4096},
	} {
		got := Memory(fstest.MapFS{"sys/firmware/dmi/tables/DMI": {Data: []byte(c.table)},
			"proc/meminfo": {Data: []byte("MemTotal: " + c.kernel + " kB\n")}})
		if got.PhysicalMB != c.want {
			t.Errorf("%s: %d MB, want %d", name, got.PhysicalMB, c.want)
		}
	}
}

func FuzzSMBIOS(f *testing.F) {
	for _, machine := range machines(f) {
		f.Add(captured(f, machine)["sys/firmware/dmi/tables/DMI"].Data)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		table, _ := structures(b)
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
type lanBMC struct{ v6, noMAC bool }

func (b lanBMC) IPMI(netfn, cmd byte, data []byte, _ time.Duration) ([]byte, error) {
	switch {
	case netfn == netfnApp && cmd == getChannelInfo && data[0] == 1:
		return []byte{1, mediumLAN, 1, 0x80}, nil
	case netfn == netfnTransport && cmd == getLANParams && data[1] == paramIP:
		return []byte{0x11, 10, 0, 0, 9}, nil
	case netfn == netfnTransport && cmd == getLANParams && data[1] == paramMAC && b.noMAC:
		return make([]byte, 7), nil
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
		{lanBMC{noMAC: true}, BMC{IPv4: "10.0.0.9", Channel: 1}},
		{lanBMC{v6: true}, BMC{IPv4: "10.0.0.9", IPv6: "2001:db8::9", MAC: "52:54:00:01:02:03", Channel: 1}},
	} {
		if got := FindBMC(t.Context(), tc.bmc, log); got != tc.want {
			t.Errorf("%+v", got)
		}
	}
}

// anyBMC answers every command with the same bytes.
type anyBMC []byte

func (b anyBMC) IPMI(byte, byte, []byte, time.Duration) ([]byte, error) { return b, nil }

func FuzzBMC(f *testing.F) {
	f.Add([]byte{1, mediumLAN, 1, 0x80})
	f.Add([]byte("\x11\x04\x00\x00\x09\x00\x00"))
	f.Add([]byte("\x11\x04\x01\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09\x40\x00"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if b := FindBMC(t.Context(), anyBMC(answer), slog.New(slog.DiscardHandler)); b.MAC == "00:00:00:00:00:00" {
			t.Error("zeros are taken for an address")
		}
	})
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

// FuzzSerial: a page of vital product data, which the disk wrote, is text without padding, or nothing.
func FuzzSerial(f *testing.F) {
	for _, seed := range []string{
		"\x00\x80\x00\x04WFK1", "\x00\x80\x00\x08  WFK1\x00\x00", "\x00\x80", "", "\x00\x80\xff\xffA",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		found := serial(fstest.MapFS{"sys/block/sda/device/vpd_pg80": &fstest.MapFile{Data: page}}, "sys/block/sda")
		if found != strings.TrimSpace(found) || len(found) > len(page) {
			t.Errorf("%q of %q", found, page)
		}
	})
}
