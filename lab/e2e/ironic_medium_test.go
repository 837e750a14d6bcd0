package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/images/bootiso"
	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// mediumAddress is the last byte of the machine's address, which is on its medium.
const mediumAddress = 50

// ironicMedium lets Ironic boot our ramdisk from the virtual drive: Ironic makes the image, with Debian's GRUB and the
// node's network_data, under its own label. There is no DHCP server. Ironic 21.4 has no rescue by this way.
func ironicMedium(ctx context.Context, b *bed) error {
	f := &foreign{bed: b}
	spec := machine("metal-1", qemu.UEFI)
	spec.NICs[0].OptionROM, spec.CD = false, qemu.BusSCSI // the lab's kernel has no driver for SATA
	return f.under(ctx, spec, f.media, []stage{
		{"enroll", f.enroll, nil},
		{"inspect", f.inspect, nil},
		{"clean", f.clean, nil},
		{"deploy", f.deployWithoutDHCP, nil},
		{"undeploy", f.undeploy, nil},
		{"medium", f.read, nil},
	})
}

// media serves the images that Ironic makes, and has the node boot from them.
func (f *foreign) media(context.Context) (stop func() error, err error) {
	loaders, err := bootiso.ReadLoaders(os.DirFS(filepath.Join(f.bin, "ramdisk", bootiso.Folder)))
	if err != nil {
		return nil, err
	}
	esp, err := bootiso.ESP(loaders.GRUB)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(f.images, "esp.img"), esp, 0o644); err != nil {
		return nil, err
	}
	if err := f.offerRamdisk(); err != nil {
		return nil, err
	}
	f.more = map[string]any{"boot_interface": "redfish-virtual-media",
		"driver_info":  map[string]any{"bootloader": f.site.ImagesURL + "/esp.img"},
		"network_data": staticData(f.site, f.machine, mediumAddress)}
	return f.ironic.Files()
}

// deployWithoutDHCP is a deploy with an OS that has no address to report from: its console shows that it is up.
func (f *foreign) deployWithoutDHCP(ctx context.Context) error {
	i := image(f.site, f.tiny, f.tiny.Qcow2)
	i.Format = "qcow2"
	before := starts(f.machine)
	if err := begin(ctx, f.site, f.machine, i, "host-one"); err != nil {
		return err
	}
	if _, err := f.site.Until(ctx, f.machine.Name, "active"); err != nil {
		return err
	}
	return osIsUp(ctx, f.machine, before)
}

// read wants each ramdisk to have found Ironic's medium, and its network there.
func (f *foreign) read(context.Context) error {
	ramdisks := 0
	for _, line := range f.machine.Console() {
		if strings.Contains(line.Text, "labels=[config-2] network_data=true") {
			ramdisks++
		}
	}
	if ramdisks < 2 {
		return fmt.Errorf("%d ramdisks say that they have read network_data from a medium labelled config-2, "+
			"expected one each for cleaning and deployment at least", ramdisks)
	}
	return nil
}
