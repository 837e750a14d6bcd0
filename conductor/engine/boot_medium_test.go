package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// media names an image for each boot.
type media struct{}

func (media) MediumURL(_ context.Context, n node.Node) (string, error) {
	return fmt.Sprintf("http://media/%s-%d.iso", n.UUID, n.Run.Index), nil
}

// mediumWorld has a conductor that serves boot media.
func mediumWorld(t *testing.T, seed uint64) *world {
	w := newWorld(t, seed)
	w.settings.BootMedia, w.media = true, media{}
	return w
}

// byMedium makes a manageable node that boots from its virtual drive.
func (w *world) byMedium() node.Node {
	w.t.Helper()
	n, err := w.e.CreateNode(w.ctx, node.Node{Driver: "redfish", Interfaces: map[string]string{"deploy": "direct",
		"inspect": "agent", "rescue": "agent", "boot": "redfish-virtual-media"}, InstanceInfo: map[string]any{
		"image_source": "http://images/os.raw", "image_checksum": noSum, "tenant": 0}})
	w.must(err)
	_, err = w.e.CreatePort(w.ctx, node.Port{NodeUUID: n.UUID, Address: macOf(n.UUID), PXEEnabled: true})
	w.must(err)
	return w.ask(n.UUID, node.Manage, node.Manageable)
}

// inDrive is the image in the virtual drive of a node.
func (w *world) inDrive(uuid string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.of(uuid).medium
}

// inserted is how often a medium was inserted.
func (w *world) inserted(uuid string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.of(uuid).inserted
}

// TestMediumLife: inspection, cleaning, deployment, service and rescue each boot from the drive, and leave it empty.
func TestMediumLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := mediumWorld(t, 1)
		w.start()
		defer w.close()
		n := w.byMedium()
		for _, step := range []struct {
			request plan.Request
			want    node.State
		}{
			{plan.Request{Verb: node.Inspect}, node.Manageable},
			{plan.Request{Verb: node.Provide}, node.Available},
			{plan.Request{Verb: node.Deploy}, node.Active},
			{servicing("burnin_cpu"), node.Active},
			{plan.Request{Verb: node.RescueIt, RescuePassword: "open, please"}, node.Rescue},
			{plan.Request{Verb: node.Unrescue}, node.Active},
		} {
			before := w.inserted(n.UUID)
			w.must(w.e.Provision(w.ctx, n.UUID, step.request))
			if n = w.settled(n.UUID); n.ProvisionState != step.want {
				t.Fatalf("%s: node is %q: %s", step.request.Verb, n.ProvisionState, n.LastError)
			}
			boots := w.inserted(n.UUID) - before
			if want := step.request.Verb != node.Unrescue; want != (boots > 0) {
				t.Errorf("%s: %d insertions", step.request.Verb, boots)
			}
			if image := w.inDrive(n.UUID); image != "" || plan.MediumOf(n) != "" {
				t.Errorf("%s: the drive has %q, noted is %q", step.request.Verb, image, plan.MediumOf(n))
			}
		}
	})
}

// TestMediumEjected: the drive is emptied while the machine boots. It is started again, with the medium.
func TestMediumEjected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := mediumWorld(t, 1)
		w.start()
		defer w.close()
		n := w.byMedium()
		w.must(w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Provide}))
		for w.inserted(n.UUID) == 0 {
			time.Sleep(100 * time.Millisecond)
		}
		w.mu.Lock()
		w.of(n.UUID).medium = ""
		w.mu.Unlock()
		n = w.settled(n.UUID)
		if n.ProvisionState != node.Available || w.inserted(n.UUID) != 2 || w.inDrive(n.UUID) != "" ||
			told(t, w, n.UUID, "it is started again, try 2 of 3") != 1 {
			t.Errorf("node is %q after %d insertions (%s), the drive has %q", n.ProvisionState, w.inserted(n.UUID),
				n.LastError, w.inDrive(n.UUID))
		}
	})
}

// TestMediumAfterFailure: a run that ends before the agent calls leaves the drive empty all the same.
func TestMediumAfterFailure(t *testing.T) {
	for name, end := range map[string]func(w *world, uuid string){
		"silence": func(*world, string) {},
		"abort": func(w *world, uuid string) {
			time.Sleep(time.Minute)
			w.must(w.e.Provision(w.ctx, uuid, plan.Request{Verb: node.Abort}))
		},
		"a crash, and silence": func(w *world, _ string) {
			time.Sleep(time.Minute)
			w.crash()
			w.start()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := mediumWorld(t, 1)
			w.settings.BootRetries = 0
			w.start()
			defer w.close()
			n := w.byMedium()
			w.mute[n.UUID] = true
			w.must(w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Provide}))
			end(w, n.UUID)
			n = w.settled(n.UUID)
			if n.ProvisionState != node.CleanFailed || w.inserted(n.UUID) != 1 {
				t.Errorf("%s: node is %q after %d insertions", name, n.ProvisionState, w.inserted(n.UUID))
			}
			if image := w.inDrive(n.UUID); image != "" || plan.MediumOf(n) != "" {
				t.Errorf("%s: the drive has %q, noted is %q", name, image, plan.MediumOf(n))
			}
		})
	}
}

// TestMediumCrash ends the conductor at one moment after the other: the node reaches its goal, and the drive is empty.
func TestMediumCrash(t *testing.T) {
	for i := range 16 {
		synctest.Test(t, func(t *testing.T) {
			w := mediumWorld(t, uint64(i))
			w.start()
			n := w.byMedium()
			w.must(w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Provide}))
			time.Sleep(time.Duration(i) * 470 * time.Millisecond)
			w.crash()
			time.Sleep(2 * time.Second)
			w.start()
			defer w.close()
			if n = w.settled(n.UUID); n.ProvisionState != node.Available || w.inDrive(n.UUID) != "" {
				t.Errorf("crash %d: node is %q (%s), the drive has %q", i, n.ProvisionState, n.LastError, w.inDrive(n.UUID))
			}
		})
	}
}

// oddDrive is a BMC with a faulty virtual drive.
type oddDrive struct {
	*world
	shows string // the image it reports, independent of the inserted one
	stuck bool   // it does not eject
}

func (o oddDrive) MediaSlots(context.Context, node.Node) ([]node.MediaSlot, error) {
	return []node.MediaSlot{{Types: []string{"CD"}, Inserted: o.shows != "", Image: &o.shows}}, nil
}

func (o oddDrive) DetachMedia(ctx context.Context, n node.Node, devices []string) error {
	if o.stuck {
		return node.Refuse(node.Invalid, "the drive is in use")
	}
	return o.world.DetachMedia(ctx, n, devices)
}

// TestOddDrives: the history names a BMC that keeps the old medium, and a BMC that does not eject. The run goes on.
func TestOddDrives(t *testing.T) {
	for want, drive := range map[string]oddDrive{
		"it may have kept an older one":               {shows: "http://images/old.iso"},
		"still shows http://images/old.iso":           {shows: "http://images/old.iso"},
		"shows no virtual CD drive with an image":     {},
		"the BMC does not eject the boot medium: the": {stuck: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := mediumWorld(t, 1)
			w.drive = func(core.BMC) core.BMC {
				drive.world = w
				return drive
			}
			w.start()
			defer w.close()
			n := w.byMedium()
			w.ask(n.UUID, node.Provide, node.Available)
			if told(t, w, n.UUID, want) == 0 {
				t.Errorf("the history does not say %q", want)
			}
		})
	}
}

// TestNoMediaServed: a conductor without boot media ends the run before the machine is switched on.
func TestNoMediaServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		n := w.byMedium()
		n = w.ask(n.UUID, node.Provide, node.CleanFailed)
		if !strings.Contains(n.LastError, "serves no boot media") || n.PowerState == node.PowerOn ||
			w.inserted(n.UUID) > 0 {
			t.Errorf("%s; the machine is %s, after %d insertions", n.LastError, n.PowerState, w.inserted(n.UUID))
		}
	})
}
