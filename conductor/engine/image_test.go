package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// finder finds every image at one place, unless it is to fail.
type finder struct {
	check, locate error
	asked         int
}

func (f *finder) Check(node.Node, string) error { return f.check }

func (f *finder) Locate(_ context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	f.asked++
	info.URLs, info.RequestAuthorize = []string{"http://here/" + n.UUID}, "dGlja2V0"
	info.OSHashAlgo, info.OSHashValue = "sha256", "00ff"
	return info, f.locate
}

// deployable takes a node to be deployed from where source says.
func deployable(w *world, source string) string {
	w.t.Helper()
	id := w.create("redfish").UUID
	if _, err := w.e.UpdateNode(w.ctx, id, func(n *node.Node) error {
		n.InstanceInfo = map[string]any{"image_source": source, "image_pull_secret": "user:hunter2", "tenant": 0}
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	w.ask(id, node.Manage, node.Manageable)
	w.ask(id, node.Provide, node.Available)
	return id
}

// TestImageIsLocated: the agent is told where to download, and nothing of that
// is kept or shown.
func TestImageIsLocated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := &finder{}
		w.images = f
		w.start()
		defer w.close()
		id := deployable(w, "file:///srv/os.raw")
		if err := w.e.Provision(w.ctx, id, plan.Request{Verb: node.Deploy}); err != nil {
			t.Fatal(err)
		}
		shown, _, err := w.e.Lookup(w.ctx, nil, id, node.Caller{Word: w.word(id)})
		if text := fmt.Sprint(shown); err != nil || strings.Contains(text, "hunter2") ||
			!strings.Contains(text, "image_pull_secret:******") {
			t.Errorf("a lookup shows %s, %v", text, err)
		}
		n := w.settled(id)
		want := map[string]any{
			"id": "os.raw", "urls": []any{"http://here/" + id}, "image_request_authorization": "dGlja2V0",
			"os_hash_algo": "sha256", "os_hash_value": "00ff", "stream_raw_images": true, "node_uuid": id,
			"image_type": "whole-disk", "deploy_boot_mode": n.BootMode,
		}
		if diff := cmp.Diff(want, w.of(id).image); diff != "" || f.asked != 1 {
			t.Errorf("asked %d times, the agent was told (-want +got)\n%s", f.asked, diff)
		}
		history, err := w.e.History(w.ctx, id)
		if text := fmt.Sprint(n.Run, n.DriverInternalInfo, n.LastError, history); err != nil ||
			strings.Contains(text, "dGlja2V0") {
			t.Errorf("the node keeps %s, %v", text, err)
		}
	})
}

// TestImageNotFound: what is known to be wrong is refused before anything is
// changed, and what turns out to be wrong later fails the deploy.
func TestImageNotFound(t *testing.T) {
	for name, c := range map[string]struct {
		images core.Images
		source string
		text   string // of the refusal, or of last_error
		begun  bool
	}{
		"no finder": {nil, "oci://registry/os", "http(s) URLs only", false},
		"not there": {&finder{check: errors.New("no such file")}, "file:///srv/os.raw", "image_source: no such file", false},
		"went away": {&finder{locate: node.Refuse(node.Invalid, "it went away")}, "file:///srv/os.raw",
			"image file:///srv/os.raw: it went away", true},
		"unreadable": {&finder{locate: errors.New("no answer")}, "oci://registry/os",
			"image oci://registry/os: no answer", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				w.images = c.images
				w.start()
				defer w.close()
				id := deployable(w, c.source)
				if c.begun {
					if n := w.ask(id, node.Deploy, node.DeployFailed); !strings.Contains(n.LastError, c.text) {
						t.Errorf("last_error is %q, expected %q", n.LastError, c.text)
					}
					return
				}
				err := w.e.Provision(w.ctx, id, plan.Request{Verb: node.Deploy})
				var refusal *node.Refusal
				if !errors.As(err, &refusal) || refusal.Kind != node.Invalid || !strings.Contains(err.Error(), c.text) {
					t.Errorf("error %v, expected %q", err, c.text)
				}
				valid, err := w.e.Validate(w.ctx, id)
				if err != nil || valid["deploy"] == nil || !strings.Contains(valid["deploy"].Error(), c.text) {
					t.Errorf("validated as %v, %v", valid["deploy"], err)
				}
				if n := w.settled(id); n.ProvisionState != node.Available {
					t.Errorf("the node is in %s", n.ProvisionState)
				}
			})
		})
	}
}
