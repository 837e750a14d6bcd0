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
			s.node.Interfaces, s.node.ProvisionState = map[string]string{"deploy": "ramdisk"}, node.Active
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
	deployed("", "")(s) // the whole system asks: boot_iso may be the owner's word
	_, err := s.ISOURL(t.Context(), s.node, imageID)
	refused(t, err, "is not for project red")
	refused(t, s.CheckISO(t.Context(), s.node, imageID, true), "is not for project red")
}

// TestGlanceISOEnds: the path of an ISO holds as long as the machine may run from it; another deploy has another path,
// and an image that is taken away is served no more.
func TestGlanceISOEnds(t *testing.T) {
	s := newCloudSite(t, 0)
	s.image["disk_format"] = "iso"
	s.node.InstanceInfo = map[string]any{"boot_iso": imageID}
	since := func(at string) string {
		s.node.DriverInternalInfo = map[string]any{node.InstanceImages: map[string]any{"since": at}}
		path, err := s.ISOURL(t.Context(), s.node, imageID)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	s.node.Interfaces = map[string]string{"deploy": "ramdisk"}
	first := since("2026-01-02T03:04:05Z")
	for state, want := range map[node.State]int{
		node.Active: 200, node.Deploying: 200, node.ServiceWait: 200, node.Deleting: 200, node.Available: 404,
		node.Cleaning: 404, node.Manageable: 404, node.Rescue: 404, node.DeployFailed: 404, node.Error: 404,
	} {
		s.node.ProvisionState = state
		if status, _ := get(t, first, ""); status != want {
			t.Errorf("%s: %d, expected %d", state, status, want)
		}
	}
	s.node.ProvisionState, s.node.Interfaces["deploy"] = node.Active, "direct"
	if status, _ := get(t, first, ""); status != 404 {
		t.Errorf("of a node that boots its disk: %d", status)
	}
	s.node.Interfaces["deploy"] = "ramdisk"
	second := since("2026-01-03T03:04:05Z")
	if status, _ := get(t, first, ""); status != 404 || first == second {
		t.Errorf("the path of an earlier deploy: %d", status)
	}
	owned("red", "")(s)
	if status, body := get(t, second, ""); status != 409 || !strings.Contains(body, "is not for project red") {
		t.Errorf("an image that the node's new owner has not: %d %s", status, body)
	}
}

// TestGlanceRamdiskNamed: an image gives no access to the kernel and ramdisk that its properties name: its project must
// have them, too.
func TestGlanceRamdiskNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		owner      any
		visibility string
		want       string
	}{
		"its own": {"blue", "private", ""}, "shared": {"green", "shared", ""}, "everybody's": {"red", "public", ""},
		"another's": {"red", "private", "is not for project red"}, "not shared": {"red", "shared", "is not for project red"},
		"nobody's": {"", "shared", "is not for project"}, "older release": {nil, "private", ""},
	} {
		s := newCloudSite(t, 1<<20)
		s.image["visibility"] = tc.visibility
		noted := map[string]any{"image": other, "kernel": "another", "ramdisk": imageID}
		if tc.owner != nil {
			noted["owner"] = tc.owner
		}
		s.node.DriverInternalInfo = map[string]any{node.ImageBootFiles: noted}
		for _, begin := range []func(*cloudSite){deployed("", other), func(s *cloudSite) { s.node.Run = nil }} {
			begin(s)
			err := s.CheckBootFile(t.Context(), s.node, imageID, false)
			if refused(t, err, tc.want); t.Failed() {
				t.Fatal(name)
			}
			_, err = s.BootFile(t.Context(), s.node, imageID)
			refused(t, err, tc.want)
		}
		noted["ramdisk"] = other
		refused(t, s.CheckBootFile(t.Context(), s.node, imageID, false), "")
	}
}

// TestGlanceBootsDeployed: the images of an instance are judged at its later boots as in its deploy.
func TestGlanceBootsDeployed(t *testing.T) {
	for name, tc := range map[string]struct {
		noted map[string]any
		want  string
	}{
		"lessee": {map[string]any{"project": "blue", "images": []any{other, imageID}}, ""},
		"another image since": {map[string]any{"project": "blue", "images": []any{other}},
			"is not for project red"},
		"another project":  {map[string]any{"project": "red", "images": []any{imageID}}, "is not for project red"},
		"the whole system": {map[string]any{"project": "", "images": []any{imageID}}, "is not for project red"},
		"older release":    {nil, "is not for project red"},
	} {
		s := newCloudSite(t, 1<<20)
		owned("red", "blue")(s)
		s.node.DriverInternalInfo = map[string]any{node.InstanceImages: tc.noted}
		_, err := s.BootFile(t.Context(), s.node, imageID)
		refused(t, err, tc.want)
		_, err = s.ISOURL(t.Context(), s.node, imageID)
		if refused(t, err, tc.want); t.Failed() {
			t.Fatal(name)
		}
		ran("service", "", "")(s)
		_, err = s.BootFile(t.Context(), s.node, imageID)
		refused(t, err, tc.want)
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
		if err != nil || found != (node.ImageFound{Kernel: kernel, Ramdisk: ramdisk, Owner: "blue"}) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}
