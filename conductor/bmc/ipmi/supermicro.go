package ipmi

import (
	"context"
	"slices"

	"github.com/bougou/go-ipmi/pkg/types"
)

// supermicroIDs are the enterprise numbers that Supermicro's BMCs give as their maker's.
var supermicroIDs = []uint32{10876, 47488}

// supermicroUEFIDisk is Supermicro's selector of the disk on a machine that boots by UEFI (its FAQ 25559; ironic
// drivers/modules/ipmitool.py sends the same byte, 0x24). With IPMI's selector of the hard disk, such a machine looks
// for a legacy disk. Other makers' BMCs read it as remote media.
const supermicroUEFIDisk = types.BootDeviceSelectorForceRemoteMedia

// isSupermicro reports whether Supermicro made the BMC. A BMC that names no maker is taken for another's.
func (s *session) isSupermicro(ctx context.Context) (bool, error) {
	id, err := ask(ctx, s, types.CommandGetDeviceID, s.client.GetDeviceID)
	if err != nil {
		return false, s.optional("maker", err)
	}
	return slices.Contains(supermicroIDs, id.ManufacturerID), nil
}

// selectorOf is the boot device as this BMC calls it.
func (s *session) selectorOf(ctx context.Context, device string, mode string) (types.BootDeviceSelector, error) {
	if device == "disk" && mode == "uefi" {
		if super, err := s.isSupermicro(ctx); super || err != nil {
			return supermicroUEFIDisk, err
		}
	}
	for _, b := range bootDevices {
		if b.device == device {
			return b.selector, nil
		}
	}
	return types.BootDeviceSelectorNoOverride, nil
}

// deviceOf is Ironic's name of the boot device, "" where it has none.
func (s *session) deviceOf(ctx context.Context, flags types.BootOptionParam_BootFlags) (string, error) {
	if flags.BootDeviceSelector == supermicroUEFIDisk {
		super, err := s.isSupermicro(ctx)
		if super {
			return "disk", nil
		}
		return "", err
	}
	for _, b := range bootDevices {
		if b.selector == flags.BootDeviceSelector {
			return b.device, nil
		}
	}
	return "", nil
}
