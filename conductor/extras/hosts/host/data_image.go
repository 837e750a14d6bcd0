package host

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// OrphanedImage releases a DataImage without a host; false when it is released already.
func OrphanedImage(i hostapi.DataImage) (hostapi.DataImage, bool) {
	c := dataImageOf(&i)
	c.removeFinalizer()
	return c.DataImage, len(c.Finalizers) < len(i.Finalizers)
}

// dataImage is the DataImage of a decision, as it becomes.
type dataImage struct {
	hostapi.DataImage
	there     bool
	requeueAt time.Time // when to look again for its sake; zero for not at all
}

func dataImageOf(i *hostapi.DataImage) (c dataImage) {
	if i == nil {
		return c
	}
	c.DataImage, c.there = *i, true
	c.Finalizers = slices.Clone(i.Finalizers)
	return c
}

func (c *dataImage) beingDeleted() bool { return c.there && c.DeletionTimestamp != nil }

func (c *dataImage) removeFinalizer() {
	c.Finalizers = hostapi.WithoutFinalizer(c.Finalizers, hostapi.DataImageFinalizer)
}

// trackImage does the part of the work on the image that does not depend on the machine's state. It holds the image
// until the drive is empty, and puts the BMC's answer into the status.
func (d *decision) trackImage() {
	c, m := &d.image, d.facts.Media
	if !c.there {
		return
	}
	c.OwnerReferences = hostapi.WithOwner(c.OwnerReferences, hostapi.KindHost, d.h.ObjectMeta)
	if !c.beingDeleted() && !slices.Contains(c.Finalizers, hostapi.DataImageFinalizer) {
		c.Finalizers = append(c.Finalizers, hostapi.DataImageFinalizer)
		c.requeueAt = d.facts.Now
	}
	if c.beingDeleted() && d.driveEmptied() {
		c.removeFinalizer()
		return
	}
	if m == nil {
		return
	}
	switch there, loaded := m.cdDrive(); {
	case m.Fault != "":
		d.failImage("", m.Fault)
	case !there:
		d.failImage("",
			"the BMC at "+d.h.Spec.BMC.Address+" has no virtual drive for a CD or DVD that this conductor can use")
	case d.aboutToStart():
		e := &c.Status.Error // a BMC's silence ends with its answer; only errors of the drive's last change stay
		if !strings.HasPrefix(e.Message, attachPrefix) && !strings.HasPrefix(e.Message, detachPrefix) {
			e.Message = ""
		}
	default:
		c.Status.Error = hostapi.DataImageError{}
		if !loaded {
			c.Status.AttachedImage = hostapi.AttachedImage{}
		}
	}
}

// driveEmptied: nothing of a deleted image is left to be taken out, or nothing that
// is ours to.
func (d *decision) driveEmptied() bool {
	if d.detachAsked() != nil || d.facts.Node == nil && !d.hasBMCDetails() {
		return true
	}
	if m := d.facts.Media; m != nil {
		_, loaded := m.cdDrive()
		return m.Fault == "" && !loaded
	}
	unknown := d.facts.Node == nil || d.facts.Node.ProvisionState == node.Enroll
	return unknown && d.image.Status.AttachedImage.URL == ""
}

// aboutToStart: the machine is at work, off, and to be on. That is when its drive is
// changed: neither does the system notice, nor does it start without.
func (d *decision) aboutToStart() bool {
	switch d.state().Canonical() {
	case hostapi.StateProvisioned, hostapi.StateExternallyProvisioned:
	default:
		return false
	}
	return d.h.Spec.Online && d.facts.Node.PowerState == node.PowerOff
}

// driveReady reports whether the machine may start with the present medium in its drive. As in Metal3, a machine stays
// off while its image cannot be changed. A machine without a drive starts, since waiting gives it none.
func (d *decision) driveReady() bool {
	c, m := &d.image, d.facts.Media
	if !c.there || !d.aboutToStart() || engaged(*d.facts.Node) { // nothing of which is touched
		return true
	}
	if m == nil || !c.beingDeleted() && !slices.Contains(d.facts.DataImage.Finalizers, hostapi.DataImageFinalizer) {
		d.RequeueAt = d.facts.Now.Add(waitRequeue)
		return false
	}
	there, loaded := m.cdDrive()
	switch {
	case m.Fault != "":
		return false
	case !there, c.beingDeleted() && !loaded:
		return true
	case c.beingDeleted():
		d.detachImage()
		return false
	}
	return d.attachImage(loaded)
}

// settleTime is the time that a BMC may take to show its change of a drive.
const settleTime = 30 * time.Second

// driveSettling reports whether the drive has changed so recently that the BMC may still show its former state. It is
// false if the image was deleted since: its insertion says nothing of its removal.
func (d *decision) driveSettling() bool {
	at, deleted := d.facts.DataImage.Status.LastReconciled, d.image.DeletionTimestamp
	if deleted != nil && at != nil && !at.After(deleted.Time) {
		return false
	}
	if at == nil || at.After(d.facts.Now) || !d.facts.Now.Before(at.Add(settleTime)) {
		return false
	}
	d.image.requeueAt = at.Add(settleTime)
	return true
}

// detachImage empties the drive of a deleted image.
func (d *decision) detachImage() {
	c := &d.image
	attempt := detaching(c.Spec.URL)
	if c.Status.Error.Message == "" {
		if plan.DetachFailed(*d.facts.Node) {
			d.failImage(attempt, d.facts.Node.LastError)
		} else if d.driveSettling() {
			return
		}
	}
	if d.imageRetryDue(attempt) {
		d.changeDrive(DetachMedia{[]string{cdDevice}}, c.Status.AttachedImage.URL)
	}
}

// attachImage brings the image into the drive; true when it is there. Some BMCs
// shorten the URL they report. A loaded drive is therefore taken to hold the image
// that was requested last.
func (d *decision) attachImage(loaded bool) bool {
	c := &d.image
	asked, failed := c.Status.AttachedImage.URL, plan.AttachFailed(*d.facts.Node)
	switch {
	case asked == "" || c.Status.Error.Message != "":
	case failed:
		d.failImage(attaching(asked), d.facts.Node.LastError)
	case asked != c.Spec.URL:
	case loaded:
		c.Status.Error = hostapi.DataImageError{}
		return true
	case d.driveSettling():
		return false
	default:
		d.failImage(attaching(asked), "the BMC has taken the image, and its drive is empty")
	}
	if asked != "" { // saved first: the next act's result is not this one's
		c.Status.AttachedImage, c.requeueAt = hostapi.AttachedImage{}, d.facts.Now
		return false
	}
	if d.imageRetryDue(attaching(c.Spec.URL)) {
		d.changeDrive(AttachMedium{node.Medium{Device: cdDevice, Image: c.Spec.URL}}, c.Spec.URL)
	}
	return false
}

// changeDrive asks for a change of the drive. The status keeps url as the last request.
func (d *decision) changeDrive(a Action, url string) {
	d.image.Status.AttachedImage.URL, d.image.Status.Error.Message = url, ""
	at := hostapi.At(d.facts.Now)
	d.image.Status.LastReconciled = &at
	d.doKeepingError(a, "")
}

// clearAttachedImage is for a new node: it is unknown whether the one before it carried
// out the last request, so that is made again.
func (d *decision) clearAttachedImage() {
	if !d.image.beingDeleted() {
		d.image.Status.AttachedImage = hostapi.AttachedImage{}
	}
}

// Prefixes of messages about failures of a drive. Messages about a BMC that does not answer have others.
const (
	attachPrefix = "attach "
	detachPrefix = "detach "
)

// attaching and detaching are the prefixes for one image, without credentials, as in all logs.
func attaching(url string) string { return attachPrefix + nodeapi.MaskText(url) + ": " }
func detaching(url string) string { return detachPrefix + nodeapi.MaskText(url) + ": " }

// imageRetryDue reports whether the next attempt is another one than the attempt that failed, or whether its back-off
// has ended.
func (d *decision) imageRetryDue(attempt string) bool {
	e := d.image.Status.Error
	if e.Message == "" || attempt != "" && !strings.HasPrefix(e.Message, attempt) {
		return true
	}
	at := d.image.Status.LastReconciled
	if at == nil || at.After(d.facts.Now) || d.changedSince(at) { // After: by a clock that has been set back
		return true
	}
	if again := at.Add(backOff(d.image.UID, e.Count)); d.facts.Now.Before(again) {
		d.image.requeueAt = again
		return false
	}
	return true
}

// failImage records a failure of the image, unless it repeats the failure before during its back-off.
func (d *decision) failImage(attempt, reason string) {
	if !d.imageRetryDue(attempt) {
		return
	}
	st, at := &d.image.Status, hostapi.At(d.facts.Now)
	st.Error = hostapi.DataImageError{Count: st.Error.Count + 1, Message: fmt.Sprint(attempt, reason)}
	st.LastReconciled = &at
	d.image.requeueAt = at.Add(backOff(d.image.UID, st.Error.Count))
}

// finishImage brings the image into the form of a decision.
func (d *decision) finishImage() {
	c := &d.image
	if !c.there {
		return
	}
	if was := *d.facts.DataImage; !reflect.DeepEqual(c.Status, was.Status) {
		at := hostapi.At(d.facts.Now)
		c.Status.LastReconciled = &at
	}
	if !reflect.DeepEqual(c.DataImage, *d.facts.DataImage) {
		d.DataImage = &c.DataImage
	}
	if !c.requeueAt.IsZero() && (d.RequeueAt.IsZero() || c.requeueAt.Before(d.RequeueAt)) {
		d.RequeueAt = c.requeueAt
	}
}
