package core

// RamdiskAuth is how a ramdisk shows that it runs on the machine of a node. The zero value is for a
// conductor that boots no machines: the first caller for a node that expects a ramdisk gets its token, as in Ironic.
type RamdiskAuth struct {
	Words  bool // this conductor answers boot scripts, and each holds the boot's one-time token
	Leases bool // it alone gives machines their addresses: they call from the ones they were lent
	// AnyAtRest lets any agent look up the node of a machine at rest, where boots have no words.
	AnyAtRest bool
	Key       []byte // makes the words; of a conductor that starts again the same. Random when nil
}
