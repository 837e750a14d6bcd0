package bmctest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// mediaTypes lists the Redfish media types that a drive for each kind of medium may report.
var mediaTypes = map[string][]string{"cdrom": {"CD", "DVD"}, "disk": {"USBStick"}, "floppy": {"Floppy"}}

type mediaLoader interface {
	MediaSlots(ctx context.Context, n node.Node) ([]node.MediaSlot, error)
	AttachMedium(ctx context.Context, n node.Node, m node.Medium) error
	DetachMedia(ctx context.Context, n node.Node, devices []string) error
}

// testMedia fills and empties each of the drives, and repeats the calls that must be harmless twice. A server offers
// the image, since BMCs fetch it.
func testMedia(t testing.TB, d bmc.Driver, n node.Node) {
	l, ok := d.(mediaLoader)
	if !ok {
		t.Skip("the driver has no virtual media")
	}
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("an image"))
	}))
	defer images.Close()
	slots, err := l.MediaSlots(t.Context(), n)
	if err != nil || len(slots) == 0 {
		t.Fatalf("virtual drives are %v (%v), want at least one", slots, err)
	}
	var have []string
	for _, device := range node.MediaDevices() {
		m := node.Medium{Device: device, Image: images.URL + "/" + device + ".img"}
		if !slices.ContainsFunc(slots, func(s node.MediaSlot) bool { return takes(s, device) }) {
			refused(t, "a medium for want of a virtual "+device, l.AttachMedium(t.Context(), n, m))
			continue
		}
		have = append(have, device)
		check(t, l.DetachMedia(t.Context(), n, []string{device})) // of an empty one
		for _, image := range []string{m.Image, m.Image, images.URL + "/other.img"} {
			m.Image = image
			check(t, l.AttachMedium(t.Context(), n, m))
			checkLoaded(t, l, n, map[string]string{device: image})
		}
		others := slices.DeleteFunc(node.MediaDevices(), func(other string) bool { return other == device })
		check(t, l.DetachMedia(t.Context(), n, others))
		checkLoaded(t, l, n, map[string]string{device: m.Image})
		check(t, l.DetachMedia(t.Context(), n, []string{device}))
		checkLoaded(t, l, n, nil)
	}
	refused(t, "a medium that is none", l.AttachMedium(t.Context(), n, node.Medium{Device: "tape", Image: images.URL}))
	loaded := map[string]string{}
	for _, device := range have {
		loaded[device] = images.URL + "/" + device + ".img"
		check(t, l.AttachMedium(t.Context(), n, node.Medium{Device: device, Image: loaded[device]}))
	}
	checkLoaded(t, l, n, loaded)
	for range 2 {
		check(t, l.DetachMedia(t.Context(), n, nil))
		checkLoaded(t, l, n, nil)
	}
}

// takes reports whether a drive is for a kind of medium.
func takes(s node.MediaSlot, device string) bool {
	return slices.ContainsFunc(mediaTypes[device], func(name string) bool { return slices.Contains(s.Types, name) })
}

// checkLoaded compares the images in all drives with those wanted, by device.
func checkLoaded(t testing.TB, l mediaLoader, n node.Node, want map[string]string) {
	t.Helper()
	slots, err := l.MediaSlots(t.Context(), n)
	check(t, err)
	full := 0
	for _, s := range slots {
		if s.Inserted != (s.Image != nil) {
			t.Errorf("drive %v: inserted %v, image %v, want both or none", s.Types, s.Inserted, s.Image)
		}
		if s.Image == nil {
			continue
		}
		full++
		if !slices.ContainsFunc(node.MediaDevices(), func(device string) bool {
			return takes(s, device) && want[device] == *s.Image
		}) {
			t.Errorf("drive %v holds %s, want %v", s.Types, *s.Image, want)
		}
	}
	if full != len(want) {
		t.Errorf("%d drives hold an image, want %d: %v", full, len(want), want)
	}
}
