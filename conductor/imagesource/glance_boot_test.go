package imagesource_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestGlanceISO: firmware, which has no credentials, reads an ISO of Glance's at a path that cannot be guessed, as long
// as the node names it; whole and in parts, kept or relayed.
func TestGlanceISO(t *testing.T) {
	for name, cache := range map[string]int64{"relayed": 0, "kept": 1 << 20, "no room": 1 << 10} {
		t.Run(name, func(t *testing.T) {
			s := newCloudSite(t, cache)
			s.image["disk_format"] = "iso"
			s.node.InstanceInfo = map[string]any{"boot_iso": imageID}
			at, err := s.ISOURL(t.Context(), s.node, imageID)
			if err != nil || !strings.HasSuffix(at, ".iso") || strings.Contains(at, imageID) {
				t.Fatalf("%s, %v", at, err)
			}
			for span, want := range map[string]string{
				"": string(s.body), "bytes=0-2047": string(s.body[:2048]), "bytes=319990-": string(s.body[319_990:]),
			} {
				if _, body := get(t, at, span); body != want {
					t.Errorf("%q: %d bytes, expected %d", span, len(body), len(want))
				}
			}
			if cache == 1<<20 && s.reads != 1 {
				t.Errorf("Glance was read %d times, expected once", s.reads)
			}
			asked := s.asked
			file := at[strings.LastIndex(at, "/")+1:]
			guess := strings.Replace(at, file, base64.RawURLEncoding.EncodeToString(make([]byte, 32))+".iso", 1)
			if status, _ := get(t, guess, ""); status != 404 || s.asked != asked {
				t.Errorf("a guess: %d, and Glance was asked", status)
			}
			s.node.InstanceInfo["boot_iso"] = "11111111-2222-4333-8444-555555555555"
			if status, _ := get(t, at, ""); status != 404 {
				t.Errorf("of a node that boots another ISO: %d", status)
			}
		})
	}
}

// TestGlanceISORefused: an ISO is judged as an image of a disk is.
func TestGlanceISORefused(t *testing.T) {
	for want, change := range map[string]func(*cloudSite){
		"expected an ISO":             func(s *cloudSite) { s.image["disk_format"] = "qcow2" },
		"nothing was uploaded":        func(s *cloudSite) { s.image["status"] = "queued" },
		"(its checksum is MD5":        func(s *cloudSite) { s.image["os_hash_value"], s.image["os_hash_algo"] = nil, nil },
		"is not for project red":      deployed("red", ""),
		"is not for project owner":    owned("owner", ""),
		"is not for project stranger": owned("blue", "stranger"),
	} {
		s := newCloudSite(t, 0)
		s.image["disk_format"] = "iso"
		change(s)
		_, err := s.ISOURL(t.Context(), s.node, imageID)
		refused(t, err, want)
	}
	s := newCloudSite(t, 0)
	s.image["disk_format"] = "iso"
	owned("red", "green")(s)
	deployed("", imageID)(s) // the whole system asks
	if _, err := s.ISOURL(t.Context(), s.node, imageID); err != nil {
		t.Error(err)
	}
}

// TestGlanceRamdisk: the kernel and the ramdisk of the deploy interface ramdisk are those that the properties of an
// image name.
func TestGlanceRamdisk(t *testing.T) {
	const kernel, ramdisk = "11111111-2222-4333-8444-000000000001", "11111111-2222-4333-8444-000000000002"
	for name, tc := range map[string]struct {
		change func(*cloudSite)
		want   string
	}{
		"both":       {func(s *cloudSite) { s.image["disk_format"], s.image["container_format"] = "ami", "ami" }, ""},
		"no ramdisk": {func(s *cloudSite) { delete(s.image, "ramdisk_id") }, `property ramdisk_id of image ` + imageID},
		"another thing": {func(s *cloudSite) { s.image["kernel_id"] = "http://h/k" },
			"openstack image set --property kernel_id"},
		"away":      {func(s *cloudSite) { s.image["status"] = "deactivated" }, "--activate"},
		"another's": {deployed("red", ""), "is not for project red"},
	} {
		s := newCloudSite(t, 0)
		s.node.Interfaces = map[string]string{"deploy": "ramdisk"}
		s.image["kernel_id"], s.image["ramdisk_id"] = kernel, strings.ToUpper(ramdisk)
		tc.change(s)
		found, err := s.Check(t.Context(), s.node, imageID)
		if tc.want != "" {
			refused(t, err, tc.want)
			continue
		}
		if err != nil || found != (node.ImageFound{Kernel: kernel, Ramdisk: ramdisk}) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}
