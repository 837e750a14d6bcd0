package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/logbook"
	"github.com/ferrite-metal/ferrite/agent/param"
	"github.com/ferrite-metal/ferrite/agent/steps"
)

// wired is a machine with interfaces that receive their switch's LLDPDUs.
type wired struct{ machine }

func (*wired) Frames(string, uint16, []net.HardwareAddr) (io.ReadCloser, error) {
	const frame = "\x01\x80\xc2\x00\x00\x0e\x02\x00\x00\x00\x00\x01\x88\xcc" + "\x02\x07\x04\x02\x00\x00\x00\x00\x01" +
		"\x04\x03\x05e1" + "\x06\x02\x00\x78"
	return io.NopCloser(bytes.NewReader([]byte(frame))), nil
}

// TestCollectors: the kernel line selects the collected data.
func TestCollectors(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s + "\n")} }
	root := fstest.MapFS{
		"sys/class/net/eth0/address": text(nodeMAC), "sys/class/net/eth0/type": text("1"),
		"sys/class/net/eth0/device/vendor": text("0x1af4"),
		"sys/class/net/eth0/carrier":       text("1"), "sys/class/net/eth1/address": text("52:54:00:77:00:07"),
		"sys/class/net/eth1/type":          text("1"),
		"sys/class/net/eth1/device/vendor": text("0x1af4"), "sys/block/vda/size": text("262144"),
		"sys/block/vda/device": link("../../devices/virtio0"), "sys/devices/virtio0/subsystem": link("../../bus/virtio"),
		"sys/devices/system/node/node0/meminfo":   text("Node 0 MemTotal: 481284 kB"),
		"sys/bus/pci/devices/0000:00:01.0/vendor": text("0x1af4"),
		"sys/bus/usb/devices/1-1/idVendor":        text("1234"),
		"sys/firmware/dmi/tables/DMI":             {Data: []byte{0, 4, 0, 0, 0, 0}},
	}
	settled := make(chan struct{})
	close(settled)
	for line, want := range map[string][]string{
		"": {"logs"},
		"ipa-inspection-collectors=default,pci-devices":               {"pci_devices"},
		"ipa-inspection-collectors=default,lldp,something-new":        {"lldp_raw"},
		"ipa-inspection-collectors=default ipa-collect-lldp=1":        {"lldp_raw"},
		"ipa-inspection-collectors=numa-topology,dmi-decode":          {"dmi", "numa_topology"},
		"ipa-inspection-collectors=default,usb-devices,numa-topology": {"numa_topology", "usb_devices"},
	} {
		p, problems, err := param.Parse(line)
		if err != nil || problems != nil {
			t.Fatal(err, problems)
		}
		book := &logbook.Book{}
		a := New(Options{
			Params: p, Kernel: &wired{}, Settled: settled, Root: root, Book: book, Stream: &logbook.Stream{},
			Log:  book.Logger(true, func() time.Duration { return 0 }),
			Open: func(context.Context, string) (steps.Device, error) { return nil, fs.ErrNotExist },
		})
		raw, err := json.Marshal(a.inspection(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		var sent map[string]any
		if err := json.Unmarshal(raw, &sent); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"inventory", "configuration", "error", "root_disk", "ferrite_erase_plan"} {
			if _, there := sent[key]; !there {
				t.Errorf("%s: no %s", line, key)
			}
			delete(sent, key)
		}
		var got []string
		for key := range sent {
			got = append(got, key)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
		if bytes.Contains(book.Tail(), []byte("not built into this agent")) != bytes.Contains([]byte(line), []byte("new")) {
			t.Errorf("%s: the log is %s", line, book.Tail())
		}
		if slices.Contains(want, "lldp_raw") &&
			!bytes.Contains(raw, []byte(`"lldp":[[1,"04020000000001"],[2,"056531"],[3,"0078"]]`)) {
			t.Errorf("%s: nothing from the switch in %s", line, raw)
		}
	}
}
