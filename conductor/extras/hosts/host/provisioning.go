package host

import (
	"cmp"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// handleProvisioning puts the image onto the machine. A failed deploy is
// taken away before another try.
func (d *decision) handleProvisioning() {
	switch {
	case d.cancelled():
		d.fire(Cancelled)
		return
	case d.holdForeign():
		return
	case d.h.Status.ErrorType != "" && !d.notBegun():
		d.abandonTry()
		return
	}
	if d.h.Spec.Image != nil {
		image := *d.h.Spec.Image
		d.h.Status.LastAttemptedImage = &image
	}
	switch n := d.facts.Node; n.ProvisionState {
	case node.Manageable:
		d.do(verb(node.Provide), hostapi.ProvisioningError)
	case node.Available:
		d.deploy()
	case node.DeployFailed:
		if d.sameInstance() {
			reason := cmp.Or(n.LastError, "the deploy failed, and the node does not say why")
			d.fail(hostapi.ProvisioningError, fmt.Sprintf("image %s: %s", translate.ImageURL(d.h.Spec.Image), reason))
			return
		}
		d.deploy()
	case node.CleanFailed, node.Error:
		d.fail(hostapi.ProvisioningError, "cleaning before the deploy failed: "+n.LastError)
	case node.Active:
		if written := instanceImage(*n); written != "" && written != translate.ImageURL(d.h.Spec.Image) {
			d.fire(Cancelled) // the document has come to name another image since the deploy began
			return
		}
		d.finishProvisioning()
	case node.DeployWait:
		if _, asked := d.rebootAsked(true); asked {
			d.clearReboot()
			d.do(verb(node.Delete), hostapi.ProvisioningError)
			return
		}
		d.clearReboot()
		d.waitForNode()
	default: // a reboot makes no sense while the image is written
		d.clearReboot()
		d.unexpected(hostapi.ProvisioningError)
	}
}

// abandonTry gives up this try, once the failure has been there to be seen for a
// while.
func (d *decision) abandonTry() {
	if !d.retryDue() {
		d.awaitRetry()
		return
	}
	d.h.Status.ProvisioningFailCount++
	d.fire(Failed)
}

// notBegun: a deploy was refused before anything was done to the machine, for an image or a secret that is not there.
// Nothing has to be taken away, and to ask again costs nothing.
func (d *decision) notBegun() bool {
	n := d.facts.Node
	return d.h.Status.ErrorType == hostapi.ProvisioningError && n.ProvisionState == node.Available && n.LastError == ""
}

// sameInstance: the node already has this very image as its instance.
func (d *decision) sameInstance() bool {
	_, differs, err := d.instance()
	return err == nil && !differs
}

// instance is the edit that gives the node its workload; differs is false if the node has it already.
func (d *decision) instance() (edit Action, differs bool, err error) {
	image, custom := d.h.Spec.Image, d.h.Spec.CustomDeploy
	a, err := translate.AccessOf(d.h.Spec.BMC)
	if err == nil {
		err = translate.CheckImage(image)
	}
	if err != nil {
		return nil, false, err
	}
	pull, tokens, err := d.source().PullSecret(translate.RegistryOf(image))
	if err != nil {
		return nil, false, err
	}
	edit, differs = d.edit(func(n *node.Node) {
		d.source().SetInstance(n, a, image, custom)
		if pull != "" {
			n.InstanceInfo["image_pull_secret"] = pull
			if tokens != "" {
				n.InstanceInfo["image_pull_registry"] = tokens
			}
		}
	})
	return edit, differs, nil
}

// deploy gives the node its instance, and starts the deploy.
func (d *decision) deploy() {
	edit, differs, err := d.instance()
	if err == nil && !differs {
		err = plan.CheckInstance(*d.facts.Node)
	}
	if err != nil {
		d.failUntilChanged(hostapi.ProvisioningError, "%v", err)
		return
	}
	drive, err := d.source().ConfigDrive()
	if err != nil {
		d.failUntilChanged(hostapi.ProvisioningError, "config drive: %v", err)
		return
	}
	if differs {
		d.doKeepingError(edit, hostapi.ProvisioningError)
		return
	}
	r := plan.Request{Verb: node.Deploy}
	if drive != nil {
		r.ConfigDrive = drive
	}
	if method := translate.CustomMethod(d.h.Spec.CustomDeploy); method != "" {
		r.DeploySteps = []node.Step{{Interface: "deploy", Step: method, Args: map[string]any{}, Priority: customPriority}}
	}
	d.do(Provision{r}, hostapi.ProvisioningError)
}

// customPriority is where a step of the site's own stands in a deploy: where the
// image would be written.
const customPriority = 80

// finishProvisioning records the new workload.
func (d *decision) finishProvisioning() {
	p := &d.h.Status.Provisioning
	p.Image, p.CustomDeploy = d.h.Spec.Image, d.h.Spec.CustomDeploy
	d.clearReboot()
	d.succeeded()
	d.h.Status.ProvisioningFailCount = 0
	d.fire(Provisioned)
}
