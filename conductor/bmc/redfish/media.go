package redfish

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// mediaTypes maps device names to the Redfish drives that can serve them: Ironic's names, and the boot devices of
// eject_vmedia. Some blades (Cisco UCS) have a DVD and no CD.
var mediaTypes = map[string][]string{
	"cdrom": {"CD", "DVD"}, "disk": {"USBStick"}, "floppy": {"Floppy"},
	"cd": {"CD"}, "dvd": {"DVD"}, "usb": {"USBStick"},
}

// maxTypes bounds the kinds of media that are reported of a drive; Redfish has four.
const maxTypes = 16

// virtualDrive is VirtualMedia.
type virtualDrive struct {
	Path       string `json:"@odata.id"`
	MediaTypes []string
	Image      *string
	Inserted   bool
	Actions    struct {
		Insert struct {
			Target string `json:"target"`
		} `json:"#VirtualMedia.InsertMedia"`
		Eject struct {
			Target string `json:"target"`
		} `json:"#VirtualMedia.EjectMedia"`
	}
}

// is reports whether the drive is of one of the kinds, or of any for none.
func (d virtualDrive) is(kinds []string) bool {
	return len(kinds) == 0 || slices.ContainsFunc(kinds, func(kind string) bool {
		return slices.ContainsFunc(mediaTypes[kind], func(t string) bool { return slices.Contains(d.MediaTypes, t) })
	})
}

// virtualDrives lists the virtual drives: the system's, or else its managers'. Before
// ComputerSystem v1_13_0 only managers had any. There may be none.
func (s *session) virtualDrives() ([]virtualDrive, error) {
	l, err := s.systemLinks()
	if err != nil {
		return nil, err
	}
	if all, err := s.virtualDrivesIn(l.VirtualMedia.Path); err != nil || len(all) > 0 {
		return all, err
	}
	for _, bmc := range l.Links.ManagedBy {
		var m struct{ VirtualMedia reference }
		if _, err := s.get(bmc.Path, &m); status(err) == http.StatusNotFound {
			continue
		} else if err != nil {
			return nil, err
		}
		if all, err := s.virtualDrivesIn(m.VirtualMedia.Path); err != nil || len(all) > 0 {
			return all, err
		}
	}
	return nil, nil
}

// virtualDrivesIn reads the drives of a collection, none for "". Some BMCs have a link that leads nowhere: a Dell
// XR8620t names virtual media of its system, and only its iDRAC has any.
func (s *session) virtualDrivesIn(path string) ([]virtualDrive, error) {
	paths, err := s.members(path)
	if status(err) == http.StatusNotFound {
		s.log.Info("the BMC names virtual drives that it does not have", "at", path)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []virtualDrive
	for _, path := range paths {
		var d virtualDrive
		if _, err := s.get(path, &d); status(err) == http.StatusNotFound {
			continue
		} else if err != nil {
			return nil, err
		}
		d.Path = path
		all = append(all, d)
	}
	return all, nil
}

// MediaSlots lists the virtual drives and their images.
func (d *Driver) MediaSlots(ctx context.Context, n node.Node) (slots []node.MediaSlot, err error) {
	err = d.call(ctx, n, "list the virtual drives", func(s *session) error {
		all, err := s.virtualDrives()
		for _, v := range all {
			slot := node.MediaSlot{Types: []string{}, Inserted: v.Inserted}
			for _, kind := range v.MediaTypes[:min(len(v.MediaTypes), maxTypes)] {
				slot.Types = append(slot.Types, label(kind))
			}
			if v.Image != nil && *v.Image != "" {
				image := clip(*v.Image, maxValue)
				slot.Image = &image
			}
			slots = append(slots, slot)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return slots, nil
}

// AttachMedium puts an image into the first drive of its kind that takes it. All drives of that kind are emptied
// before: iDRACs show an ejected image for a while, so the image that they show is not reliable.
func (d *Driver) AttachMedium(ctx context.Context, n node.Node, m node.Medium) error {
	return d.call(ctx, n, "attach a virtual "+m.Device, func(s *session) error {
		all, err := s.drivesToUse()
		if err != nil {
			return err
		}
		fit := slices.DeleteFunc(all, func(v virtualDrive) bool { return !v.is([]string{m.Device}) })
		if err := s.ejectAll(fit); err != nil {
			return err
		}
		failed := node.Refuse(node.Invalid, "No suitable virtual media device found: the BMC has no %s for a %s",
			strings.Join(mediaTypes[m.Device], " or "), m.Device)
		for _, v := range fit {
			failed = s.insert(v, m)
			if failed == nil {
				failed = s.awaitInsertion(v)
			}
			if failed == nil || !refusesDrive(failed) {
				return failed
			}
			s.log.Info("a virtual drive does not take an image, the next is tried", "drive", v.Path, "err", describe(failed))
		}
		return failed
	})
}

// awaitInsertion waits until a drive shows the image that it was given. Some BMCs answer before they have it. Some
// answer 200 and never get it (HewlettPackard/python-ilorest-library#7): the BMC cannot reach the URL, or has no
// licence. A drive without a property that shows whether it is empty is believed.
func (s *session) awaitInsertion(v virtualDrive) error {
	for look := 1; ; look++ {
		var now struct {
			Inserted *bool
			Image    *string
		}
		_, err := s.get(v.Path, &now)
		if err == nil && (now.Inserted == nil || *now.Inserted || now.Image != nil && *now.Image != "") {
			return nil
		}
		if look == ejectTries {
			if err != nil {
				return fmt.Errorf("the BMC took the image, and does not report the content of its drive: %w", err)
			}
			return broken("the BMC accepted the image, and %s is empty: look whether the BMC reaches the image's URL, and "+
				"into its log", v.Path)
		}
		if err := s.pause(); err != nil {
			return err
		}
	}
}

// refusesDrive reports an answer after which another drive may do: some are
// for the BMC's own remote console alone.
func refusesDrive(err error) bool {
	return slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed}, status(err))
}

// insert asks for an image with the parameters of DSP0268, and with others where the BMC asks for them. BMCs older than
// the action take a PATCH.
func (s *session) insert(v virtualDrive, m node.Medium) error {
	image, err := url.Parse(m.Image)
	if err != nil {
		return broken("the image URL cannot be read")
	}
	body := map[string]any{"Inserted": true, "WriteProtected": true}
	if image.User != nil {
		password, _ := image.User.Password()
		body["UserName"], body["Password"] = image.User.Username(), password
		image.User = nil // BMCs show the URL to all their users
	}
	body["Image"] = image.String()
	if v.Actions.Insert.Target == "" {
		delete(body, "WriteProtected")
		return unlicensed(s.patch(v.Path, body))
	}
	return unlicensed(s.insertInOtherWords(v.Actions.Insert.Target, body, strings.ToUpper(image.Scheme)))
}

// insertInOtherWords repeats the request as long as the BMC's answers suggest another form. First come the parameters
// that it complains of, then the parameters that some BMCs need besides.
func (s *session) insertInOtherWords(target string, body map[string]any, protocol string) error {
	busy := 0
	var first error
	for {
		_, err := s.ask(http.MethodPost, target, body)
		if err == nil {
			return nil
		}
		if stillBusy(err) {
			if busy++; busy > ejectTries || s.pause() != nil {
				return err
			}
			continue
		}
		if first == nil {
			first = err
		}
		if status(err) != http.StatusBadRequest || !inOtherWords(body, err, protocol) {
			return first
		}
	}
}

// inOtherWords changes the body of an insertion in the way that a refusal suggests, once each;
// false where nothing is left.
func inOtherWords(body map[string]any, refusal error, protocol string) bool {
	said := refusalText(refusal)
	switch {
	case body["UserName"] == nil && (strings.Contains(said, "UserName") || strings.Contains(said, "Password")):
		body["UserName"], body["Password"] = "none", "none" // a DGX asks for them where the server does not
	case body["Inserted"] != nil: // Supermicro X11 and X12 know neither, and want the others
		delete(body, "Inserted")
		delete(body, "WriteProtected")
		body["TransferMethod"], body["TransferProtocolType"] = "Stream", protocol
	case body["TransferMethod"] != nil:
		delete(body, "TransferMethod")
		delete(body, "TransferProtocolType")
	default:
		return false
	}
	return true
}

// DetachMedia empties the drives of the kinds named, all for none.
func (d *Driver) DetachMedia(ctx context.Context, n node.Node, devices []string) error {
	return d.call(ctx, n, "detach virtual media", func(s *session) error { return s.ejectKinds(devices) })
}

// checkEject checks the arguments of the vendor method eject_vmedia, which was
// there before Ironic had virtual media, and has words of its own.
func checkEject(args map[string]any) error {
	device, ok := args["boot_device"].(string)
	if args["boot_device"] == nil || ok &&
		slices.Contains([]string{"", "cd", "dvd", "usb", "floppy"}, strings.ToLower(device)) {
		return nil
	}
	return node.Refuse(node.Invalid, "Boot device %v is not a valid value: it is one of cd, dvd, usb, floppy",
		args["boot_device"])
}

// ejectVendorMedia does eject_vmedia: it empties the drives of one kind, or all.
func ejectVendorMedia(s *session, args map[string]any) (any, error) {
	var kinds []string
	if device, _ := args["boot_device"].(string); device != "" {
		kinds = []string{strings.ToLower(device)}
	}
	return nil, s.ejectKinds(kinds)
}

func (s *session) ejectKinds(kinds []string) error {
	all, err := s.virtualDrives()
	if err != nil {
		return err
	}
	return s.ejectAll(slices.DeleteFunc(all, func(v virtualDrive) bool { return !v.is(kinds) }))
}

// ejectAll empties drives. Empty drives are left alone: some BMCs refuse to eject from them.
func (s *session) ejectAll(drives []virtualDrive) error {
	for _, v := range drives {
		if !v.Inserted {
			continue
		}
		if err := s.eject(v); err != nil {
			return fmt.Errorf("eject %s: %w", v.Path, unlicensed(err))
		}
	}
	return nil
}

// ejectTries is how often a drive is looked at, or asked again, while it ejects: iDRACs
// answer before they are done, with errors of their own to the next request.
const ejectTries = 10

// eject empties a drive and waits until it shows that. A drive that goes on showing its image is believed in the end,
// since the BMC has accepted the ejection.
func (s *session) eject(v virtualDrive) error {
	for try := 1; ; try++ {
		err := s.askToEject(v)
		if err == nil {
			break
		}
		if !stillBusy(err) && status(err) != http.StatusBadRequest && status(err) != http.StatusConflict {
			return err
		}
		if inserted, readErr := s.inserted(v); readErr == nil && !inserted {
			return nil
		}
		if !stillBusy(err) || try == ejectTries || s.pause() != nil {
			return err
		}
	}
	var unread error
	for range ejectTries {
		inserted, err := s.inserted(v)
		if err == nil && !inserted {
			return nil
		}
		unread = err
		if err := s.pause(); err != nil {
			return err
		}
	}
	s.log.Warn("a virtual drive still shows the image that it has ejected, or cannot be read", "drive", v.Path,
		"err", unread)
	return nil
}

func (s *session) askToEject(v virtualDrive) error {
	if v.Actions.Eject.Target == "" {
		return s.patch(v.Path, map[string]any{"Image": nil, "Inserted": false})
	}
	_, err := s.ask(http.MethodPost, v.Actions.Eject.Target, map[string]any{})
	return err
}

func (s *session) inserted(v virtualDrive) (bool, error) {
	var now virtualDrive
	_, err := s.get(v.Path, &now)
	return now.Inserted, err
}

// stillBusy reports an answer of a drive that is at work (storyboard 2008504).
func stillBusy(err error) bool { return status(err) >= http.StatusInternalServerError || passing(err) }
