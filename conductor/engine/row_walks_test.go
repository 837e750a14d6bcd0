package engine_test

import (
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// rowWalks lead nodes along the rows, each around one part of their life.
var rowWalks = map[string]func(*walker){
	"verify": func(r *walker) {
		r.breakBMC(true)
		r.begin(node.Manage, node.Enroll)
		r.breakBMC(false)
		r.manageable()
	},
	"inspect": func(r *walker) {
		r.manageable()
		r.breakBMC(true)
		r.begin(node.Inspect, node.InspectFailed)
		r.breakBMC(false)
		r.begin(node.Manage, node.Manageable)
		r.begin(node.Inspect, node.Manageable)
		r.silence(true)
		r.begin(node.Inspect, node.InspectWait)
		r.begin(node.Abort, node.InspectFailed)
		r.begin(node.Inspect, node.InspectFailed) // no agent calls
	},
	"inspect with the agent kept": func(r *walker) {
		r.manageable()
		_, err := r.E.UpdateNode(r.Ctx, r.id, func(n *node.Node) error { n.DisablePowerOff = true; return nil })
		r.Allow(err)
		r.begin(node.Inspect, node.Manageable) // the data is all that is waited for
	},
	"adopt": func(r *walker) {
		r.manageable()
		r.breakBMC(true)
		r.begin(node.Adopt, node.AdoptFailed)
		r.begin(node.Manage, node.Manageable)
		r.begin(node.Adopt, node.AdoptFailed)
		r.breakBMC(false)
		r.begin(node.Adopt, node.Active)
	},
	"clean": func(r *walker) {
		r.manageable()
		r.begin(node.Provide, node.Available)
		r.begin(node.Manage, node.Manageable)
		r.breakBMC(true)
		r.begin(node.Provide, node.CleanFailed)
		r.breakBMC(false)
		r.begin(node.Manage, node.Manageable)
		r.silence(true)
		r.begin(node.Provide, node.CleanFailed) // no agent calls
		r.begin(node.Manage, node.Manageable)
		r.begin(node.Provide, node.CleanWait)
		r.begin(node.Abort, node.CleanFailed)
	},
	"clean by hand": func(r *walker) {
		r.manageable()
		r.request(clean("power_on", "hold"), node.CleanHold) // from cleaning
		r.begin(node.Unhold, node.Manageable)
		r.request(clean("wait", "hold"), node.CleanHold) // from clean wait, at a heartbeat
		r.begin(node.Abort, node.CleanFailed)
		r.begin(node.Manage, node.Manageable)
	},
	"deploy": func(r *walker) {
		r.manageable()
		r.begin(node.Provide, node.Available)
		r.breakBMC(true)
		r.begin(node.Deploy, node.DeployFailed)
		r.breakBMC(false)
		r.begin(node.Deploy, node.Active)
		r.begin(node.Rebuild, node.Active)
		r.breakBMC(true)
		r.begin(node.Rebuild, node.DeployFailed)
		r.begin(node.Rebuild, node.DeployFailed)
		r.breakBMC(false)
		r.begin(node.Delete, node.Available)
	},
	"deploy waits": func(r *walker) {
		r.manageable()
		r.begin(node.Provide, node.Available)
		r.silence(true)
		r.begin(node.Deploy, node.DeployFailed) // no agent calls
		r.begin(node.Deploy, node.DeployWait)
		r.begin(node.Abort, node.DeployFailed)
		r.begin(node.Deploy, node.DeployWait)
		r.silence(false)
		r.begin(node.Delete, node.Available)
	},
	"deploy holds": func(r *walker) {
		r.manageable()
		r.begin(node.Provide, node.Available)
		r.request(deploying("power_on", "hold"), node.DeployHold)
		r.begin(node.Unhold, node.Active)
		r.begin(node.Delete, node.Available)
		r.image()
		r.request(deploying("wait", "hold_after"), node.DeployFailed) // a step without an executor
		q := deploying("wait", "hold")
		q.DeploySteps[1].Priority = 84 // after the wait, independent of the order of names
		r.request(q, node.DeployHold)
		r.begin(node.Abort, node.DeployFailed)
	},
	"delete": func(r *walker) {
		r.active()
		r.breakBMC(true)
		r.begin(node.Delete, node.Error)
		r.begin(node.Delete, node.Error)
		r.breakBMC(false)
		r.imageOf(1)
		if err := r.E.Provision(r.Ctx, r.id, plan.Request{Verb: node.Rebuild}); err == nil {
			r.T.Error("another tenant's image is taken for disks that nobody has cleaned")
		}
		r.imageOf(0)
		r.begin(node.Rebuild, node.Active)
	},
	"service": func(r *walker) {
		r.active()
		r.request(enginetest.Servicing("burnin_cpu"), node.Active)
		r.breakBMC(true)
		r.request(enginetest.Servicing("burnin_cpu"), node.ServiceFailed)
		r.breakBMC(false)
		r.begin(node.Abort, node.Active)
		r.silence(true)
		r.request(enginetest.Servicing("burnin_cpu"), node.ServiceFailed) // no agent calls
		r.request(enginetest.Servicing("burnin_cpu"), node.ServiceWait)
		r.begin(node.Abort, node.ServiceFailed)
		r.request(enginetest.Servicing("burnin_cpu"), node.ServiceWait)
		r.silence(false)
		r.begin(node.Delete, node.Available)
	},
	"service holds": func(r *walker) {
		r.active()
		r.request(enginetest.Servicing("power_on", "hold"), node.ServiceHold)
		r.begin(node.Unhold, node.Active)
		r.request(enginetest.Servicing("wait", "hold"), node.ServiceHold)
		r.request(enginetest.Servicing("burnin_cpu", "hold"), node.ServiceHold)
		r.begin(node.Abort, node.ServiceFailed)
		r.request(enginetest.RescueRequest, node.Rescue)
	},
	"service given up": func(r *walker) {
		r.active()
		r.request(enginetest.Servicing("hold"), node.ServiceHold)
		r.begin(node.Abort, node.ServiceFailed)
		r.begin(node.Delete, node.Available)
	},
	"rescue": func(r *walker) {
		r.active()
		r.request(enginetest.RescueRequest, node.Rescue)
		r.request(enginetest.RescueRequest, node.Rescue)
		r.begin(node.Unrescue, node.Active)
		r.breakBMC(true)
		r.request(enginetest.RescueRequest, node.RescueFailed)
		r.begin(node.Unrescue, node.UnrescueFailed)
		r.begin(node.Unrescue, node.UnrescueFailed)
		r.breakBMC(false)
		r.request(enginetest.RescueRequest, node.Rescue)
		r.begin(node.Delete, node.Available)
	},
	"rescue waits": func(r *walker) {
		r.active()
		r.silence(true)
		r.request(enginetest.RescueRequest, node.RescueFailed) // no agent calls
		r.request(enginetest.RescueRequest, node.RescueWait)
		r.begin(node.Abort, node.RescueFailed)
		r.begin(node.Unrescue, node.Active)
		r.request(enginetest.RescueRequest, node.RescueWait)
		r.begin(node.Delete, node.CleanFailed) // no agent calls
	},
	"rescue given up": func(r *walker) {
		r.active()
		r.breakBMC(true)
		r.request(enginetest.RescueRequest, node.RescueFailed)
		r.breakBMC(false)
		r.begin(node.Delete, node.Available)
	},
	"unrescue given up": func(r *walker) {
		r.active()
		r.request(enginetest.RescueRequest, node.Rescue)
		r.breakBMC(true)
		r.begin(node.Unrescue, node.UnrescueFailed)
		r.breakBMC(false)
		r.begin(node.Delete, node.Available)
	},
}

// image gives the node something to deploy, which undeploy took away.
func (r *walker) image() {
	r.T.Helper()
	r.imageOf(1)
}

// imageOf gives the node an image of that tenant.
func (r *walker) imageOf(tenant int) {
	r.T.Helper()
	_, err := r.E.UpdateNode(r.Ctx, r.id, func(n *node.Node) error {
		n.InstanceInfo = enginetest.Instance(tenant)
		if n.ProvisionState == node.Error && tenant == 0 {
			n.InstanceUUID = r.id // as an operator says that it is the same instance
		}
		return nil
	})
	if err != nil {
		r.T.Fatal(err)
	}
}
