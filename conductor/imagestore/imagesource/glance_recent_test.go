package imagesource_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// TestGlanceBootsFromMemory: a machine that boots again and again has Glance asked once a minute, and the files that
// are kept are not read.
func TestGlanceBootsFromMemory(t *testing.T) {
	s := newCloudSite(t, 1<<20)
	s.image["disk_format"], s.image["container_format"], s.image["visibility"] = "raw", "bare", "shared"
	owned("green", "")(s)
	path, err := s.BootFile(t.Context(), s.node, imageID)
	if err != nil {
		t.Fatal(err)
	}
	s.node.InstanceInfo = map[string]any{"boot_iso": imageID}
	at, err := s.ISOURL(t.Context(), s.node, imageID)
	if err != nil {
		t.Fatal(err)
	}
	s.change(func() { s.questions = 0 })
	ended, cancel := context.WithCancel(t.Context()) // with which neither Glance nor a file can be read
	cancel()
	if err := os.Truncate(path, 1<<36); err != nil { // a hole, too large to be read within seconds
		t.Fatal(err)
	}
	began := time.Now()
	for range 3 {
		if again, err := s.BootFile(ended, s.node, imageID); err != nil || again != path {
			t.Errorf("the file is %s, %v, expected %s", again, err, path)
		}
		if again, err := s.ISOURL(ended, s.node, imageID); err != nil || again != at {
			t.Errorf("the ISO is at %s, %v, expected %s", again, err, at)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Fatalf("a kept file is read: it took %s", took)
		}
	}
	s.change(func() {
		if s.questions != 0 {
			t.Errorf("Glance was asked %d times more", s.questions)
		}
		s.image["visibility"] = "private" // shared no more
	})
	refused(t, s.CheckBootFile(t.Context(), s.node, imageID, false), "is not for project green") // a deploy asks anew
	s.change(func() { s.image["status"] = "deactivated" })
	if _, err := s.Check(t.Context(), s.node, imageID); err == nil || !strings.Contains(err.Error(), "for project green") {
		t.Error(err)
	}
}

// TestGlanceISOChecked: a look at an ISO image has none of its bytes come; a deploy does.
func TestGlanceISOChecked(t *testing.T) {
	s := newCloudSite(t, 1<<20)
	s.image["disk_format"] = "iso"
	for want, begin := range []bool{false, true} {
		if err := s.CheckISO(t.Context(), s.node, imageID, begin); err != nil {
			t.Fatal(err)
		}
		s.change(func() {
			if s.asked != want {
				t.Errorf("a check that is to begin (%t) has %d reads begin", begin, s.asked)
			}
		})
	}
	s.change(func() { s.image["disk_format"] = "qcow2" })
	refused(t, s.CheckISO(t.Context(), s.node, imageID, false), "expected an ISO")
}
