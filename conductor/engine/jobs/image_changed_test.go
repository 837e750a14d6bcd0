package jobs_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// turncoat is a finder that has another image written during its look.
type turncoat struct {
	*finder
	write func()
}

func (f turncoat) Check(ctx context.Context, n node.Node, source string) (node.ImageFound, error) {
	f.write()
	return f.finder.Check(ctx, n, source)
}

// TestImageChangedWhileLooked: a deploy gets the image that was judged for it, or none.
func TestImageChangedWhileLooked(t *testing.T) {
	const image, another = "7ed467d4-83b0-41a7-bc15-c404edccff98", "11111111-2222-4333-8444-000000000001"
	for name, info := range map[string]map[string]any{
		"another":       {"image_source": another},
		"not of Glance": {"image_source": "http://h/os.raw", "image_checksum": enginetest.NoSum},
		"other fields":  {"image_source": "glance://" + strings.ToUpper(image), "note": "mine"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := enginetest.New(t, 1)
			var id string
			w.Images = turncoat{&finder{}, func() {
				if _, err := w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
					n.InstanceInfo = info
					return nil
				}); err != nil {
					t.Error(err)
				}
			}}
			w.Start()
			defer w.Close()
			id = deployable(w, image)
			err := w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Deploy})
			if name == "other fields" {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				w.Settled(id)
				return
			}
			if n := w.Settled(id); err == nil || !strings.Contains(err.Error(), "repeat the request") ||
				n.ProvisionState != node.Available {
				t.Errorf("%s: %v, the node is %s", name, err, n.ProvisionState)
			}
		})
	}
}

// TestInstanceImagesNoted: a node keeps the project for which the images of its instance were judged, until the
// instance ends. A rebuild by another project keeps that project instead.
func TestInstanceImagesNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const iso = "7ed467d4-83b0-41a7-bc15-c404edccff98"
		w := enginetest.New(t, 1)
		w.Images = &finder{}
		w.Start()
		defer w.Close()
		id := deployable(w, iso)
		if _, err := w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
			n.Interfaces["deploy"], n.InstanceInfo = "ramdisk", map[string]any{"boot_iso": "glance://" + iso}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, step := range []struct {
			verb    node.Event
			project string
		}{{node.Deploy, "blue"}, {node.Rebuild, ""}, {node.Rebuild, "red"}} {
			w.Must(w.E.Provision(w.Ctx, id, plan.Request{Verb: step.verb, Project: step.project}))
			n := w.Settled(id)
			if n.ProvisionState != node.Active || n.ImageDeployer(iso) != step.project || seen[n.ImagesSince()] {
				t.Errorf("%s for %q: %s %s, %v", step.verb, step.project, n.ProvisionState, n.LastError, n.DriverInternalInfo)
			}
			seen[n.ImagesSince()] = true
		}
		w.Ask(id, node.Delete, node.Available)
		if diff := cmp.Diff(nil, w.Settled(id).DriverInternalInfo[node.InstanceImages]); diff != "" {
			t.Errorf("after the end (-want +got)\n%s", diff)
		}
	})
}
