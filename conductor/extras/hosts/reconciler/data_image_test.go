package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// drive is the virtual CD drive of all machines of a world, which outlives nodes.
type drive struct {
	in      string   // the image; "" for none
	done    []string // changes of the drive, in order, with the power of the machine
	refuses error    // error of insertions and removals
	silent  error    // error of looks at the medium
	none    bool     // there is no drive
	hangs   bool     // insertions and removals never end
}

func (m *machines) MediaSlots(context.Context, node.Node) ([]node.MediaSlot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.drive.none || m.drive.silent != nil {
		return nil, m.drive.silent
	}
	return []node.MediaSlot{{Types: []string{"CD", "DVD"}, Inserted: m.drive.in != ""}}, nil
}

func (m *machines) AttachMedium(ctx context.Context, n node.Node, medium node.Medium) error {
	return m.turn(ctx, n, "in "+medium.Device, medium.Image)
}

func (m *machines) DetachMedia(ctx context.Context, n node.Node, devices []string) error {
	return m.turn(ctx, n, "out "+strings.Join(devices, ","), "")
}

func (m *machines) turn(ctx context.Context, n node.Node, what, image string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.drive.hangs {
		m.mu.Unlock()
		<-ctx.Done()
		m.mu.Lock()
		return ctx.Err()
	}
	m.drive.done = append(m.drive.done, fmt.Sprintf("%s, %s", strings.TrimSpace(what+" "+image), m.state[m.address(n)]))
	if m.drive.refuses == nil {
		m.drive.in = image
	}
	return m.drive.refuses
}

// fiddle changes the drive behind everybody's back.
func (m *machines) fiddle(change func(*drive)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.drive)
}

// turns are the changes of the drive.
func (m *machines) turns() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.drive.done, "; ")
}

// dataImage applies a DataImage.
func (w *world) dataImage(name, url string) {
	w.tb.Helper()
	ctx := context.Background()
	for {
		i, err := objects.Get[hostapi.DataImage](ctx, w.docs, "default", name)
		if errors.Is(err, objects.ErrNotFound) {
			_, err = objects.Create(ctx, w.docs,
				hostapi.DataImage{ObjectMeta: hostapi.ObjectMeta{Name: name, Namespace: "default"},
					Spec: hostapi.DataImageSpec{URL: url}})
		} else if err == nil {
			i.Spec.URL = url
			_, err = objects.Update(ctx, w.docs, i)
		}
		if !errors.Is(err, objects.ErrConflict) {
			w.check(err)
			return
		}
	}
}

// image waits for a state of a DataImage; nil is a deleted one.
func (w *world) image(name, what string, so func(*hostapi.DataImage) bool) {
	w.tb.Helper()
	var i hostapi.DataImage
	for range 40_000 {
		var err error
		i, err = objects.Get[hostapi.DataImage](context.Background(), w.docs, "default", name)
		switch {
		case errors.Is(err, objects.ErrNotFound):
			if so(nil) {
				return
			}
		case err != nil:
			w.tb.Fatal(err)
		case so(&i):
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	w.tb.Fatalf("image %s never comes to be %s: %+v of %v", name, what, i.Status, i.ObjectMeta)
}

func holds(url string) func(*hostapi.DataImage) bool {
	return func(i *hostapi.DataImage) bool {
		return i != nil && i.Status.AttachedImage.URL == url && i.Status.Error == hostapi.DataImageError{}
	}
}

func (w *world) deleteDisc(name string) {
	w.tb.Helper()
	_, _, err := objects.Delete[hostapi.DataImage](context.Background(), w.docs, "default", name, objects.DeleteOptions{})
	w.check(err)
}

func discGone(i *hostapi.DataImage) bool { return i == nil }

func atWork(h hostapi.Host) bool {
	return h.Status.Provisioning.State == hostapi.StateProvisioned && h.Status.PoweredOn && len(h.Annotations) == 0
}

// reboot has a host off and on again.
func (w *world) reboot(name string) {
	w.tb.Helper()
	w.edit(name, annotate(hostapi.AnnotationReboot, ""))
	w.until(name, "rebooted", atWork)
}

// An image goes in, is replaced and goes out while its machine is off between two
// of its lives, and not before.
func TestDataImage(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", withImage("http://images/a"))
		w.until("a", "at work", atWork)
		w.dataImage("a", "http://images/a.iso")
		w.image("a", "held", func(i *hostapi.DataImage) bool {
			return i != nil && len(i.Finalizers) == 1 && len(i.OwnerReferences) == 1 &&
				i.OwnerReferences[0].UID == w.host("a").UID
		})
		time.Sleep(time.Hour)
		if done := w.machines.turns(); done != "" {
			t.Errorf("before a reboot: %s", done)
		}
		w.reboot("a")
		w.image("a", "in", holds("http://images/a.iso"))
		w.reboot("a")
		w.dataImage("a", "http://images/b.iso")
		time.Sleep(time.Hour)
		w.edit("a", func(h *hostapi.Host) { h.Spec.Online = false })
		w.until("a", "off", func(h hostapi.Host) bool { return !h.Status.PoweredOn })
		time.Sleep(time.Hour)
		w.edit("a", func(h *hostapi.Host) { h.Spec.Online = true })
		w.until("a", "on", atWork)
		w.image("a", "replaced", holds("http://images/b.iso"))
		w.deleteDisc("a")
		time.Sleep(time.Hour)
		w.image("a", "there still", holds("http://images/b.iso"))
		w.reboot("a")
		w.image("a", "gone", discGone)
		want := "in cdrom http://images/a.iso, power off; in cdrom http://images/b.iso, power off; out cdrom, power off"
		if done := w.machines.turns(); done != want {
			t.Errorf("got  %s\nwant %s", done, want)
		}
	})
}

// A failure is reported with its count, tried again less and less often, and forgotten once
// it works; another image is tried at once.
func TestDataImageFails(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.machines.fiddle(func(d *drive) { d.refuses = node.Refuse(node.Invalid, "there is no such image") })
		w.apply("a", withImage("http://images/a"))
		w.until("a", "at work", atWork)
		w.dataImage("a", "http://me:word@images/a.iso")
		w.edit("a", annotate(hostapi.AnnotationReboot, ""))
		for n, most := range []time.Duration{time.Minute, 3 * time.Minute, 5 * time.Minute} {
			at := time.Now()
			w.image("a", "failed", func(i *hostapi.DataImage) bool {
				return i.Status.Error.Count == n+1 && i.Status.Error.Message != ""
			})
			if took := time.Since(at); took > most || n > 0 && took < 30*time.Second {
				t.Errorf("failure %d after %s", n+1, took)
			}
		}
		w.image("a", "told", func(i *hostapi.DataImage) bool {
			return i.Status.Error.Message == "attach http://******@images/a.iso: management.attach_virtual_media failed: "+
				"there is no such image" && i.Status.AttachedImage.URL == ""
		})
		h := w.host("a")
		if h.Status.PoweredOn || h.Status.ErrorType != "" {
			t.Errorf("the host is on (%v), or has failed: %q", h.Status.PoweredOn, h.Status.ErrorMessage)
		}
		w.machines.fiddle(func(d *drive) { d.refuses = nil })
		at := time.Now()
		w.dataImage("a", "http://images/b.iso")
		w.image("a", "in", holds("http://images/b.iso"))
		if took := time.Since(at); took > 10*time.Second {
			t.Errorf("another image is tried after %s", took)
		}
		w.until("a", "at work", atWork)
	})
}

// A BMC that does not answer holds the machine up until it does, one without a
// drive does not.
func TestDataImageWithoutDrive(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.machines.fiddle(func(d *drive) { d.none = true })
		w.apply("a", withImage("http://images/a"))
		w.dataImage("a", "http://images/a.iso")
		w.image("a", "told", func(i *hostapi.DataImage) bool {
			return strings.Contains(i.Status.Error.Message, "BMC at fake://a has no virtual drive for a CD or DVD")
		})
		w.until("a", "at work", atWork)
		w.reboot("a")
		w.machines.fiddle(func(d *drive) { d.none, d.silent = false, errors.New("no answer") })
		w.edit("a", annotate(hostapi.AnnotationReboot, ""))
		w.image("a", "told", func(i *hostapi.DataImage) bool { return i.Status.Error.Message == "no answer" })
		if w.host("a").Status.PoweredOn {
			t.Error("it has started without its image")
		}
		w.machines.fiddle(func(d *drive) { d.silent = nil })
		w.until("a", "at work", atWork)
		w.image("a", "in", holds("http://images/a.iso"))

		w.machines.fiddle(func(d *drive) { d.none = true })
		w.deleteDisc("a")
		w.image("a", "gone", discGone)
	})
}

// An image goes with its host, and one without a host at once.
func TestDataImageOfNobody(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.dataImage("a", "http://images/a.iso")
		w.deleteDisc("a")
		w.image("a", "gone", discGone)

		w.dataImage("a", "http://images/a.iso")
		w.apply("a", withImage("http://images/a"))
		w.until("a", "at work", atWork)
		w.reboot("a")
		w.image("a", "in", holds("http://images/a.iso"))
		w.remove("a")
		w.gone("a")
		w.image("a", "gone", discGone)

		w.apply("b", func(h *hostapi.Host) { h.Spec.BMC = hostapi.BMC{} })
		w.dataImage("b", "http://images/b.iso")
		w.image("b", "held", func(i *hostapi.DataImage) bool { return len(i.Finalizers) == 1 })
		w.stop()
		ctx := context.Background()
		h := w.host("b")
		h.Finalizers = nil
		_, err := objects.Save(ctx, w.docs, h)
		w.check(err)
		w.remove("b") // while no reconciler runs
		w.start()
		w.image("b", "gone", discGone)
	})
}

// A detached host's drive is left alone, and its image is deleted on request.
func TestDataImageDetached(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", withImage("http://images/a"))
		w.until("a", "at work", atWork)
		w.dataImage("a", "http://images/a.iso")
		w.reboot("a")
		w.edit("a", annotate(hostapi.AnnotationDetached, ""))
		w.until("a", "detached", func(h hostapi.Host) bool { return h.Status.OperationalStatus == hostapi.StatusDetached })
		w.dataImage("a", "http://images/b.iso")
		time.Sleep(time.Hour)
		w.deleteDisc("a")
		w.image("a", "gone", discGone)
		if done := w.machines.turns(); done != "in cdrom http://images/a.iso, power off" {
			t.Errorf("got %s", done)
		}
	})
}

// A conductor that ends while an image goes in, or out, leaves that to the next.
func TestDataImageRestart(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", withImage("http://images/a"))
		w.until("a", "at work", atWork)
		w.dataImage("a", "http://images/a.iso")
		cut := func(chore string) {
			t.Helper()
			w.machines.fiddle(func(d *drive) { d.hangs = true })
			w.edit("a", annotate(hostapi.AnnotationReboot, ""))
			w.until("a", "cut off", func(hostapi.Host) bool { return w.node("a").Chore == chore })
			w.stop()
			w.machines.fiddle(func(d *drive) { d.hangs = false })
			w.start()
			w.until("a", "rebooted", atWork)
		}
		cut("management.attach_virtual_media")
		w.image("a", "in", holds("http://images/a.iso"))
		w.deleteDisc("a")
		cut("management.detach_virtual_media")
		w.image("a", "gone", discGone)
		want := "in cdrom http://images/a.iso, power off; out cdrom, power off"
		if done := w.machines.turns(); done != want {
			t.Errorf("got  %s\nwant %s", done, want)
		}
	})
}
