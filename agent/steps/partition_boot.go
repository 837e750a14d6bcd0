package steps

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// diskIdentifier stands for the root file system of a whole disk's image.
var diskIdentifier = regexp.MustCompile(`^0x[0-9a-fA-F]{8}$`)

// isFileSystem reports whether a root_uuid names a partition.
func isFileSystem(uuid string) bool { return uuid != "" && !diskIdentifier.MatchString(uuid) }

// installLoader puts the boot loader of an installed partition image where the
// firmware looks for it, unless one is there.
func (m *Machine) installLoader(
	ctx context.Context, n agentapi.CommandNode, p agentapi.BootloaderParams, uefi bool,
) error {
	path, err := m.installedDisk(ctx, n)
	if err != nil {
		return err
	}
	all, err := m.volumes(ctx, path)
	if err != nil {
		return err
	}
	if !uefi {
		root, err := volumeByUUID(all, path, p.RootUUID)
		if err != nil {
			return err
		}
		return m.grubForBIOS(ctx, path, root)
	}
	number, err := m.emptyESP(ctx, path)
	if number == 0 || err != nil {
		return err
	}
	root, err := volumeByUUID(all, path, p.RootUUID)
	if err != nil {
		return err
	}
	for _, esp := range all {
		if esp.Number == number {
			return m.fillESP(ctx, path, root, esp)
		}
	}
	return fmt.Errorf("%s has no EFI system partition any more", path)
}

// emptyESP is the number of a disk's EFI system partition; 0 when there is
// something to boot on it.
func (m *Machine) emptyESP(ctx context.Context, path string) (int, error) {
	dev, err := m.Open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer dev.Close() //nolint:errcheck // only read from
	table, err := disk.ReadTable(dev)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	esp, _, err := disk.BootLoader(dev, table, m.Arch)
	switch {
	case err == nil:
		return 0, nil
	case errors.Is(err, disk.ErrNoLoader) && esp.Number > 0:
		return esp.Number, nil
	}
	return 0, fmt.Errorf("%s: %w", path, err)
}

// volumeByUUID finds the partition with a UUID, of its file system or its own. A UUID
// of several partitions is refused: an ephemeral partition that was kept may hold a
// copy of the image. GRUB and the installed system, which look for the root by its
// UUID, could take that for it.
func volumeByUUID(all []volume, path, uuid string) (volume, error) {
	var found []volume
	for _, v := range all {
		if strings.EqualFold(v.UUID, uuid) || strings.EqualFold(v.partUUID, uuid) {
			found = append(found, v)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return volume{}, fmt.Errorf("no partition of %s has the UUID %s; there are %s", path, uuid, list(all))
	}
	return volume{}, fmt.Errorf("%s have the same UUID %s, and any of them would be booted as the root: "+
		"give the others one of their own, or install without preserve_ephemeral", list(found), uuid)
}

// fillESP fills an empty EFI system partition: with the image's files at the place
// where it will be mounted. If there are none, it runs the image's grub-install, where
// that is allowed.
func (m *Machine) fillESP(ctx context.Context, path string, root, esp volume) error {
	found, err := m.lookForLoader(root)
	if err != nil {
		return err
	}
	allowed := m.Config().EnableBIOSBootloaderInstall
	switch {
	case found.efi == "" && !found.grub():
		return fmt.Errorf("the image on %s has nothing to boot by UEFI: expected EFI files in one of %s, or grub-install",
			root.device, strings.Join(espFolders(), ", "))
	case found.efi == "" && !allowed:
		return fmt.Errorf("the image on %s has no EFI files in %s, and would have its own grub-install run, %s", root.device,
			strings.Join(espFolders(), ", "), grubOff)
	case found.efi == "":
		err = m.grubForUEFI(ctx, path, found, root, esp)
	case found.grub() && allowed:
		err = m.grubConfig(ctx, path, found, root)
	case found.grub():
		m.Log.Info("the configuration of the image's GRUB stays as it is: its programs are not run", "image", root.device)
	}
	if err != nil {
		return err
	}
	return m.completeESP(found, root, esp)
}

// espFolders is where an EFI system partition is mounted in an operating
// system, the usual place first.
func espFolders() []string { return []string{"/boot/efi", "/efi", "/boot"} }

// loaderFiles are the boot loader's files of an image.
type loaderFiles struct {
	efi               string // loaderFiles are the boot loader's files of an image.
	install, mkconfig string // programs of GRUB
}

// grub reports whether GRUB can be installed.
func (f loaderFiles) grub() bool { return f.install != "" && f.mkconfig != "" }

// lookForLoader looks into the image.
func (m *Machine) lookForLoader(root volume) (f loaderFiles, err error) {
	tree, err := m.mount(root, true)
	if err != nil {
		return f, err
	}
	defer tree.Close() //nolint:errcheck // only looked into
	for _, folder := range espFolders() {
		entries, err := tree.ReadDir(folder + "/EFI")
		if err == nil && len(entries) > 0 {
			f.efi = folder
			break
		}
		if err != nil && !isAbsent(err) {
			return f, err
		}
	}
	if f.install, err = program(tree, "grub2-install", "grub-install"); err != nil {
		return f, err
	}
	f.mkconfig, err = program(tree, "grub2-mkconfig", "grub-mkconfig")
	return f, err
}
