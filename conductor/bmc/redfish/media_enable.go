package redfish

import "net/http"

// amiMedia is the part of AMI's Manager by which remote media are switched on: as long as they are off, the list of its
// virtual drives is empty (MegaRAC; NVIDIA DGX H100, EnableRMediaActionInfo).
type amiMedia struct {
	Oem struct {
		Ami struct {
			VirtualMedia struct{ RMediaStatus string }
		}
	}
	Actions struct {
		Oem struct {
			Enable struct {
				Target string `json:"target"`
			} `json:"#AMIVirtualMedia.EnableRMedia"`
		}
	}
	VirtualMedia reference
}

// drivesToUse lists the virtual drives for an insertion. Where there are none, and the BMC says that they are switched
// off, it switches them on and waits for them.
func (s *session) drivesToUse() ([]virtualDrive, error) {
	all, err := s.virtualDrives()
	if err != nil || len(all) > 0 {
		return all, err
	}
	l, err := s.systemLinks()
	if err != nil {
		return nil, err
	}
	for _, bmc := range l.Links.ManagedBy {
		var m amiMedia
		if _, err := s.get(bmc.Path, &m); err != nil {
			return nil, err
		}
		target := m.Actions.Oem.Enable.Target
		if target == "" || m.Oem.Ami.VirtualMedia.RMediaStatus != "Disabled" {
			continue
		}
		s.log.Info("remote media are switched off on the BMC: switching them on", "manager", bmc.Path)
		if _, err := s.ask(http.MethodPost, target, map[string]any{"RMediaState": "Enable"}); err != nil {
			return nil, unlicensed(err)
		}
		return s.awaitDrives(m.VirtualMedia.Path)
	}
	return nil, nil
}

// awaitDrives waits until a list of virtual drives has some: the BMC starts a service for them.
func (s *session) awaitDrives(path string) (all []virtualDrive, err error) {
	for try := 1; ; try++ {
		if all, err = s.virtualDrivesIn(path); len(all) > 0 || try == ejectTries {
			return all, err
		}
		if err := s.pause(); err != nil {
			return nil, err
		}
	}
}
