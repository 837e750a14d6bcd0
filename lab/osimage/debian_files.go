package osimage

// debianPackages are added to debootstrap's minimal system. python3-cffi-backend is
// there because cloud-init needs it through a virtual package, and debootstrap follows
// only real ones.
func debianPackages() []string {
	return []string{
		"systemd-sysv", "systemd-resolved", "udev", "dbus", "kmod", "initramfs-tools", "zstd", "e2fsprogs",
		"linux-image-cloud-amd64",
		"iproute2", "iputils-ping", "netbase", "ca-certificates", "login", "sudo", "cloud-init", "python3-cffi-backend",
	}
}

// debianFiles are written over the installed system: path to text.
func debianFiles() map[string]string {
	return map[string]string{
		"etc/fstab":    "LABEL=root / ext4 defaults,noatime 0 1\n",
		"etc/hostname": "debian\n",
		// cloud-init would set this, and take a second.
		"etc/default/locale": "LANG=C.UTF-8\n",
		// The first boot makes one; an image that has one would give it to all its machines.
		"etc/machine-id": "",
		// All disk drivers, whatever the machine that built this has. NVMe is built
		// into the cloud kernel.
		"etc/initramfs-tools/modules":         "virtio_pci\nvirtio_blk\nvirtio_scsi\nsd_mod\next4\n",
		"etc/initramfs-tools/conf.d/lab.conf": "MODULES=list\nCOMPRESS=zstd\n",
		"etc/cloud/cloud.cfg.d/90_lab.cfg":    debianCloudConfig,
	}
}

// debianCloudConfig: the only source is a config drive, so that nothing waits for a
// metadata service. Network configuration goes to systemd-networkd, DHCP where the
// drive says nothing. There is no SSH server, so one kind of key is plenty, and the
// disk stays as deployed.
const debianCloudConfig = `datasource_list: [ConfigDrive, None]
datasource: {ConfigDrive: {dsmode: net}}
system_info: {network: {renderers: [networkd]}}
preserve_hostname: false
manage_etc_hosts: true
ssh_genkeytypes: [ed25519]
growpart: {mode: "off"}
resize_rootfs: false
`

// debianScript runs inside the installed system. The package lists would be stale by
// the time anybody boots this.
const debianScript = `
systemctl enable systemd-networkd systemd-resolved
systemctl mask apt-daily.timer apt-daily-upgrade.timer
update-initramfs -u -k all
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/bootstrap.log
`
