package gophercloudtest

import (
	"net/http"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
)

// TestSteps: the verbs that take steps, a password, or nothing, and the verbs that end a wait.
func TestSteps(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
	n := c.create(client, nodes.CreateOpts{Name: "m1", Driver: "fake-hardware", RescueInterface: "fake"})
	step := nodes.CleanStep{Interface: nodes.InterfaceBIOS, Step: "factory_reset"}
	hold := nodes.CleanStep{Interface: nodes.InterfaceDeploy, Step: "hold"}
	for _, tc := range []struct {
		opts nodes.ProvisionStateOpts
		want nodes.ProvisionState
	}{
		{nodes.ProvisionStateOpts{Target: nodes.TargetManage}, nodes.Manageable},
		{nodes.ProvisionStateOpts{Target: nodes.TargetClean, CleanSteps: []nodes.CleanStep{step}}, nodes.Manageable},
		{nodes.ProvisionStateOpts{Target: nodes.TargetClean, CleanSteps: []nodes.CleanStep{hold}}, "clean hold"},
		{nodes.ProvisionStateOpts{Target: "unhold"}, nodes.Manageable},
		{nodes.ProvisionStateOpts{Target: nodes.TargetAdopt}, nodes.Active},
		{nodes.ProvisionStateOpts{Target: nodes.TargetService, ServiceSteps: []nodes.ServiceStep{step}}, nodes.Active},
		{nodes.ProvisionStateOpts{Target: nodes.TargetService, ServiceSteps: []nodes.ServiceStep{hold}}, "service hold"},
		{nodes.ProvisionStateOpts{Target: nodes.TargetAbort}, "service failed"},
		{nodes.ProvisionStateOpts{Target: nodes.TargetAbort}, nodes.Active},
		{nodes.ProvisionStateOpts{Target: nodes.TargetRescue, RescuePassword: "s3cret"}, nodes.Rescue},
		{nodes.ProvisionStateOpts{Target: nodes.TargetUnrescue}, nodes.Active},
		{nodes.ProvisionStateOpts{Target: nodes.TargetRebuild, DeploySteps: []nodes.DeployStep{
			{Interface: nodes.InterfaceBIOS, Step: "factory_reset", Args: map[string]any{}, Priority: 50},
		}}, nodes.Active},
		{nodes.ProvisionStateOpts{Target: nodes.TargetDeleted}, nodes.Available},
	} {
		c.provision(client, n.UUID, tc.opts)
		n, err := nodes.Get(ctx, client, "m1").Extract()
		if err != nil {
			t.Fatal(err)
		}
		if n.ProvisionState != string(tc.want) {
			t.Fatalf("after %s it is %q: %s", tc.opts.Target, n.ProvisionState, n.LastError)
		}
	}
	err := nodes.ChangeProvisionState(ctx, client, n.UUID,
		nodes.ProvisionStateOpts{Target: nodes.TargetRescue, RescuePassword: "s3cret"}).ExtractErr()
	if !gophercloud.ResponseCodeIs(err, http.StatusBadRequest) {
		t.Errorf("rescue of an available node: %v", err)
	}
}
