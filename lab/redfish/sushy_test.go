package redfish

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
	"github.com/google/go-cmp/cmp"
)

// TestSushy runs testdata/walk.py with Debian's Python. Ironic itself uses its package python3-sushy to talk to
// controllers.
func TestSushy(t *testing.T) {
	b := newBench(t)
	b.clock.SetStep(b.config.TaskTime / 10)
	image := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("an image"))
	}))
	defer image.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	walk := exec.CommandContext(ctx, "/usr/bin/python3", "testdata/walk.py", b.URL, redfishtest.User, redfishtest.Password,
		image.URL+"/cd.iso", redfishtest.Images(t))
	out, err := walk.CombinedOutput()
	if err != nil || !bytes.HasSuffix(out, []byte("ok\n")) {
		t.Fatalf("%v (Debian package python3-sushy is needed):\n%s", err, out)
	}
	want := []qemu.ResetType{"On", "ForceRestart", "ForceOff", "Nmi", "On"}
	// one for each change of settings, volumes, firmware and keys
	want = append(want, slices.Repeat([]qemu.ResetType{"ForceRestart"}, 5)...)
	if diff := cmp.Diff(want, b.machine.Pressed()); diff != "" {
		t.Errorf("buttons pressed (-want +got):\n%s", diff)
	}
	if c := b.Counters(); c.Sessions != 0 || c.LoginFailures != 1 {
		t.Errorf("counters %+v", c)
	}
}
