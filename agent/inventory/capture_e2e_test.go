//go:build e2e

package inventory

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// captureFrom is the folder of the ramdisks. With it, TestCapture boots every machine of the table and writes its tree
// anew:
//
//	make ramdisk PROFILE=metal && make ramdisk PROFILE=lab
//	go test -tags e2e -run TestCapture -timeout 90m ./agent/inventory -capture ../../bin/ramdisk
//	go test ./agent/inventory -update
//
// Compare the changes of the goldens with the table. A tree of a real machine is inventory.tree among the logs of its
// inspection.
var captureFrom = flag.String("capture", "", "write the captured machines anew, with the ramdisks of this folder")

// patience is for a boot without KVM on a busy host.
const patience = 10 * time.Minute

// qemuMachine is one machine to be captured: its arguments for QEMU, but for memory, kernel and the boot NIC, which is
// of model nic. The lab's ramdisk is enough for virtio and starts in a fraction of the time.
type qemuMachine struct {
	name, nic string
	uefi, lab bool
	memory    string
	args      []string
}

// disk is the arguments of a disk that holds nothing.
func emptyDisk(id, size string) string {
	return fmt.Sprintf("-drive if=none,id=%s,driver=null-co,read-zeroes=on,size=%s", id, size)
}

func qemuMachines() []qemuMachine {
	return []qemuMachine{
		{name: "q35-uefi-nvme", nic: "e1000e", uefi: true, memory: "1G", args: []string{
			"-machine q35,smm=on -smp 1",
			emptyDisk("a", "16G"), "-device nvme,drive=a,serial=NVME1,logical_block_size=4096,physical_block_size=4096",
			emptyDisk("b", "20G"), "-device nvme,id=two,serial=NVME2 -device nvme-ns,drive=b,bus=two,nsid=3",
		}},
		{name: "q35-uefi-4kn", nic: "virtio-net-pci", uefi: true, lab: true, memory: "768M", args: []string{
			"-machine q35,smm=on -smp 1",
			emptyDisk("a", "5G"), "-device virtio-blk-pci,drive=a,serial=VBLK1,logical_block_size=4096,physical_block_size=4096",
		}},
		{name: "pc-bios-ide", nic: "rtl8139", memory: "1G", args: []string{
			"-machine pc -smp 1",
			emptyDisk("a", "8G"),
			"-device ide-hd,drive=a,bus=ide.0,unit=0,serial=IDE0,model=FERRITE-MASTER,wwn=0x5000c50015ea71b0",
			emptyDisk("b", "9G"), "-device ide-hd,drive=b,bus=ide.0,unit=1,serial=IDE1,model=FERRITE-SLAVE",
			emptyDisk("c", "512M"), "-device ide-cd,drive=c,bus=ide.1,unit=0",
			"-device ich9-ahci,id=ahci", emptyDisk("d", "10G"), "-device ide-hd,drive=d,bus=ahci.2,serial=AHCI2",
			"-device isa-fdc,id=fdc", emptyDisk("f", "1474560"), "-device floppy,drive=f,drive-type=144",
		}},
		{name: "q35-bios-many", nic: "virtio-net-pci", memory: "1G", args: []string{
			"-machine q35 -smp 2 -smbios type=1,manufacturer=Ferrite,product=Lab,serial=F1",
			"-device e1000e,mac=52:54:00:77:00:02",
			emptyDisk("a", "5G"), "-device virtio-blk-pci,drive=a,serial=VBLK1",
			emptyDisk("b", "6G"), "-device nvme,drive=b,serial=NVME2",
			emptyDisk("c", "7G"), "-device ide-hd,drive=c,bus=ide.2,serial=SATA3,model=FERRITE-SATA,wwn=0x5000c50015ea71ac",
			"-device virtio-scsi-pci,id=scsi", emptyDisk("d", "8G"),
			"-device scsi-hd,drive=d,bus=scsi.0,serial=SCSI4,wwn=0x5000c50015ea71ad",
			"-device qemu-xhci,id=usb", emptyDisk("e", "9G"), "-device usb-storage,drive=e,bus=usb.0,serial=USB5",
		}},
		{name: "q35-bios-raid", nic: "vmxnet3", memory: "1G", args: []string{
			"-machine q35 -smp 1",
			"-device megasas,id=raid", emptyDisk("a", "8G"),
			"-device scsi-hd,drive=a,bus=raid.0,scsi-id=1,serial=LD1,wwn=0x5000c50015ea71b1",
			"-device mptsas1068,id=sas", emptyDisk("b", "9G"),
			"-device scsi-hd,drive=b,bus=sas.0,scsi-id=2,serial=SAS2,wwn=0x5000c50015ea71b2",
			"-device lsi53c895a,id=spi", emptyDisk("c", "10G"), "-device scsi-hd,drive=c,bus=spi.0,scsi-id=3,serial=SPI3",
			"-device qemu-xhci,id=usb -device usb-hub,bus=usb.0,port=1",
			emptyDisk("d", "11G"), "-device usb-storage,drive=d,bus=usb.0,port=1.2,serial=USB4",
			"-device usb-bot,id=bmc,bus=usb.0,port=2", emptyDisk("e", "1G"),
			"-device scsi-hd,drive=e,bus=bmc.0,vendor=AMI,product=", "Virtual HDISK0",
			"-netdev user,id=n1 -device usb-net,netdev=n1,bus=usb.0,port=3,mac=52:54:00:77:00:03 -device " +
				"usb-kbd,bus=usb.0,port=4",
		}},
		{name: "q35-bios-numa", nic: "virtio-net-pci", lab: true, memory: "2G", args: []string{
			"-machine q35 -smp 4,sockets=2,cores=1,threads=2 -cpu Nehalem,+rdrand",
			"-object memory-backend-ram,id=m0,size=768M -object memory-backend-ram,id=m1,size=1280M",
			"-numa node,nodeid=0,memdev=m0,cpus=0-1 -numa node,nodeid=1,memdev=m1,cpus=2-3",
			"-smbios type=0,vendor=Ferrite,version=1.2.3,date=02/29/2024,release=4.5",
			"-smbios type=1,manufacturer=Ferrite,product=Twin,serial=T2,uuid=52540077-0001-4000-8000-000000000001",
			"-smbios type=4,sock_pfx=CPU,manufacturer=Ferrite,version=Twin,max-speed=3000," +
				"current-speed=2500,serial=C1,asset=A1,part=P1",
			"-smbios type=17,loc_pfx=DIMM,bank=BANK,manufacturer=Ferrite,serial=M1,asset=A2,part=P2,speed=3200",
			"-device pxb-pcie,id=far,bus_nr=16,numa_node=1 -device pcie-root-port,id=rp0,bus=far,chassis=1",
			"-netdev user,id=n1 -device virtio-net-pci,netdev=n1,bus=rp0,mac=52:54:00:77:00:02",
			emptyDisk("a", "8G"), "-device virtio-blk-pci,drive=a,serial=NUMA1,bus=pcie.0",
		}},
		{name: "q35-bios-board", nic: "virtio-net-pci", lab: true, memory: "3G", args: []string{
			"-machine q35 -smp 1 -device pcie-root-port,id=rp0,chassis=1",
			"-smbios type=41,designation=LOM,kind=ethernet,instance=1,pcidev=boot",
			"-netdev user,id=n1 -device virtio-net-pci,netdev=n1,bus=rp0,mac=52:54:00:77:00:02",
			"-device virtio-scsi-pci,id=scsi", emptyDisk("a", "9T"),
			"-device scsi-hd,drive=a,bus=scsi.0,scsi-id=4,lun=3,serial=LONG,wwn=0x600508b1001c1a2b,physical_block_size=4096",
		}},
	}
}

func TestCapture(t *testing.T) {
	if *captureFrom == "" {
		t.Skip("give -capture the folder of the ramdisks to write the trees anew")
	}
	for _, m := range qemuMachines() {
		t.Run(m.name, func(t *testing.T) {
			found := boot(t, m)
			tree := inLogs(t, found.Logs, "inventory.tree")
			if err := os.WriteFile(filepath.Join("testdata", m.name+".tree"), tree, 0o644); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d interfaces, %d disks", len(found.Inventory.Interfaces), len(found.Inventory.Disks))
		})
	}
}

// boot starts a machine and returns its agent's inspection.
func boot(t *testing.T, m qemuMachine) agentapi.Inspection {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // which QEMU's user network has as 10.0.2.2
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan []byte, 1)
	server := &http.Server{ReadHeaderTimeout: patience,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				select {
				case got <- body:
				default:
				}
			}
			fmt.Fprint(w, `{"uuid":null}`)
		})}
	go server.Serve(l) // it ends with Close
	defer server.Close()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	console := filepath.Join(t.TempDir(), "console")
	port := l.Addr().(*net.TCPAddr).Port
	qemu := exec.CommandContext(ctx, "qemu-system-x86_64", arguments(t, m, console, port)...)
	out := &bytes.Buffer{}
	qemu.Stdout, qemu.Stderr = out, out
	if err := qemu.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- qemu.Wait() }()
	var body []byte
	select {
	case body = <-got:
	case err = <-ended:
		ended <- err
		err = errors.Join(errors.New("the machine ended"), err)
	}
	cancel()
	<-ended
	if err != nil {
		log, _ := os.ReadFile(console) // as far as it got
		t.Fatalf("%v: %s\n%s", err, out, log)
	}
	var found agentapi.Inspection
	if err := json.Unmarshal(body, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// arguments is QEMU's command line.
func arguments(t *testing.T, m qemuMachine, console string, port int) []string {
	t.Helper()
	line := fmt.Sprintf("console=ttyS0,115200 quiet BOOTIF=01-52-54-00-77-00-01 ipa-disk-wait-attempts=1 "+
		"ipa-inspection-callback-url=http://10.0.2.2:%d/v1/continue_inspection", port)
	profile := "metal"
	if m.lab {
		profile = "lab"
	}
	args := []string{
		"-accel", "tcg,thread=multi", "-cpu", "qemu64,+rdrand", "-nodefaults", "-display", "none", "-no-reboot", "-serial",
		"file:" + console,
		"-m", m.memory, "-kernel", filepath.Join(*captureFrom, profile+".vmlinuz"), "-initrd",
		filepath.Join(*captureFrom, profile+".initramfs"),
		"-append", line, "-netdev", "user,id=n0", "-device", m.nic + ",id=boot,netdev=n0,mac=52:54:00:77:00:01,romfile=",
	}
	if m.uefi {
		vars := filepath.Join(t.TempDir(), "vars")
		b, err := os.ReadFile("/usr/share/OVMF/OVMF_VARS_4M.fd")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vars, b, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-drive", "if=pflash,format=raw,unit=0,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.secboot.fd",
			"-drive", "if=pflash,format=raw,unit=1,file="+vars, "-global", "driver=cfi.pflash01,property=secure,value=on")
	}
	for _, words := range m.args {
		if strings.HasPrefix(words, "-") {
			args = append(args, strings.Fields(words)...)
		} else { // the rest of the word before it, with blanks
			args[len(args)-1] += words
		}
	}
	return args
}

// inLogs is one file of the logs that came with an inspection.
func inLogs(t *testing.T, logs, name string) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(logs)
	if err != nil {
		t.Fatal(err)
	}
	zr, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if err != nil {
			t.Fatalf("no %s among the logs: %v", name, err)
		}
		if h.Name == name {
			b, err := io.ReadAll(tr)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
}
