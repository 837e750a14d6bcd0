package steps

import (
	"bytes"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/images/disk/disktest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// fullVars is an NVRAM without room, which has an entry that cannot be read.
type fullVars struct{ memVars }

func (v fullVars) Get(name string) ([]byte, error) {
	if name == "Boot0007" {
		return nil, fmt.Errorf("EFI variable %s: %w", name, syscall.EIO)
	}
	return v.memVars.Get(name)
}

func (v fullVars) Set(name string, _ []byte) error {
	return fmt.Errorf("EFI variable %s: %w", name, syscall.ENOSPC)
}

// TestNoRoomForABootEntry: without room, firmware boots the loader of removable media, where an image has it.
func TestNoRoomForABootEntry(t *testing.T) {
	for loader, want := range map[string]string{
		"::/EFI/BOOT/BOOTX64.EFI":    "",
		"::/EFI/debian/shimx64.efi":  "no space left on device",
		"::/EFI/debian/BOOTAA64.EFI": "no boot loader on the EFI system partition",
	} {
		t.Run(loader, func(t *testing.T) {
			b := newBench(t, "/dev/vda")
			var log bytes.Buffer
			b.Log = slog.New(slog.NewTextHandler(&log, nil))
			b.uefi = true
			b.EFIVars = func() disk.EFIVars { return fullVars{memVars{"Boot0007": nil}} }
			f, err := disktest.CreateFileTarget(b.files["/dev/vda"], diskSize)
			if err != nil {
				t.Fatal(err)
			}
			d := &fileDisk{FileTarget: f}
			g := disk.NewGPT(d, disk.GUID{9})
			kind, err := disk.ParseGUID("c12a7328-f81f-11d2-ba4b-00a0c93ec93b")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := g.AddNext(16*mib, kind, "esp", bytes.NewReader(make([]byte, 16))); err != nil {
				t.Fatal(err)
			}
			if err := g.Write(d); err != nil {
				t.Fatal(err)
			}
			at := fmt.Sprintf("%s@@%d", b.files["/dev/vda"], mib)
			csv := filepath.Join(t.TempDir(), "csv")
			for _, argv := range [][]string{
				{"mkfs.vfat", "--offset", fmt.Sprint(mib / 512), b.files["/dev/vda"], fmt.Sprint(16 << 10)},
				{"mmd", "-i", at, "::/EFI", "::/EFI/BOOT", "::/EFI/debian"},
				{"sh", "-c", "printf 'shimx64.efi,debian' >" + csv},
				{"mcopy", "-i", at, csv, "::/EFI/debian/BOOTX64.CSV"},
				{"mcopy", "-i", at, csv, loader},
			} {
				if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", argv, err, out)
				}
			}
			err = b.InstallBootloader(t.Context(), agentapi.CommandNode{}, agentapi.BootloaderParams{TargetBootMode: "uefi"})
			if want == "" && (err != nil || !strings.Contains(log.String(), `no boot entry made: the firmware is to boot`)) ||
				want != "" && (err == nil || !strings.Contains(fmt.Sprint(err), want)) {
				t.Errorf("error %v, log %s", err, log.String())
			}
			if want != "no boot loader on the EFI system partition" &&
				!strings.Contains(log.String(), `EFI variable set aside" err="EFI variable Boot0007: input/output error"`) {
				t.Errorf("log %s", log.String())
			}
		})
	}
}
