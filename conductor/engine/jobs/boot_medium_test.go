package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// media names an image for each boot.
type media struct{}

func (media) MediumURL(_ context.Context, n node.Node) (string, error) {
	return fmt.Sprintf("http://media/%s-%d.iso", n.UUID, n.Run.Index), nil
}

func (media) SettingsURL(_ context.Context, n node.Node) (string, error) {
	return fmt.Sprintf("http://media/%s-%d.img", n.UUID, n.Run.Index), nil
}

// mediumWorld has a conductor that serves boot media.
func mediumWorld(t *testing.T, seed uint64) *enginetest.World {
	w := enginetest.New(t, seed)
	w.Settings.BootMedia, w.Media = true, media{}
	return w
}

// byMedium makes a manageable node that boots from its virtual drive.
func byMedium(w *enginetest.World) node.Node {
	w.T.Helper()
	n, err := w.E.CreateNode(w.Ctx, node.Node{Driver: "redfish", Interfaces: map[string]string{"deploy": "direct",
		"inspect": "agent", "rescue": "agent", "boot": "redfish-virtual-media"}, InstanceInfo: enginetest.Instance(0)})
	w.Must(err)
	_, err = w.E.CreatePort(w.Ctx, node.Port{NodeUUID: n.UUID, Address: enginetest.MACOf(n.UUID), PXEEnabled: true})
	w.Must(err)
	return w.Ask(n.UUID, node.Manage, node.Manageable)
}

// inDrive is the image in the virtual drive of a node.
func inDrive(w *enginetest.World, uuid string) string {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.Machine(uuid).Medium
}

// inserted is how often a medium was inserted.
func inserted(w *enginetest.World, uuid string) int {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.Machine(uuid).Inserted
}

// TestMediumLife: inspection, cleaning, deployment, service and rescue each boot from the drive, and leave it empty.
func TestMediumLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := mediumWorld(t, 1)
		w.Start()
		defer w.Close()
		n := byMedium(w)
		for _, step := range []struct {
			request plan.Request
			want    node.State
		}{
			{plan.Request{Verb: node.Inspect}, node.Manageable},
			{plan.Request{Verb: node.Provide}, node.Available},
			{plan.Request{Verb: node.Deploy}, node.Active},
			{enginetest.Servicing("burnin_cpu"), node.Active},
			{plan.Request{Verb: node.RescueIt, RescuePassword: "open, please"}, node.Rescue},
			{plan.Request{Verb: node.Unrescue}, node.Active},
		} {
			before := inserted(w, n.UUID)
			w.Must(w.E.Provision(w.Ctx, n.UUID, step.request))
			if n = w.Settled(n.UUID); n.ProvisionState != step.want {
				t.Fatalf("%s: node is %q: %s", step.request.Verb, n.ProvisionState, n.LastError)
			}
			boots := inserted(w, n.UUID) - before
			if want := step.request.Verb != node.Unrescue; want != (boots > 0) {
				t.Errorf("%s: %d insertions", step.request.Verb, boots)
			}
			if image := inDrive(w, n.UUID); image != "" || plan.MediumOf(n) != "" {
				t.Errorf("%s: the drive has %q, noted is %q", step.request.Verb, image, plan.MediumOf(n))
			}
		}
	})
}

// TestMediumEjected: the drive is emptied while the machine boots. It is started again, with the medium.
func TestMediumEjected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := mediumWorld(t, 1)
		w.Start()
		defer w.Close()
		n := byMedium(w)
		w.Must(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Provide}))
		for inserted(w, n.UUID) == 0 {
			time.Sleep(100 * time.Millisecond)
		}
		w.Mu.Lock()
		w.Machine(n.UUID).Medium = ""
		w.Mu.Unlock()
		n = w.Settled(n.UUID)
		if n.ProvisionState != node.Available || inserted(w, n.UUID) != 2 || inDrive(w, n.UUID) != "" ||
			w.TimesNoted(n.UUID, "it is started again, try 2 of 3") != 1 {
			t.Errorf("node is %q after %d insertions (%s), the drive has %q", n.ProvisionState, inserted(w, n.UUID),
				n.LastError, inDrive(w, n.UUID))
		}
	})
}

// TestMediumAfterFailure: a run that ends before the agent calls leaves the drive empty all the same.
func TestMediumAfterFailure(t *testing.T) {
	for name, end := range map[string]func(w *enginetest.World, uuid string){
		"silence": func(*enginetest.World, string) {},
		"abort": func(w *enginetest.World, uuid string) {
			time.Sleep(time.Minute)
			w.Must(w.E.Provision(w.Ctx, uuid, plan.Request{Verb: node.Abort}))
		},
		"a crash, and silence": func(w *enginetest.World, _ string) {
			time.Sleep(time.Minute)
			w.Crash()
			w.Start()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := mediumWorld(t, 1)
			w.Settings.BootRetries = 0
			w.Start()
			defer w.Close()
			n := byMedium(w)
			w.Mute[n.UUID] = true
			w.Must(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Provide}))
			end(w, n.UUID)
			n = w.Settled(n.UUID)
			if n.ProvisionState != node.CleanFailed || inserted(w, n.UUID) != 1 {
				t.Errorf("%s: node is %q after %d insertions", name, n.ProvisionState, inserted(w, n.UUID))
			}
			if image := inDrive(w, n.UUID); image != "" || plan.MediumOf(n) != "" {
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
			w.Start()
			n := byMedium(w)
			w.Must(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Provide}))
			time.Sleep(time.Duration(i) * 470 * time.Millisecond)
			w.Crash()
			time.Sleep(2 * time.Second)
			w.Start()
			defer w.Close()
			if n = w.Settled(n.UUID); n.ProvisionState != node.Available || inDrive(w, n.UUID) != "" {
				t.Errorf("crash %d: node is %q (%s), the drive has %q", i, n.ProvisionState, n.LastError, inDrive(w, n.UUID))
			}
		})
	}
}

// oddDrive is a BMC with a faulty virtual drive.
type oddDrive struct {
	*enginetest.World
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
	return o.World.DetachMedia(ctx, n, devices)
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
			w.Drive = func(core.BMC) core.BMC {
				drive.World = w
				return drive
			}
			w.Start()
			defer w.Close()
			n := byMedium(w)
			w.Ask(n.UUID, node.Provide, node.Available)
			if w.TimesNoted(n.UUID, want) == 0 {
				t.Errorf("the history does not say %q", want)
			}
		})
	}
}

// TestNoMediaServed: a conductor without boot media ends the run before the machine is switched on.
func TestNoMediaServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		n := byMedium(w)
		n = w.Ask(n.UUID, node.Provide, node.CleanFailed)
		if !strings.Contains(n.LastError, "serves no boot media") || n.PowerState == node.PowerOn ||
			inserted(w, n.UUID) > 0 {
			t.Errorf("%s; the machine is %s, after %d insertions", n.LastError, n.PowerState, inserted(w, n.UUID))
		}
	})
}
