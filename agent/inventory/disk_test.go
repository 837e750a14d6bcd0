package inventory

import (
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// blockDevice makes a tree with one block device, at its place among the kernel's devices. files are below the device;
// a value that begins with -> is a link.
func blockDevice(t *testing.T, name, device string, files map[string]string) fstest.MapFS {
	t.Helper()
	tree := fstest.MapFS{}
	own := "sys/devices/" + device + "/block/" + name
	lines := "sys/block/" + name + " -> ../" + strings.TrimPrefix(own, "sys/") + "\n" + own + "/size = \"100\\n\"\n"
	if device != "virtual" {
		lines += own + "/device -> ../../\n"
	}
	for file, content := range files {
		if to, link := strings.CutPrefix(content, "->"); link {
			lines += path.Join(own, file) + " -> " + to + "\n"
		} else {
			lines += path.Join(own, file) + " = " + strconv.Quote(content+"\n") + "\n"
		}
	}
	fill(t, tree, lines)
	return tree
}

// TestWhatIsADisk: the hardware beneath a block device decides, and not its name. Places and attributes are as in
// Linux 6.1.
func TestWhatIsADisk(t *testing.T) {
	const (
		pci  = "pci0000:00/0000:00:17.0"
		sata = pci + "/ata1/host0/target0:0:0/0:0:0:0"
		usb  = "pci0000:00/0000:00:14.0/usb1/1-3/1-3:1.0/host9/target9:0:0/9:0:0:0" // USB
		card = "platform/soc/mmc_host/mmc0/mmc0:0001"
		bus  = "../../subsystem"
		kind = "../../type"
		dimm = "LNXSYSTM:00/LNXSYBUS:00/ACPI0012:00/ndbus0/region0/namespace0.0"
	)
	on := func(subsystem string, more ...string) map[string]string {
		all := map[string]string{bus: "->/sys/" + subsystem}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	scsi := func(more ...string) map[string]string { return on("bus/scsi", append([]string{kind, "0"}, more...)...) }
	shown := func(vendor, model string) map[string]string {
		return scsi("../../vendor", vendor, "../../model", model)
	}
	floppy := on("bus/platform", "../../driver", "->/sys/bus/platform/drivers/floppy")
	for name, c := range map[string]struct {
		device string
		files  map[string]string
		want   string // the reason against it; "" for a disk
	}{
		"sda":        {sata, scsi(), ""},
		"brandnew0":  {sata, scsi(), ""},
		"zoned":      {sata, scsi(kind, "20"), ""},
		"worn":       {sata, scsi("ro", "1"), ""},
		"stick":      {usb, scsi("../../model", "Ultra", "removable", "1"), ""},
		"vda":        {pci + "/virtio1", on("bus/virtio"), ""},
		"nvme0n1":    {pci + "/nvme/nvme0", on("class/nvme"), ""},
		"nvme1n1":    {"virtual/nvme-subsystem/nvme-subsys1", on("class/nvme-subsystem"), ""},
		"mmcblk0":    {card, on("bus/mmc"), ""},
		"cciss!c0d0": {pci + "/cciss0/c0d0", on("bus/cciss"), ""},
		"rssda":      {pci, on("bus/pci"), ""},
		"xvda":       {"vbd-51712", on("bus/xen"), ""},
		"dasda":      {"css0/0.0.0001/0.0.0100", on("bus/ccw"), ""},
		"pmem0":      {dimm, on("bus/nd"), ""},

		"loop0":  {"virtual", nil, "not hardware"},
		"ram1":   {"virtual", nil, "not hardware"},
		"zram0":  {"virtual", nil, "not hardware"},
		"nbd3":   {"virtual", nil, "not hardware"},
		"zd0":    {"virtual", nil, "not hardware"},
		"ublkb0": {"virtual", nil, "not hardware"},
		"drbd1":  {"virtual", nil, "not hardware"},
		"sdfake": {"virtual", nil, "not hardware"},

		"bcache0": {"virtual", map[string]string{"slaves/sdb": "->../../../../sdb"}, "mapping onto other disks"},
		"dm-1":    {"virtual", map[string]string{"dm/name": "mpatha"}, "mapping onto other disks"},
		"md127":   {"virtual", map[string]string{"md/level": "raid1"}, "array of other disks"},

		"rbd0":      {"rbd/0", on("bus/rbd"), `no disk: it is on the bus "rbd"`},
		"mtdblock0": {pci + "/spi0/spi0.0/mtd/mtd0", on("class/mtd"), `no disk: it is on the bus "mtd"`},
		"fd0":       {"platform/floppy.0", floppy, `no disk: it is on the bus "platform", with the driver "floppy"`},
		"mmcblk0boot0": {card + "/block/mmcblk0", on("class/block", "device", "->../../../mmcblk0"),
			"special area of mmcblk0"},
		"nvme0c0n1": {pci + "/nvme/nvme4", on("class/nvme", "hidden", "1"), "path of a multipath disk"},

		"sr0":    {sata, scsi(kind, "5"), "optical drive"},
		"tape":   {sata, scsi(kind, "1"), `no disk: a SCSI device of type "1"`},
		"empty":  {sata, scsi("size", "0"), "no medium"},
		"locked": {sata, scsi("ro", "1", "removable", "1"), "read-only medium"},
		"sdm":    {sata, scsi("sdm1/holders/md127/md/level", "raid1"), "member of md127"},

		"ami":     {usb, shown("AMI", "Virtual HDISK0"), "virtual media"},
		"ilo":     {usb, shown("iLO", "LUN 00 Media 0"), "virtual media"},
		"aten":    {usb, shown("ATEN", "Floppy"), "virtual media"},
		"cimc":    {usb, shown("CISCO", "KVM-Mapped vHDD"), "virtual media"},
		"idrac":   {usb, shown("iDRAC", "LCDRIVE"), "virtual media"},
		"openbmc": {usb, scsi("../../../../../../product", "OpenBMC Mass Storage"), "virtual media"},
	} {
		t.Run(name, func(t *testing.T) {
			disks, skipped := Disks(blockDevice(t, name, c.device, c.files))
			got := "neither a disk nor left out"
			if len(disks) == 1 && len(skipped) == 0 && disks[0].Name == "/dev/"+strings.ReplaceAll(name, "!", "/") {
				got = ""
			} else if len(skipped) == 1 && len(disks) == 0 {
				got = skipped[0].Reason
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if name == "worn" && (len(disks) == 0 || !disks[0].ReadOnly) {
				t.Error("a disk that takes no writes does not say so")
			}
		})
	}
}
