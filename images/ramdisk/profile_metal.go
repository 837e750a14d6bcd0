package ramdisk

// Metal is for real servers of any make: Debian's standard kernel with every wired network card, storage controller
// and file system it has a driver for. Some cards' drivers need firmware files, from Site.Firmware.
func Metal() Profile {
	return Profile{
		Name:          "metal",
		KernelPackage: "linux-image-amd64",
		Modules:       append(append(metalNetwork(), metalStorage()...), metalPlatform()...),
	}
}

func metalNetwork() []Class {
	return []Class{
		{
			Name: "wired network cards, with the PHY drivers they ask for by themselves",
			Under: []string{
				"drivers/net/ethernet", "drivers/net/phy", "drivers/net/mdio", "drivers/net/pcs", "drivers/net/hyperv",
				"drivers/net/vmxnet3",
			},
		},
		{
			Name: "network cards outside those folders; the USB ones are how a host reaches its BMC's Redfish service",
			Modules: []string{"virtio_net", "xen_netfront", "cdc_ether", "cdc_ncm", "cdc_eem", "rndis_host", "ax88179_178a",
				"asix", "r8152"},
		},
		{
			Name:    "bonds and VLANs",
			Modules: []string{"bonding", "8021q"},
		},
	}
}

func metalStorage() []Class {
	return []Class{
		{
			Name: "disk controllers and disks",
			Under: []string{"drivers/ata", "drivers/scsi", "drivers/nvme/host", "drivers/message/fusion", "drivers/mmc",
				"drivers/nvdimm"},
			Except: []string{"scsi_debug", "pata_legacy", "tcm_qla2xxx"},
			Modules: []string{"ahci", "nvme", "sd_mod", "sr_mod", "virtio_blk", "virtio_scsi", "mtip32xx", "vmd",
				"xen_blkfront", "hv_storvsc"},
		},
		{
			Name:    "USB disks and virtual media of a BMC",
			Under:   []string{"drivers/usb/storage"},
			Modules: []string{"usb_storage", "uas"},
		},
		{
			Name:   "software RAID and device mapper, to see and clear the arrays of an earlier tenant",
			Under:  []string{"drivers/md"},
			Except: []string{"faulty", "dm_flakey", "dm_delay", "dm_log_writes", "md_cluster"},
		},
		{
			Name:    "file systems",
			Modules: []string{"ext4", "xfs", "btrfs", "exfat", "squashfs", "overlay", "udf", "loop"},
		},
		fileSystems(),
	}
}

func metalPlatform() []Class {
	return []Class{
		{
			Name:     "paravirtual machines, so that this ramdisk boots in any of them too",
			Modules:  []string{"virtio_pci", "virtio_rng", "virtio_console", "hv_vmbus", "hv_utils"},
			Required: true,
		},
		{
			Name:  "USB controllers and keyboards for a human at the console",
			Under: []string{"drivers/usb/host"},
			Modules: []string{
				"xhci_pci", "ehci_pci", "ohci_pci", "uhci_hcd", "usbhid", "hid_generic", "hid_apple", "hid_logitech",
				"hid_microsoft",
				"hid_cherry", "hid_lenovo", "hyperv_keyboard", "evdev", "button",
			},
			Except: []string{"sl811_cs"},
		},
		{
			Name:    "the BMC",
			Under:   []string{"drivers/char/ipmi"},
			Modules: []string{"ipmi_si", "ipmi_ssif", "i2c_i801", "i2c_piix4"},
			Except:  []string{"ipmi_watchdog", "ipmi_poweroff"},
		},
		{
			Name:    "BMC character device; no device asks for it",
			Modules: []string{"ipmi_devintf"},
			Load:    true,
		},
		{
			Name:    "trust and randomness",
			Under:   []string{"drivers/char/tpm", "drivers/char/hw_random"},
			Modules: []string{"tpm_tis", "tpm_crb"},
			Except:  []string{"tpm_vtpm_proxy"},
		},
	}
}
