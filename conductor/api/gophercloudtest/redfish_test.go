package gophercloudtest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// subscriptionsPath is where the lab's controller keeps subscriptions.
const subscriptionsPath = "/redfish/v1/EventService/Subscriptions"

// operated is a conductor with the Redfish driver before the lab's controller, and an operator's client.
type operated struct {
	machine *redfishtest.Machine
	bmc     *redfishtest.Client
	engine  *engine.Engine
	client  *gophercloud.ServiceClient
	node    string
}

// newController returns a controller of a machine in memory that listens until the test ends.
func newController(t *testing.T) (*redfishtest.Machine, *redfishtest.Client) {
	t.Helper()
	machine := redfishtest.NewMachine()
	controller := lab.New(lab.Config{
		Machine: machine, Username: redfishtest.User, Password: redfishtest.Password,
		TaskTime: time.Second, RestartTime: time.Second, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	server := httptest.NewServer(controller)
	t.Cleanup(func() {
		if err := controller.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		server.Close()
	})
	return machine, &redfishtest.Client{URL: server.URL}
}

func newOperated(t *testing.T) *operated {
	t.Helper()
	o := &operated{}
	o.machine, o.bmc = newController(t)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	driver := redfish.New(redfish.Options{Log: log})
	t.Cleanup(func() {
		if err := driver.Close(); err != nil {
			t.Error(err)
		}
	})
	settings := plan.DefaultSettings()
	settings.ConductorName = "conductor-1"
	settings.SyncPowerInterval = 0
	o.engine = engine.New(engine.Config{
		Store: mem.New(), BMCs: map[string]engine.BMC{"redfish": driver}, Settings: settings, Log: log,
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); o.engine.Run(ctx) }()
	server := httptest.NewServer(api.New(api.Options{Conductor: o.engine, Log: log}))
	t.Cleanup(func() { server.Close(); stop(); <-done })
	var err error
	if o.client, err = noauth.NewBareMetalNoAuth(noauth.EndpointOpts{IronicEndpoint: server.URL + "/v1"}); err != nil {
		t.Fatal(err)
	}
	o.client.Microversion = "1.89"
	n, err := nodes.Create(t.Context(), o.client, nodes.CreateOpts{Driver: "redfish", DriverInfo: map[string]any{
		"redfish_address": o.bmc.URL, "redfish_username": redfishtest.User, "redfish_password": redfishtest.Password,
	}}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	o.node = n.UUID
	return o
}

// put sends a request that gophercloud has no function for, and waits until the work is done.
func (o *operated) put(t *testing.T, path string, body any) {
	t.Helper()
	answer, err := o.client.Put(t.Context(), o.client.ServiceURL("nodes", o.node, "states", path), body, nil,
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusAccepted}})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	answer.Body.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if host, err := o.engine.Reserved(t.Context(), o.node); err == nil && host == "" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s is not done within a minute", path)
		}
	}
	n, err := o.engine.Node(t.Context(), o.node)
	if err != nil || n.LastError != "" {
		t.Errorf("%s: %v, last error %q", path, err, n.LastError)
	}
}

// An operator's requests to a BMC besides power arrive there, by the library that Metal3
// uses.
func TestRedfish(t *testing.T) {
	o := newOperated(t)
	ctx := t.Context()
	methods, err := nodes.GetVendorPassthruMethods(ctx, o.client, o.node).Extract()
	if err != nil || !cmp.Equal(methods.CreateSubscription.HTTPMethods, []string{"POST"}) ||
		methods.CreateSubscription.Async || !methods.CreateSubscription.RequireExclusiveLock {
		t.Errorf("methods %+v, %v", methods, err)
	}
	call := func(name string) nodes.CallVendorPassthruOpts { return nodes.CallVendorPassthruOpts{Method: name} }
	made, err := nodes.CreateSubscription(ctx, o.client, o.node, call("create_subscription"), nodes.CreateSubscriptionOpts{
		Destination: "https://listener.example/events", EventTypes: []string{"Alert"}, Context: "c", Protocol: "Redfish",
		HttpHeaders: []map[string]string{{"Authorization": "secret"}},
	}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	want := &nodes.SubscriptionVendorPassthru{Id: "1", Context: "c", Destination: "https://listener.example/events",
		EventTypes: []string{"Alert"}, Protocol: "Redfish"}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	read, err := nodes.GetSubscription(ctx, o.client, o.node, call("get_subscription"),
		nodes.GetSubscriptionOpts{Id: "1"}).Extract()
	if diff := cmp.Diff(want, read); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	all, err := nodes.GetAllSubscriptions(ctx, o.client, o.node, call("get_all_subscriptions")).Extract()
	if err != nil || all.MembersCount != 1 ||
		!cmp.Equal(all.Members, []map[string]string{{"@odata.id": subscriptionsPath + "/1"}}) {
		t.Errorf("all are %+v, %v", all, err)
	}
	for _, missing := range []bool{false, true} {
		err := nodes.DeleteSubscription(ctx, o.client, o.node, call("delete_subscription"),
			nodes.DeleteSubscriptionOpts{Id: "1"}).ExtractErr()
		if missing != gophercloud.ResponseCodeIs(err, http.StatusNotFound) || !missing && err != nil {
			t.Errorf("deleted: %v", err)
		}
	}
	if err := nodes.InjectNMI(ctx, o.client, o.node).ExtractErr(); !gophercloud.ResponseCodeIs(err, http.StatusConflict) {
		t.Errorf("an NMI for a machine that is off: %v", err)
	}
	o.put(t, "power", map[string]string{"target": "power on"})
	if err := nodes.InjectNMI(ctx, o.client, o.node).ExtractErr(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]qemu.ResetType{"On", "Nmi"}, o.machine.Pressed()); diff != "" {
		t.Errorf("buttons (-want +got):\n%s", diff)
	}
	o.put(t, "secure_boot", map[string]bool{"target": true})
	if _, body := o.bmc.Call(t, http.MethodGet, "/redfish/v1/Systems/1/SecureBoot", ""); !strings.Contains(body,
		`"SecureBootEnable":true`) {
		t.Errorf("secure boot: %s", body)
	}
	o.put(t, "secure_boot", map[string]bool{"target": false})
	o.put(t, "boot_mode", map[string]string{"target": "bios"})
	if got := o.machine.Boot().Firmware; got != qemu.BIOS {
		t.Errorf("the firmware is %s", got)
	}
	n, err := nodes.Get(ctx, o.client, o.node).Extract()
	if err != nil || n.PowerState != "power on" {
		t.Errorf("node %+v, %v", n, err)
	}
}
