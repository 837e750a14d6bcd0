package inventory

import (
	"testing"
	"testing/fstest"
)

// TestByPath checks the names of udev's path_id for disks, where no machine of QEMU has such a controller.
func TestByPath(t *testing.T) {
	const pci = "../devices/pci0000:00/0000:00:03.0/"
	for _, tc := range []struct{ link, files, tran, want string }{
		{pci + "host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0/block/sda",
			`sys/class/sas_port/port-0:0/num_phys = "1\n"` + "\n" + `sys/class/sas_device/end_device-0:0/phy_identifier = "4\n"`,
			"sas", "pci-0000:00:03.0-sas-phy4-lun-0"},
		{pci + "host0/port-0:0/expander-0:0/port-0:0:7/end_device-0:0:7/target0:0:7/0:0:7:0/block/sda",
			`sys/class/sas_port/port-0:0:7/num_phys = "1\n"` + "\n" +
				`sys/class/sas_device/end_device-0:0:7/phy_identifier = "11\n"` + "\n" +
				`sys/class/sas_device/expander-0:0/sas_address = "0x500304801f0a12ff\n"`,
			"sas", "pci-0000:00:03.0-sas-exp0x500304801f0a12ff-phy11-lun-0"},
		{pci + "host0/port-0:1/end_device-0:1/target0:0:1/0:0:1:0/block/sda",
			`sys/class/sas_port/port-0:1/num_phys = "4\n"` + "\n" +
				`sys/class/sas_device/end_device-0:1/sas_address = "0x5000c500a1b2c3d5\n"`,
			"sas", "pci-0000:00:03.0-sas-0x5000c500a1b2c3d5-lun-0"},
		{pci + "host1/rport-1:0-2/target1:0:2/1:0:2:3/block/sda",
			`sys/class/fc_transport/target1:0:2/port_name = "0x500a09818d5c2f31\n"`, "fc",
			"pci-0000:00:03.0-fc-0x500a09818d5c2f31-lun-3"},
		{pci + "host1/rport-1:0-2/target1:0:2/1:0:2:16640/block/sda",
			`sys/class/fc_transport/target1:0:2/port_name = "0x500a09818d5c2f31\n"`, "fc",
			"pci-0000:00:03.0-fc-0x500a09818d5c2f31-lun-0x4100000000000000"},
		{"../devices/platform/host5/session2/target5:0:0/5:0:0:1/block/sda",
			`sys/class/iscsi_session/session2/targetname = "iqn.2001-04.org.example:t\n"` + "\n" +
				`sys/class/iscsi_connection/connection2:0/persistent_address = "10.0.0.1\n"` + "\n" +
				`sys/class/iscsi_connection/connection2:0/persistent_port = "3260\n"`,
			"iscsi", "ip-10.0.0.1:3260-iscsi-iqn.2001-04.org.example:t-lun-1"},
		{pci + "ata5/host4/target4:2:0/4:2:0:0/block/sda", // behind a port multiplier
			"sys/devices/pci0000:00/0000:00:03.0/ata5/ata_port/ata5/port_no" + ` = "3\n"`, "sata", "pci-0000:00:03.0-ata-3.2.0"},
		{"../devices/platform/virtio-mmio.0/virtio0/block/vda", "", "virtio", "platform-virtio-mmio.0"},
		{"../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "", "nvme", ""},
		{pci + "mmc_host/mmc0/mmc0:0001/block/mmcblk0", "", "mmc", ""},
		{pci + "host1/rport-1:0-2/target1:0:2/1:0:2:3/block/sda", "", "fc", ""}, // says nothing of its port
	} {
		tree := fstest.MapFS{}
		if tc.files != "" {
			fill(t, tree, tc.files+"\n")
		}
		if got := transport(tree, tc.link); got != tc.tran {
			t.Errorf("%s: transport %q, want %q", tc.link, got, tc.tran)
		}
		got := byPath(tree, tc.link)
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.link, got, tc.want)
		}
	}
}
