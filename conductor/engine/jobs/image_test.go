package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// finder finds every image at one place, unless it is to fail.
type finder struct {
	check, locate error
	hangs         bool  // as a server that sends a byte now and then
	size          int64 // of the image on a disk
	cached        bool  // a cache has it
	asked         int
	deploys       []string // project and image of the deploys that images were looked for
	names         node.ImageFound
	files         []string // kernels and ramdisks that were looked for, with the same
	begun         []bool   // whether boot files and ISO images were to begin to come
}

func (f *finder) note(n node.Node) {
	if n.Run != nil {
		f.deploys = append(f.deploys, n.Run.Activity+" "+n.Run.Project+" "+n.Run.Image)
	}
}

func (f *finder) Check(_ context.Context, n node.Node, _ string) (node.ImageFound, error) {
	f.note(n)
	if f.names != (node.ImageFound{}) {
		return f.names, f.check
	}
	return node.ImageFound{Size: f.size}, f.check
}

func (f *finder) ISOURL(context.Context, node.Node, string) (string, error) {
	return "http://here/iso", f.check
}

func (f *finder) CheckISO(_ context.Context, n node.Node, source string, begin bool) error {
	f.begun = append(f.begun, begin)
	return f.check
}

func (f *finder) CheckBootFile(_ context.Context, n node.Node, source string, begin bool) error {
	f.files, f.begun = append(f.files, source+" for "+n.Run.Project), append(f.begun, begin)
	return f.check
}

func (f *finder) BootFile(context.Context, node.Node, string) (string, error) {
	return "/here/file", f.check
}

func (f *finder) Through(_ context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	if f.cached {
		f.asked++
		info.URLs, info.Checksum = []string{"http://cache/" + n.UUID}, ""
		info.OSHashAlgo, info.OSHashValue = "sha256", enginetest.NoSum
	}
	return info, f.locate
}

func (f *finder) Locate(ctx context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	f.asked++
	if f.hangs {
		<-ctx.Done()
		return info, ctx.Err()
	}
	f.note(n)
	info.URLs, info.RequestAuthorize = []string{"http://here/" + n.UUID}, "dGlja2V0"
	info.OSHashAlgo, info.OSHashValue = "sha256", "00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff"
	return info, f.locate
}

// deployable takes a node to be deployed from where source says.
func deployable(w *enginetest.World, source string) string {
	w.T.Helper()
	id := w.Create("redfish").UUID
	if _, err := w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
		n.InstanceInfo = map[string]any{"image_source": source, "image_pull_secret": "user:hunter2", "tenant": 0}
		return nil
	}); err != nil {
		w.T.Fatal(err)
	}
	w.Ask(id, node.Manage, node.Manageable)
	w.Ask(id, node.Provide, node.Available)
	return id
}

// TestImageIsLocated: the agent gets the download location, which is neither kept nor shown.
func TestImageIsLocated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		f := &finder{}
		w.Images = f
		w.Start()
		defer w.Close()
		id := deployable(w, "file:///srv/os.raw")
		if err := w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Deploy}); err != nil {
			t.Fatal(err)
		}
		shown, _, err := w.E.Lookup(w.Ctx, nil, id, node.Caller{Word: w.Word(id)})
		if text := fmt.Sprint(shown); err != nil || strings.Contains(text, "hunter2") ||
			!strings.Contains(text, "image_pull_secret:******") {
			t.Errorf("a lookup shows %s, %v", text, err)
		}
		n := w.Settled(id)
		want := map[string]any{
			"id": "os.raw", "urls": []any{"http://here/" + id}, "image_request_authorization": "dGlja2V0",
			"os_hash_algo": "sha256", "os_hash_value": "00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff",
			"stream_raw_images": true, "node_uuid": id,
			"image_type": "whole-disk", "deploy_boot_mode": n.BootMode,
		}
		if diff := cmp.Diff(want, w.Machine(id).Image); diff != "" || f.asked != 1 {
			t.Errorf("asked %d times, the agent was told (-want +got)\n%s", f.asked, diff)
		}
		history, err := w.E.History(w.Ctx, id)
		if text := fmt.Sprint(n.Run, n.DriverInternalInfo, n.LastError, history); err != nil ||
			strings.Contains(text, "dGlja2V0") {
			t.Errorf("the node keeps %s, %v", text, err)
		}
	})
}

// TestEmptyConfigDrive: an empty config drive is none, as Ironic has it.
func TestEmptyConfigDrive(t *testing.T) {
	for _, drive := range []any{"", nil, "http://drives/1"} {
		synctest.Test(t, func(t *testing.T) {
			w := enginetest.New(t, 1)
			w.Images = &finder{}
			w.Start()
			defer w.Close()
			id := deployable(w, "file:///srv/os.raw")
			_, err := w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
				n.InstanceInfo["configdrive"] = drive
				return nil
			})
			w.Must(err)
			w.Ask(id, node.Deploy, node.Active)
			want := drive
			if drive == "" {
				want = nil
			}
			if got := w.Machine(id).Drive; got != want {
				t.Errorf("of %#v the agent is told %#v", drive, got)
			}
		})
	}
}

// TestImageIsForWhoAsks: images are looked for on behalf of the project that asks, from the check to the agent.
func TestImageIsForWhoAsks(t *testing.T) {
	const image = "7ed467d4-83b0-41a7-bc15-c404edccff98"
	for _, project := range []string{"", "blue"} {
		synctest.Test(t, func(t *testing.T) {
			w := enginetest.New(t, 1)
			f := &finder{}
			w.Images = f
			w.Start()
			defer w.Close()
			id := deployable(w, "glance://"+image)
			if _, err := w.E.Validate(core.WithUser(w.Ctx, "ada", "red"), id); err != nil {
				t.Fatal(err)
			}
			for _, v := range []node.Event{node.Deploy, node.Rebuild} {
				w.Must(w.E.Provision(w.Ctx, id, plan.Request{Verb: v, Project: project}))
				if n := w.Settled(id); n.ProvisionState != node.Active {
					t.Fatalf("the node is %s: %s", n.ProvisionState, n.LastError)
				}
			}
			for i, got := range f.deploys {
				if want := "deploy " + map[bool]string{true: "red", false: project}[i == 0] + " " + image; got != want {
					t.Errorf("%d: looked for the %q, expected %q", i, got, want)
				}
			}
			if len(f.deploys) != 5 {
				t.Errorf("looked for %q, expected a validation, and two looks for each deploy", f.deploys)
			}
		})
	}
}

// TestRamdiskOfImage: the kernel and the ramdisk that the properties of an image of Glance's name have to be there
// before a deploy by the interface ramdisk, for the project that asks; the node boots them until its instance ends.
func TestRamdiskOfImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const image = "7ed467d4-83b0-41a7-bc15-c404edccff98"
		w := enginetest.New(t, 1)
		f := &finder{names: node.ImageFound{Kernel: "11111111-2222-4333-8444-000000000001",
			Ramdisk: "11111111-2222-4333-8444-000000000002"}}
		w.Images = f
		w.Start()
		defer w.Close()
		id := deployable(w, image)
		if _, err := w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
			n.Interfaces["deploy"] = "ramdisk"
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		w.Must(w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Deploy, Project: "blue"}))
		n := w.Settled(id)
		boot, ok := plan.BootsInstance(n)
		if want := (plan.InstanceBoot{Kernel: f.names.Kernel, Ramdisk: f.names.Ramdisk}); !ok || boot != want {
			t.Errorf("%s boots %+v, expected %+v; %s", n.ProvisionState, boot, want, n.LastError)
		}
		want := []string{f.names.Kernel + " for blue", f.names.Ramdisk + " for blue"}
		if diff := cmp.Diff(want, f.files); diff != "" {
			t.Errorf("looked for (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]string{"deploy blue " + image}, f.deploys); diff != "" {
			t.Errorf("looked for the image (-want +got)\n%s", diff)
		}
		if valid, err := w.E.Validate(w.Ctx, id); err != nil || valid["deploy"] != nil {
			t.Errorf("validate says %v, %v", valid, err)
		}
		if _, err := w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
			n.InstanceInfo = map[string]any{"boot_iso": image}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if valid, err := w.E.Validate(w.Ctx, id); err != nil || valid["deploy"] != nil {
			t.Errorf("validate says %v, %v", valid, err)
		}
		if diff := cmp.Diff([]bool{true, true, false, false, false}, f.begun); diff != "" {
			t.Errorf("images begin to come for a deploy, and for no look (-want +got)\n%s", diff)
		}
	})
}

// TestImageNotFound: known errors are refused before anything is changed, and errors that are found later fail the
// deploy.
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
		"hangs": {&finder{hangs: true}, "file:///srv/os.raw", "image file:///srv/os.raw: context deadline exceeded", true},
		"unreadable": {&finder{locate: errors.New("no answer")}, "oci://registry/os",
			"image oci://registry/os: no answer", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				w.Images = c.images
				w.Start()
				defer w.Close()
				id := deployable(w, c.source)
				if c.begun {
					if n := w.Ask(id, node.Deploy, node.DeployFailed); !strings.Contains(n.LastError, c.text) {
						t.Errorf("last_error is %q, expected %q", n.LastError, c.text)
					}
					return
				}
				err := w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Deploy})
				var refusal *node.Refusal
				if !errors.As(err, &refusal) || refusal.Kind != node.Invalid || !strings.Contains(err.Error(), c.text) {
					t.Errorf("error %v, expected %q", err, c.text)
				}
				valid, err := w.E.Validate(w.Ctx, id)
				if err != nil || valid["deploy"] == nil || !strings.Contains(valid["deploy"].Error(), c.text) {
					t.Errorf("validated as %v, %v", valid["deploy"], err)
				}
				if n := w.Settled(id); n.ProvisionState != node.Available {
					t.Errorf("the node is in %s", n.ProvisionState)
				}
			})
		})
	}
}

// TestNamedImage: an image that is larger than every disk is refused before the machine is switched off. An image that
// fits is located when the step is sent.
func TestNamedImage(t *testing.T) {
	for name, c := range map[string]struct {
		size    int64
		refused string
	}{
		"fits": {9_000_000_000, ""}, "unknown": {0, ""},
		"too large": {9_000_000_001, "the largest disk of the machine, /dev/sda, is 9.0 GB"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				f := &finder{size: c.size}
				w.Images = f
				w.Start()
				defer w.Close()
				id := deployable(w, "image:debian-12")
				n, err := w.E.Node(w.Ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				found := node.Inspected{Inventory: json.RawMessage(`{"disks":[{"name":"/dev/sda","size":9000000000}]}`)}
				if _, err = w.Store.Commit(w.Ctx, node.Change{Save: &n, Inspected: &found}); err != nil {
					t.Fatal(err)
				}
				err = w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Deploy})
				if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("error %v, expected %q", err, c.refused)
				}
				if err != nil {
					return
				}
				n = w.Settled(id)
				if told, _ := w.Machine(id).Image.(map[string]any); n.ProvisionState != node.Active || f.asked != 1 ||
					told["id"] != "debian-12" {
					t.Errorf("the node is %s, %v was located %d times", n.ProvisionState, told, f.asked)
				}
			})
		})
	}
}

// TestImageThroughCache: an image at a URL is read from a cache where there is one, by its checksum alone.
func TestImageThroughCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		f := &finder{cached: true}
		w.Images = f
		w.Start()
		defer w.Close()
		id := deployable(w, "http://images/os.raw")
		if _, err := w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
			n.InstanceInfo["image_checksum"] = enginetest.NoSum
			n.InstanceInfo["image_mirrors"] = []any{"http://mirror/os.raw"}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		w.Ask(id, node.Deploy, node.Active)
		got, _ := w.Machine(id).Image.(map[string]any)
		if diff := cmp.Diff([]any{"http://cache/" + id}, got["urls"]); diff != "" || got["checksum"] != nil ||
			got["os_hash_value"] != enginetest.NoSum || f.asked != 1 {
			t.Errorf("asked %d times, told %v\n%s", f.asked, got, diff)
		}
	})
}

// looker holds the findings of a look at each URL.
type looker map[string]node.ImageFound

func (l looker) Probe(_ context.Context, at string) node.ImageFound { return l[at] }

// TestImageIsLookedAt: an image that no server has is refused while the machine is on; a
// mirror that has it is enough, and a warning stays with the run.
func TestImageIsLookedAt(t *testing.T) {
	const at, mirror = "http://images/os.raw", "http://mirror/os.raw"
	gone := node.ImageFound{Gone: "it answered 404"}
	unseen := node.ImageFound{Doubt: "no route to host", Unseen: true}
	for name, c := range map[string]struct {
		look    looker
		mirrors []any
		set     string // require: by the conductor; raw: by the node
		refused string // a part of the refusal; "" for none
		warned  string // a part of the warning in the status; "" for none
	}{
		"there":       {looker{}, nil, "", "", ""},
		"missing":     {looker{at: gone}, nil, "", "it answered 404", ""},
		"at a mirror": {looker{at: gone}, []any{mirror}, "", "", "it answered 404"},
		"at none": {looker{at: gone, mirror: {Gone: "it answered 410"}}, []any{mirror}, "",
			"404; it answered 410", ""},
		"for others only":            {looker{at: unseen}, nil, "", "", "no route to host"},
		"for others at the mirror":   {looker{at: gone, mirror: unseen}, []any{mirror}, "", "", "404; no route to host"},
		"unseen, and required":       {looker{at: unseen}, nil, "require", "=require): no route to host: have", ""},
		"seen at a mirror":           {looker{at: unseen}, []any{mirror}, "require", "", "no route to host"},
		"seen, with a warning":       {looker{at: {Doubt: "no ranges"}}, nil, "require", "", "no ranges"},
		"an ISO":                     {looker{at: {ISO: "it is an ISO"}}, nil, "", "image it is an ISO", ""},
		"an ISO that is said a disk": {looker{at: {ISO: "it is an ISO"}}, nil, "raw", "", ""},
		"too large": {
			looker{at: {Size: 9_000_000_001}}, nil, "", "the largest disk of the machine, /dev/sda, is 9.0 GB", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				w.Probe = c.look
				w.Settings.RequireImageCheck = c.set == "require"
				w.Start()
				defer w.Close()
				id := deployable(w, at)
				n, err := w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
					n.InstanceInfo["image_checksum"], n.InstanceInfo["image_mirrors"] = enginetest.NoSum, c.mirrors
					if c.set == "raw" {
						n.InstanceInfo["image_disk_format"] = c.set
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				found := node.Inspected{Inventory: json.RawMessage(`{"disks":[{"name":"/dev/sda","size":9000000000}]}`)}
				if n, err = w.Store.Commit(w.Ctx, node.Change{Save: &n, Inspected: &found}); err != nil {
					t.Fatal(err)
				}
				err = w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Deploy})
				if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
					t.Errorf("error %v, expected %q", err, c.refused)
				}
				after, ferr := w.E.Node(w.Ctx, id)
				if ferr != nil || err != nil && (after.Revision != n.Revision || after.ProvisionState != node.Available) {
					t.Errorf("a refusal left the node %s at revision %d, before %d: %v", after.ProvisionState, after.Revision,
						n.Revision, ferr)
				}
				s, serr := w.E.Status(w.Ctx, id)
				if serr != nil || (len(s.Warnings) == 0) != (c.warned == "") ||
					!strings.Contains(fmt.Sprint(s.Warnings), c.warned) {
					t.Errorf("warnings %q, expected %q: %v", s.Warnings, c.warned, serr)
				}
			})
		})
	}
}
