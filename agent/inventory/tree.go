package inventory

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// read has the paths that the collectors read, as patterns. A collector that reads a
// new path adds it here.
func read() []string {
	under := func(folder string, files ...string) []string {
		var list []string
		for _, f := range files {
			list = append(list, folder+"/"+f)
		}
		return list
	}
	return slices.Concat(
		under("proc", "cpuinfo", "meminfo"),
		under("sys/block/*", "size", "serial", "wwid", "nsid", "hidden", "ro", "removable", "md/level", "dm/name", "slaves/*",
			"device/subsystem", "device/driver", "device/type", "device/model", "device/vendor", "device/serial",
			"device/wwid", "device/vpd_pg80", "device/state", "device/access_state", "device/raid_level",
			"queue/rotational", "queue/logical_block_size", "queue/physical_block_size", "holders/*", "*/holders/*"),
		under("sys/bus/pci/devices/*", "vendor", "device", "class", "revision", "numa_node", "index", "acpi_index",
			"ari_enabled"),
		under("sys/bus/pci/slots/*", "address"),
		under("sys/bus/usb/devices/*", "idVendor", "idProduct", "manufacturer", "product", "serial", "bDeviceClass",
			"busnum", "devnum"),
		under("sys/class", "ata_port/*/port_no", "scsi_host/*/proc_name", "scsi_host/*/state", "nvme/*/state",
			"spi_host/*/signalling", "fc_transport/*/port_name",
			"sas_device/*/sas_address", "sas_device/*/phy_identifier", "sas_port/*/num_phys", "iscsi_session/*/targetname",
			"iscsi_connection/*/persistent_address", "iscsi_connection/*/persistent_port"),
		under("sys/class/dmi/id", "product_name", "product_serial", "product_uuid", "sys_vendor", "bios_vendor",
			"bios_version", "bios_date"),
		under("sys/class/net/*", "address", "carrier", "speed", "type", "device/vendor", "device/device", "device/driver",
			"phys_port_name", "dev_port", "dev_id", "uevent"),
		under("sys/class/tpm/tpm0", "tpm_version_major", "device/description", "device/caps"),
		under("sys/devices/system", "cpu/cpu*/topology/core_id", "cpu/cpu*/topology/physical_package_id",
			"cpu/cpu0/cpufreq/cpuinfo_max_freq",
			"node/node*/meminfo", "node/node*/cpu*"),
		under("sys/firmware", "dmi/tables/DMI", "efi/fw_platform_size"), []string{secureBootVariable},
	)
}

// largestEntry bounds the bytes of one file.
const largestEntry = 1 << 20

// Tree writes down the files that the collectors read, one entry per line, "path =
// quoted content" or "path -> link". With them the result of this machine can be
// reproduced on another, later. A file that cannot be read is missing for the
// collectors too.
func Tree(fsys fs.FS) []byte {
	entries := map[string]string{}
	for _, pattern := range read() {
		matches, err := fs.Glob(fsys, pattern)
		if err != nil {
			continue // only for a pattern that is none
		}
		for _, m := range matches {
			if name, disk := strings.CutPrefix(m, "sys/block/"); !disk || notADisk(fsys, strings.Split(name, "/")[0]) !=
				agentapi.NotHardware {
				record(fsys, m, entries)
			}
		}
	}
	lines := make([]string, 0, len(entries))
	for name, rest := range entries {
		lines = append(lines, name+rest+"\n")
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, ""))
}

// record notes the links on the way to a file, each once, and the file. Sysfs has
// no circles, but a bound costs nothing.
func record(fsys fs.FS, name string, entries map[string]string) {
	done := "."
	for rest, hops := strings.Split(name, "/"), 0; len(rest) > 0 && hops < 100; hops++ {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		to := linkOf(fsys, next)
		if to == "" {
			done = next
			continue
		}
		entries[next] = " -> " + to
		rest = append(strings.Split(path.Join(done, to), "/"), rest...)
		done = "."
	}
	if b, err := fs.ReadFile(fsys, done); err == nil {
		entries[done] = fmt.Sprintf(" = %q", b[:min(len(b), largestEntry)])
	}
}
