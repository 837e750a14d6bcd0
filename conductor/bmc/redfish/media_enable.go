package redfish

import (
	"context"
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

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

// drivesToUse lists the virtual drives for an insertion. If there are none because they are switched off, it switches
// them on and waits for them.
func (s *session) drivesToUse() ([]virtualDrive, error) {
	all, err := s.virtualDrives()
	if err != nil || len(all) > 0 {
		return all, err
	}
	m, off, err := s.mediaSwitchedOff()
	if err != nil || !off {
		return nil, err
	}
	s.log.Info("remote media are switched off on the BMC: switching them on")
	if _, err := s.ask(http.MethodPost, m.Actions.Oem.Enable.Target, map[string]any{"RMediaState": "Enable"}); err != nil {
		return nil, unlicensed(err)
	}
	return s.awaitDrives(m.VirtualMedia.Path)
}

// mediaSwitchedOff finds the manager with remote media that are off, and the way to switch them on.
func (s *session) mediaSwitchedOff() (m amiMedia, off bool, err error) {
	l, err := s.systemLinks()
	if err != nil {
		return m, false, err
	}
	for _, bmc := range l.Links.ManagedBy {
		m = amiMedia{}
		if _, err := s.get(bmc.Path, &m); err != nil {
			return m, false, err
		}
		if m.Actions.Oem.Enable.Target != "" && m.Oem.Ami.VirtualMedia.RMediaStatus == "Disabled" {
			return m, true, nil
		}
	}
	return m, false, nil
}

// MediaSwitchedOff reports whether the BMC's remote media are off, so that AttachMedium switches them on. It changes
// nothing.
func (d *Driver) MediaSwitchedOff(ctx context.Context, n node.Node) (off bool, err error) {
	err = d.call(ctx, n, "look whether remote media are switched off", func(s *session) (err error) {
		_, off, err = s.mediaSwitchedOff()
		return err
	})
	return off, err
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
