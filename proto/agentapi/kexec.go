package agentapi

// KexecCommand has the agent start the installed system without the firmware. It is
// Ferrite's own: ironic-python-agent answers that it does not know it.
//
// The agent answers once kernel, initrd and command line are loaded, and leaves the machine
// to them afterwards: it is not heard of again. If that last step fails, the agent stays and
// its list of commands has this one as failed. A failure changes nothing.
const KexecCommand = "standby.kexec"

// KexecParams are the parameters of KexecCommand.
type KexecParams struct {
	// TargetBootMode is uefi or bios, "" for whichever the machine runs in. The agent
	// refuses a mode that the machine does not run in: only its firmware can change it.
	TargetBootMode string `json:"target_boot_mode"`
}

// Kexec is the result of KexecCommand: the boot entry that was loaded.
type Kexec struct {
	Source      string   `json:"source"`           // uki, bls, grub or syslinux
	Entry       string   `json:"entry"`            // its title, or its file's name
	Kernel      string   `json:"kernel"`           // path on its partition
	Initrd      []string `json:"initrd,omitempty"` // paths likewise, in the order of loading
	CommandLine string   `json:"command_line"`
}
