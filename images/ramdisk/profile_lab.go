package ramdisk

// Lab is for virtual machines on paravirtual hardware: the smallest and fastest
// ramdisk. The cloud kernel has NVMe built in and neither AHCI nor any wired network
// card but paravirtual ones; machines with those need Metal.
func Lab() Profile {
	return Profile{
		Name:          "lab",
		KernelPackage: "linux-image-cloud-amd64",
		ConsoleShell:  true, // the lab's owner alone reaches its consoles
		Modules: []Class{
			{
				Name:     "paravirtual machines",
				Modules:  []string{"virtio_pci", "virtio_net", "virtio_blk", "virtio_scsi", "virtio_rng", "virtio_console"},
				Required: true,
			},
			{
				Name:    "bonds and VLANs",
				Modules: []string{"bonding", "8021q"},
			},
			{
				Name:     "disks and optical drives",
				Modules:  []string{"nvme", "sd_mod", "sr_mod"},
				Required: true,
			},
			{
				Name:    "emulated controllers and cards, where this kernel has them",
				Modules: []string{"ahci", "ata_piix", "e1000", "e1000e", "usb_storage", "ipmi_si", "ipmi_devintf"},
			},
			{
				Name:    "software RAID, and file systems to inject files into or boot from; loaded when a step asks for them",
				Modules: []string{"raid1", "ext4", "xfs", "btrfs"},
			},
			{
				Name:     "power button",
				Modules:  []string{"button", "evdev"},
				Required: true,
			},
			fileSystems(),
		},
	}
}
