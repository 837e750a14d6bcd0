package ramdisk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/images/ramdisk/debian"
)

// Firmware of a Site, beside folders.
const (
	FirmwareAuto = "auto" // of Debian's packages
	FirmwareNone = "none"
)

// firmwarePackages are Debian's packages with firmware of network cards, disk controllers and processors. Those that a
// release of Debian lacks are left out, unless a common server is dead without them.
var firmwarePackages = []struct {
	name     string
	required bool
	cards    string
}{
	{"firmware-bnx2x", true, "Broadcom and QLogic 57800, 57810, 57840"},
	{"firmware-qlogic", true, "QLogic FastLinQ 41000 and 45000, Fibre Channel, 10 GbE"},
	{"intel-microcode", true, "processors"},
	{"amd64-microcode", true, "processors"},
	{"firmware-bnx2", false, "Broadcom NetXtreme II"},
	{"firmware-misc-nonfree", false, "Intel E810, Chelsio, Brocade, Broadcom tg3 and others"},
	{"firmware-intel-misc", false, "Intel E810, from Debian 13 on"},
	{"firmware-realtek", false, "Realtek"},
	{"firmware-netronome", false, "Netronome Agilio"},
	{"firmware-cavium", false, "Cavium LiquidIO"},
	{"firmware-netxen", false, "QLogic NetXen"},
	{"firmware-myricom", false, "Myricom 10 GbE"},
}

// fetchFirmware is the firmware that a site asks for. With a kernel of another suite, as backports, firmware of that
// suite goes before.
func (r Recipe) fetchFirmware(ctx context.Context) ([]*firmwareFolder, error) {
	from := r.Site.Firmware
	switch from {
	case "", FirmwareNone:
		return nil, nil
	case FirmwareAuto:
		return r.firmwareOfDebian(ctx)
	}
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil, errors.Join(fmt.Errorf("firmware: %s is no folder: expected one laid out as /lib/firmware", from), err)
	}
	return []*firmwareFolder{{dir: from, own: true}}, nil
}

func (r Recipe) firmwareOfDebian(ctx context.Context) (folders []*firmwareFolder, err error) {
	_, suite, _ := strings.Cut(r.Profile.KernelPackage, "/")
	for _, wanted := range firmwarePackages {
		p, err := debian.Package{}, debian.ErrNoPackage
		if suite != "" {
			p, err = r.Archive.Find(ctx, wanted.name, suite)
		}
		if errors.Is(err, debian.ErrNoPackage) {
			p, err = r.Archive.Find(ctx, wanted.name, "")
		}
		switch {
		case errors.Is(err, debian.ErrNoPackage) && !wanted.required:
			continue
		case errors.Is(err, debian.ErrNoPackage):
			return nil, fmt.Errorf("firmware for %s: %w %s: %s", wanted.cards, debian.ErrNoPackage, wanted.name,
				r.Archive.Missing())
		case err != nil:
			return nil, fmt.Errorf("firmware for %s: %w", wanted.cards, err)
		}
		dir, err := unpacked(ctx, r.Archive, p, purpose{folder: "firmware", want: ofFirmware}, r.CacheDir, r.Log)
		if err != nil {
			return nil, fmt.Errorf("firmware: %w", err)
		}
		folders = append(folders, folderOf(dir, p))
	}
	return folders, nil
}

func ofFirmware(name string) bool {
	name = strings.TrimPrefix(name, "usr/")
	return strings.HasPrefix(name, firmwarePlace+"/") || isCopyright(name)
}

// folderOf is an unpacked package. From Debian 13 on, firmware is below /usr.
func folderOf(dir string, p debian.Package) *firmwareFolder {
	f := &firmwareFolder{dir: filepath.Join(dir, "usr", firmwarePlace), pkg: p.Name, version: p.Version, sum: p.SHA256}
	if _, err := os.Stat(f.dir); err != nil {
		f.dir = filepath.Join(dir, firmwarePlace)
	}
	licence := filepath.Join(dir, licencePath(p.Name))
	if _, err := os.Stat(licence); err == nil {
		f.licence = licence
	}
	return f
}
