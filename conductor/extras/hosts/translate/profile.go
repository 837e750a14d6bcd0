package translate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// UnknownProfile is the profile of a host that names none.
const UnknownProfile = "unknown"

// profiles are Metal3's hardware profiles: the root disk of hosts without root device hints. Metal3 no longer uses
// them, except the first. They are kept here so that a host is installed on the same disk as before.
var profiles = map[string]hostapi.RootDeviceHints{
	UnknownProfile: {DeviceName: "/dev/sda"},
	"libvirt":      {DeviceName: "/dev/vda"},
	"dell":         {HCTL: "0:0:0:0"},
	"dell-raid":    {HCTL: "0:2:0:0"},
	"openstack":    {DeviceName: "/dev/vdb"},
	"empty":        {},
}

// HardwareProfile is the profile of a host: the one it was given first, for good.
func (s Source) HardwareProfile() (string, error) {
	name := cmp.Or(s.Host.Status.HardwareProfile, s.Host.Spec.HardwareProfile)
	if name == "" {
		name = UnknownProfile
		if strings.HasPrefix(s.Host.Spec.BMC.Address, "libvirt") {
			name = "libvirt"
		}
	}
	if _, known := profiles[name]; !known {
		known := strings.Join(slices.Sorted(maps.Keys(profiles)), ", ")
		return "",
			fmt.Errorf("spec.hardwareProfile %q is unknown: it is one of %s; say the disk in spec.rootDeviceHints instead", name,
				known)
	}
	return name, nil
}
