package imagesource_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestGlanceBreaks: connections that break in the middle are taken up where they were, with a new token where the first
// has ended meanwhile.
func TestGlanceBreaks(t *testing.T) {
	for name, cache := range map[string]int64{"relayed": 0, "kept": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			s := newCloudSite(t, cache)
			s.change(func() { s.breaks = 150_000 })
			at := s.locate(t)
			s.change(func() { s.token = "second" })
			if status, body := get(t, at, ""); status != 200 || body != string(s.body) {
				t.Errorf("%d, %d bytes, expected %d", status, len(body), len(s.body))
			}
			if s.reads != 1 || s.p.Token() != "second" {
				t.Errorf("Glance was read %d times from the start, with the token %s", s.reads, s.p.Token())
			}
		})
	}
}

// TestGlanceLies: if Glance's bytes differ from its description, the agent or the operator gets an error.
func TestGlanceLies(t *testing.T) {
	whole := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	for name, tc := range map[string]struct {
		lie     func(*catalogue)
		relayed string // in the answer to the agent; "" where its own look at the hash finds it
		kept    string // in the error of the deploy, or of the transfer
	}{
		"shorter": {lie: func(c *catalogue) { c.body = whole[:1000] }, relayed: "it has 1000 bytes",
			kept: "expected 320000"},
		"longer": {lie: func(c *catalogue) { c.body = append(whole, 'x') }, relayed: "it has 320001 bytes",
			kept: "expected 320000"},
		"empty": {lie: func(c *catalogue) { c.body = nil }, relayed: "expected 320000", kept: "empty"},
		"wrong hash": {lie: func(c *catalogue) { c.body = bytes.Repeat([]byte("x"), len(whole)) },
			kept: "another one than was asked for"},
		"mute": {lie: func(c *catalogue) { c.mute = true }, relayed: "too few bytes within"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newCloudSite(t, 0)
			s.change(func() { tc.lie(s.catalogue) })
			asked, err := s.Locate(t.Context(), s.node, textInfo(s.node))
			if err != nil {
				t.Fatal(err)
			}
			status, body := get(t, asked.URLs[0], "")
			if tc.relayed == "" {
				if status != 200 || asked.OSHashValue != sha2(whole) {
					t.Errorf("%d, hash %s", status, asked.OSHashValue)
				}
			} else if status < 400 || !strings.Contains(body, tc.relayed) {
				t.Errorf("%d %q, expected an error with %q", status, body, tc.relayed)
			}
			if tc.kept == "" {
				return
			}
			s = newCloudSite(t, 1<<20)
			s.change(func() { tc.lie(s.catalogue) })
			if asked, err = s.Locate(t.Context(), s.node, textInfo(s.node)); err == nil {
				if _, err := read(t, asked.URLs[0]); err == nil {
					t.Error("all bytes were given out")
				}
				_, err = s.Locate(t.Context(), s.node, textInfo(s.node))
			}
			if err == nil || !strings.Contains(err.Error(), tc.kept) {
				t.Errorf("%v, expected %q", err, tc.kept)
			}
		})
	}
}

// TestGlanceShrinks: an image that becomes shorter while it is read breaks off. The answer to the next request has the
// reason.
func TestGlanceShrinks(t *testing.T) {
	s := newCloudSite(t, 0)
	s.change(func() { s.breaks = 150_000 })
	at := s.locate(t)
	resp, err := http.Get(at) //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.CopyN(io.Discard, resp.Body, 1000); err != nil {
		t.Fatal(err)
	}
	s.change(func() { s.body = s.body[:160_000] })
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("%d bytes came, and no error", n)
	}
	if status, body := get(t, at, "bytes=200000-"); status < 400 || !strings.Contains(body, "shorter than it said") {
		t.Errorf("%d %q", status, body)
	}
	if status, body := get(t, at, "bytes=100-300"); status < 400 || !strings.Contains(body, "expected 320000") {
		t.Errorf("a part that is there: %d %q", status, body)
	}
}

// TestGlanceBootFile: a kernel of Glance's is a file of this host, once all of it has come and was found right.
func TestGlanceBootFile(t *testing.T) {
	s := newCloudSite(t, 1<<20)
	s.image["disk_format"], s.image["container_format"] = "aki", "aki"
	for want, begin := range []bool{false, true} {
		if err := s.CheckBootFile(t.Context(), s.node, imageID, begin); err != nil {
			t.Fatal(err)
		}
		s.change(func() {
			if s.asked != want {
				t.Errorf("a check that is to begin (%t) has %d reads begin", begin, s.asked)
			}
		})
	}
	path, err := s.BootFile(t.Context(), s.node, imageID)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := os.ReadFile(path); err != nil || !bytes.Equal(body, s.body) {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	owned("red", "")(s)
	deployed("", other)(s) // Nova asks for an image; the kernel was named by the owner
	refused(t, s.CheckBootFile(t.Context(), s.node, imageID, true), "is not for project red")
	deployed("blue", other)(s)
	if err := s.CheckBootFile(t.Context(), s.node, imageID, true); err != nil {
		t.Error(err)
	}
	_, err = s.Check(t.Context(), s.node, imageID)
	refused(t, err, "expected raw or qcow2")
	s.image["disk_format"], s.image["container_format"] = "qcow2", "bare"
	refused(t, s.CheckBootFile(t.Context(), s.node, imageID, true), "expected a kernel or a ramdisk")
	s = newCloudSite(t, 0)
	refused(t, s.CheckBootFile(t.Context(), s.node, imageID, true), "--image-cache")
}

// textInfo describes a node's image to an agent, before the image is found.
func textInfo(n node.Node) agentapi.ImageInfo {
	i := info(imageID)
	i.DiskFormat = ""
	i.Checksum, _ = n.InstanceInfo["image_checksum"].(string)
	i.OSHashAlgo, _ = n.InstanceInfo["image_os_hash_algo"].(string)
	i.OSHashValue, _ = n.InstanceInfo["image_os_hash_value"].(string)
	return i
}

// read reads all of an image that is at a URL.
func read(t *testing.T, rawURL string) ([]byte, error) {
	t.Helper()
	resp, err := http.Get(rawURL) //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK { // the transfer had failed already
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return body, err
}
