package plan

// Erasing holds the settings by which an agent erases disks: section [deploy] of Ironic's configuration, with Ironic's
// defaults.
type Erasing struct {
	ContinueIfSecureEraseFailed bool // try weaker methods after a drive's own erase has failed
	NVMe, ATA                   bool // let drives erase themselves
	SkipReadOnly                bool // leave read-only disks alone rather than fail
	Iterations                  int  // of random data when a disk is overwritten
	Zeroize                     bool // and zeroes in the end
	Concurrency                 int  // disks of a machine at a time
}

// DefaultErasing are Ironic's defaults.
func DefaultErasing() Erasing {
	return Erasing{NVMe: true, ATA: true, Iterations: 1, Zeroize: true, Concurrency: 4}
}

// ForAgent is the keys of driver_internal_info agents read them under.
func (e Erasing) ForAgent() map[string]any {
	return map[string]any{
		"agent_continue_if_secure_erase_failed": e.ContinueIfSecureEraseFailed,
		"agent_continue_if_ata_erase_failed":    e.ContinueIfSecureEraseFailed, // its name for older agents
		"agent_enable_nvme_secure_erase":        e.NVMe,
		"agent_enable_ata_secure_erase":         e.ATA,
		"agent_erase_skip_read_only":            e.SkipReadOnly,
		"agent_erase_devices_iterations":        e.Iterations,
		"agent_erase_devices_zeroize":           e.Zeroize,
		"disk_erasure_concurrency":              e.Concurrency,
	}
}
