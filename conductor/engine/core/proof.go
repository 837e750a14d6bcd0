package core

// Proof is what ramdisks must show before they are believed to run on the
// machine of a node. The zero value is that of a conductor which boots nothing:
// whoever asks first for a node that expects a ramdisk gets its token, as with
// Ironic.
type Proof struct {
	Words  bool   // this conductor answers boot scripts, and each holds the boot's one-time word
	Leases bool   // it alone gives machines their addresses: they call from the ones they were lent
	Key    []byte // makes the words; of a conductor that starts again the same. Random when nil
}
