package steps

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

// grubOff is why programs of an image are not run, and how they would be.
const grubOff = "which is not allowed here: it would give the image's author the machine's ramdisk " +
	"(CVE-2026-43003). " +
	"Allow it with enable_bios_bootloader_install of the conductor, or use a whole-disk image"

// grubPatience is how long an image's programs may take in all.
const grubPatience = 10 * time.Minute

// grubEnv is the environment of an image's programs. As with ironic-python-agent, GRUB
// does not look for other systems.
func grubEnv() []string {
	return []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "LC_ALL=C", "GRUB_DISABLE_OS_PROBER=true",
		"GRUB_SAVEDEFAULT=true"}
}

// grubTarget is the platform of GRUB, by GOARCH: for the firmware that will start it, not for the firmware that has
// started the ramdisk.
func grubTarget(arch string, uefi bool) (string, error) {
	firmware, targets := "BIOS", map[string]string{"amd64": "i386-pc", "386": "i386-pc"}
	if uefi {
		firmware, targets = "UEFI", map[string]string{"amd64": "x86_64-efi", "386": "i386-efi", "arm64": "arm64-efi"}
	}
	target, ok := targets[arch]
	if !ok {
		return "", fmt.Errorf("GRUB cannot be installed to boot this machine, of architecture %s, by %s, "+
			"expected one of %s: use a whole-disk image",
			arch, firmware, strings.Join(slices.Sorted(maps.Keys(targets)), ", "))
	}
	return "--target=" + target, nil
}

// grubForBIOS installs the image's GRUB into the boot sector of the disk, or of each disk with a member of the array,
// and the rest of GRUB behind it. See docs/decisions/0052-grub-on-each-disk.md.
func (m *Machine) grubForBIOS(ctx context.Context, disk string, root volume) error {
	found, err := m.lookForLoader(root)
	if err != nil {
		return err
	}
	switch {
	case !found.grub():
		return fmt.Errorf("the image on %s has no grub-install and grub-mkconfig, without which it cannot boot by BIOS",
			root.device)
	case !m.Config().EnableBIOSBootloaderInstall:
		return fmt.Errorf("the image on %s would have its own grub-install run, %s", root.device, grubOff)
	}
	target, err := grubTarget(m.Arch, false)
	if err != nil {
		return err
	}
	disks, err := m.bootDisks(disk)
	if err != nil {
		return err
	}
	var commands [][]string
	for _, d := range disks {
		commands = append(commands, []string{found.install, target, d})
	}
	return m.inImage(ctx, disk, []volume{root}, append(commands, found.config()))
}

// bootDisks are the disks that a BIOS can boot from. It knows no software RAID: each
// disk of an array gets a boot loader, and boots without the others.
func (m *Machine) bootDisks(path string) ([]string, error) {
	a, is := m.runningArray(path)
	if !is {
		return []string{path}, nil
	}
	var disks []string
	for _, member := range a.members {
		if _, ok := member.table.BIOSBoot(); !ok && member.table.GPT != nil {
			return nil, fmt.Errorf("make %s of array %s bootable: it has no BIOS boot partition: it was divided when the "+
				"machine was started by UEFI, delete and create the RAID configuration again", member.disk, a.Name)
		}
		disks = append(disks, member.disk)
	}
	return disks, nil
}

// grubForUEFI has the image's GRUB install itself on the EFI system partition,
// under the system's own name and, for firmware that has lost its entry, under
// the one every firmware looks for. The entry is ours to make.
func (m *Machine) grubForUEFI(ctx context.Context, disk string, found loaderFiles, root, esp volume) error {
	target, err := grubTarget(m.Arch, true)
	if err != nil {
		return err
	}
	install := []string{found.install, target, "--efi-directory=" + espFolders()[0], "--no-nvram"}
	return m.inImage(ctx, disk, []volume{root, esp},
		[][]string{install, append(install[:len(install):len(install)], "--removable"), found.config()})
}

// grubConfig has GRUB write its configuration anew, now that its disk is known.
func (m *Machine) grubConfig(ctx context.Context, disk string, found loaderFiles, root volume) error {
	return m.inImage(ctx, disk, []volume{root}, [][]string{found.config()})
}

// config is the command that writes GRUB's configuration.
func (f loaderFiles) config() []string {
	name := strings.TrimSuffix(path.Base(f.mkconfig), "-mkconfig") // grub or grub2
	return []string{f.mkconfig, "-o", "/boot/" + name + "/grub.cfg"}
}

// inImage runs programs of an image on a disk or an array. The first of its volumes is the root; the other is the EFI
// system partition.
func (m *Machine) inImage(ctx context.Context, disk string, volumes []volume, commands [][]string) error {
	ctx, cancel := context.WithTimeout(ctx, grubPatience)
	defer cancel()
	c := sys.Chroot{Env: grubEnv(), Start: m.Run, Log: m.Log, Disks: []string{disk}}
	a, _ := m.runningArray(disk) // a disk has no members
	for _, member := range a.members {
		c.Disks = append(c.Disks, member.disk)
	}
	for i, v := range volumes {
		m.LoadModule(v.Kind)
		c.Mounts = append(c.Mounts, sys.ChrootMount{Device: v.device, Kind: v.Kind, At: []string{"/", espFolders()[0]}[i],
			UUID: v.UUID})
	}
	return m.Kernel.InChroot(ctx, c, func(run func(...string) (string, error)) error {
		for _, argv := range commands {
			said, err := run(argv...)
			if err != nil {
				return fmt.Errorf("the image's own %w", err)
			}
			m.Log.Info("the image's own program ran", "program", strings.Join(argv, " "), "said", said)
		}
		return nil
	})
}

// program finds the first of some programs that an image has, where programs
// of the administrator are.
func program(tree *sys.Tree, names ...string) (string, error) {
	for _, name := range names {
		for _, folder := range []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"} {
			at := path.Join(folder, name)
			has, err := hasFile(tree, at)
			if has || err != nil {
				return at, err
			}
		}
	}
	return "", nil
}
