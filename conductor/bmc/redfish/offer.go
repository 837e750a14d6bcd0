package redfish

import (
	"context"
	"strings"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Offer is the part of a BMC's documents that shows its operations. Texts are "" and lists empty where the BMC shows
// none.
type Offer struct {
	Vendor, Product, Version string // of the service root: Dell, Integrated Dell Remote Access Controller, 1.17.0
	System                   string // path
	Manufacturer, Model      string
	Firmware                 string     // of the manager
	Quirks                   []QuirkRow // that the driver applies

	Resets      []string // ResetType: On, ForceOff
	BootDevices []string // BootSourceOverrideTarget: Pxe, Cd
	BootLasts   []string // BootSourceOverrideEnabled: Once, Continuous
	BootModes   []string // BootSourceOverrideMode: UEFI, Legacy

	BIOSWritable bool   // there is a settings object
	Update       string // path of SimpleUpdate
}

// Offer reads which operations a BMC has. It changes nothing.
func (d *Driver) Offer(ctx context.Context, n node.Node) (o Offer, err error) {
	err = d.call(ctx, n, "read the operations that the BMC offers", func(s *session) error {
		sys, err := s.read()
		if err != nil {
			return err
		}
		if err := s.rootOffer(&o); err != nil {
			return err
		}
		return s.systemOffer(sys, &o)
	})
	if err != nil {
		return Offer{}, err
	}
	return o, nil
}

func (s *session) rootOffer(o *Offer) error {
	var r struct {
		Vendor, Product, RedfishVersion string
		UpdateService                   reference
	}
	if _, err := s.get(defaultRoot, &r); err != nil {
		return noServiceRoot(err)
	}
	o.Vendor, o.Product, o.Version = label(r.Vendor), label(r.Product), label(r.RedfishVersion)
	if r.UpdateService.Path == "" {
		return nil
	}
	var u struct {
		Actions struct {
			Simple struct {
				Target string `json:"target"`
			} `json:"#UpdateService.SimpleUpdate"`
		}
	}
	if _, err := s.get(r.UpdateService.Path, &u); err != nil {
		return s.optional("update service", err)
	}
	o.Update = label(u.Actions.Simple.Target)
	return nil
}

func (s *session) systemOffer(sys *schemas.ComputerSystem, o *Offer) error {
	var doc struct {
		Boot struct {
			Devices []string `json:"BootSourceOverrideTarget@Redfish.AllowableValues"`
			Lasts   []string `json:"BootSourceOverrideEnabled@Redfish.AllowableValues"`
			Modes   []string `json:"BootSourceOverrideMode@Redfish.AllowableValues"`
		}
		Bios reference
	}
	if err := s.reread(sys, &doc); err != nil {
		return err
	}
	o.System, o.Manufacturer, o.Model = label(sys.ODataID), label(sys.Manufacturer), label(sys.Model)
	o.BootDevices, o.BootLasts, o.BootModes = labels(doc.Boot.Devices), labels(doc.Boot.Lasts), labels(doc.Boot.Modes)
	if resets, err := sys.GetSupportedResetTypes(); err == nil {
		for _, r := range resets {
			o.Resets = append(o.Resets, label(string(r)))
		}
	}
	if err := s.managerOffer(sys, o); err != nil {
		return err
	}
	if doc.Bios.Path == "" {
		return nil
	}
	var b bios
	if _, err := s.get(doc.Bios.Path, &b); err != nil {
		return s.optional("BIOS settings", err)
	}
	o.BIOSWritable = b.Settings.SettingsObject.Path != ""
	return nil
}

func (s *session) managerOffer(sys *schemas.ComputerSystem, o *Offer) error {
	m, err := s.managerOf(sys)
	if err != nil {
		return err
	}
	o.Firmware = label(m.FirmwareVersion)
	manufacturer := o.Manufacturer
	if manufacturer == "" {
		manufacturer = label(m.Manufacturer)
	}
	o.Quirks = QuirksOf(s.rows, manufacturer, o.Model, o.Firmware)
	return nil
}

// maxTexts bounds the values that are repeated of one list.
const maxTexts = 64

func labels(all []string) (out []string) {
	for _, t := range all[:min(len(all), maxTexts)] {
		out = append(out, label(t))
	}
	return out
}

// OpenSession is a user's session at a BMC.
type OpenSession struct {
	User   string `json:"user"`
	Client string `json:"client,omitempty"` // address, where the BMC shows it
	Since  string `json:"since,omitempty"`  // as the BMC writes it
}

// maxSessions bounds the sessions that are read; BMCs have six to some sixty.
const maxSessions = 100

// OpenSessions lists the sessions at the BMC, without our own. It changes nothing.
func (d *Driver) OpenSessions(ctx context.Context, n node.Node) (all []OpenSession, err error) {
	err = d.call(ctx, n, "list the sessions", func(s *session) error {
		var r struct{ Links struct{ Sessions reference } }
		if _, err := s.get(defaultRoot, &r); err != nil {
			return err
		}
		paths, err := s.members(r.Links.Sessions.Path)
		if err != nil {
			return err
		}
		own := ""
		if mine, err := s.client.GetSession(); err == nil {
			own = mine.ID
		}
		for _, path := range paths[:min(len(paths), maxSessions)] {
			if own != "" && strings.HasSuffix(strings.TrimSuffix(own, "/"), strings.TrimSuffix(path, "/")) {
				continue
			}
			var one struct{ UserName, ClientOriginIPAddress, CreatedTime string }
			if _, err := s.get(path, &one); err != nil {
				continue // it has ended meanwhile
			}
			all = append(all, OpenSession{label(one.UserName), label(one.ClientOriginIPAddress), label(one.CreatedTime)})
		}
		return nil
	})
	return all, err
}
