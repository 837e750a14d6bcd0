package disk

import (
	"errors"
	"fmt"
	"strings"
)

// ErrProtected is wrapped when a disk belongs to a cluster's shared
// filesystem: erasing it would lose the data of other machines.
var ErrProtected = errors.New("protected from erasing")

// Guard refuses a disk with a partition of GPFS or VMFS, or a gfs2 filesystem (IPA's guard_special_filesystems). An
// operator can switch the guard off; callers then do not call it.
func Guard(d Disk) error {
	parts := formerContents(d)
	for _, p := range parts {
		if kind := protectedType(p.Type); kind != "" {
			return fmt.Errorf("%w: partition %d is of %s, which other machines may share", ErrProtected, p.Number, kind)
		}
	}
	for _, s := range sections(d, parts) {
		for _, sig := range signatures() {
			if sig.name != "gfs2" && !strings.HasPrefix(sig.name, "vmfs") {
				continue
			}
			has, err := s.has(sig)
			if err != nil {
				return err
			}
			if has {
				return fmt.Errorf("%w: %s has a %s filesystem, which other machines may share", ErrProtected, s.name, sig.name)
			}
		}
	}
	return nil
}

// protectedType names a partition type that is refused.
func protectedType(t string) string {
	return map[string]string{typeGPFS: "GPFS", typeVMFS: "VMFS", mbrType(mbrVMFS): "VMFS"}[t]
}
