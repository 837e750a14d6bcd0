package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// subscribes makes a BMCEventSubscription for the host h.
func (w *world) subscribes(name string, headers string) {
	w.tb.Helper()
	s := hostapi.BMCEventSubscription{ObjectMeta: hostapi.ObjectMeta{Name: name, Namespace: "default"},
		Spec: hostapi.BMCEventSubscriptionSpec{HostName: "h", Destination: "https://10.0.0.1/events", Context: "x"}}
	if headers != "" {
		s.Spec.HTTPHeadersRef = &hostapi.SecretReference{Name: headers}
	}
	_, err := objects.Create(context.Background(), w.docs, s)
	w.check(err)
}

func (w *world) subscription(name string) hostapi.BMCEventSubscriptionStatus {
	w.tb.Helper()
	s, err := objects.Get[hostapi.BMCEventSubscription](context.Background(), w.docs, "default", name)
	w.check(err)
	return s.Status
}

func (w *world) unsubscribes(name string) {
	w.tb.Helper()
	_, _, err := objects.Delete[hostapi.BMCEventSubscription](context.Background(), w.docs, "default", name,
		objects.DeleteOptions{})
	w.check(err)
}

// TestSubscriptions: a subscription is made at the BMC of a registered host, with the headers of its secret. It is made
// once, even if an answer is lost, and is removed with its document.
func TestSubscriptions(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		says := func(name, want string) {
			t.Helper()
			w.waits(fmt.Sprintf("the status of %s is %q", name, want), func() bool { return w.subscription(name).Error == want })
		}
		w.subscribes("a", "headers")
		says("a", "there is no BareMetalHost h in namespace default")
		w.apply("h", nil)
		w.becomes("h", hostapi.StateAvailable)
		says("a", "the secret default/headers of spec.httpHeadersRef does not exist")
		w.machines.mu.Lock()
		w.machines.events.lose = true
		w.machines.mu.Unlock()
		w.data("headers", map[string][]byte{"Authorization": []byte("Bearer x")})
		says("a", "the connection was lost")
		w.waits("it is made", func() bool { return w.subscription("a").SubscriptionID == "1" })
		says("a", "")
		n, made := w.machines.subscriptions()
		want := map[string]any{"Id": "1", "Destination": "https://10.0.0.1/events", "Context": "x",
			"HttpHeaders": []any{map[string]string{"Authorization": "Bearer x"}}}
		if diff := cmp.Diff(want, made); diff != "" || n != 1 {
			t.Errorf("%d subscriptions (-want +got):\n%s", n, diff)
		}
		w.subscribes("b", "headers") // an equal one, of its own
		w.waits("the second is made", func() bool { return w.subscription("b").SubscriptionID == "2" })

		w.machines.silence(true)
		w.unsubscribes("a")
		w.waits("the silence is reported", func() bool { return w.subscription("a").Error != "" })
		w.machines.silence(false)
		gone := func(name string) func() bool {
			return func() bool {
				_, err := objects.Get[hostapi.BMCEventSubscription](context.Background(), w.docs, "default", name)
				return errors.Is(err, objects.ErrNotFound)
			}
		}
		w.waits("the document goes", gone("a"))
		if n, newest := w.machines.subscriptions(); n != 1 || newest["Id"] != "2" {
			t.Errorf("%d subscriptions are left, the newest is %v", n, newest)
		}
		w.remove("h")
		w.gone("h")
		w.unsubscribes("b")
		w.waits("the document of a gone host goes", gone("b"))
	})
}

// TestPreprovisioningImages: the status names the ramdisk of the node, or else the conductor's, by architecture and
// format, or why there is none.
func TestPreprovisioningImages(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		w.stop()
		w.ramdisks = []reconciler.DeployImage{{Format: hostapi.FormatInitrd, Architecture: "x86_64",
			URL: "http://boot/initrd", KernelURL: "http://boot/kernel", Params: "quiet"}}
		w.start()
		both := []hostapi.ImageFormat{hostapi.FormatISO, hostapi.FormatInitrd}
		want := map[string]string{}
		for name, c := range map[string]struct {
			spec hostapi.PreprovisioningImageSpec
			want string
		}{
			"own": {hostapi.PreprovisioningImageSpec{AcceptFormats: both, Architecture: "x86_64"},
				"http://boot/initrd http://boot/kernel quiet initrd Ready=True ImageSuccess"},
			"arm": {hostapi.PreprovisioningImageSpec{AcceptFormats: both, Architecture: "aarch64"},
				"Ready=False ConfigurationError there is no ramdisk for aarch64: there is initrd x86_64"},
			"iso": {hostapi.PreprovisioningImageSpec{AcceptFormats: both[:1]},
				"Ready=False ConfigurationError spec.acceptFormats has none of the formats there are: initrd x86_64"},
			"none": {hostapi.PreprovisioningImageSpec{},
				"Ready=False ConfigurationError spec.acceptFormats has none of the formats there are: initrd x86_64"},
			"net": {hostapi.PreprovisioningImageSpec{AcceptFormats: both, NetworkDataName: "net"},
				"Ready=False MissingNetworkData the secret default/net of spec.networkDataName does not exist"},
			"h": {hostapi.PreprovisioningImageSpec{AcceptFormats: both}, "http://site/own.iso   iso Ready=True ImageSuccess"},
		} {
			want[name] = c.want
			_, err := objects.Create(ctx, w.docs, hostapi.PreprovisioningImage{
				ObjectMeta: hostapi.ObjectMeta{Name: name, Namespace: "default"}, Spec: c.spec})
			w.check(err)
		}
		w.apply("h", nil)
		w.becomes("h", hostapi.StateAvailable)
		_, err := w.eng.UpdateNode(ctx, "default~h", func(n *node.Node) error {
			n.DriverInfo["deploy_iso"] = "http://site/own.iso"
			return nil
		})
		w.check(err)
		w.edit("h", func(h *hostapi.Host) { h.Spec.Description = "a change that causes a look" })
		said := func(name string) string {
			p, err := objects.Get[hostapi.PreprovisioningImage](ctx, w.docs, "default", name)
			w.check(err)
			out := ""
			if s := p.Status; s.ImageURL != "" {
				out = fmt.Sprintf("%s %s %s %s ", s.ImageURL, s.KernelURL, s.ExtraKernelParams, s.Format)
			}
			for _, c := range p.Status.Conditions {
				switch {
				case c.Type == hostapi.ConditionReady:
					out += "Ready=" + c.Status + " " + c.Reason
				case c.Status == hostapi.True:
					out += " " + c.Message
				}
			}
			return out
		}
		for name, text := range want {
			w.waits(fmt.Sprintf("the status of %s is %q; it is %q", name, text, said(name)),
				func() bool { return said(name) == text })
		}
		w.data("net", map[string][]byte{"networkData": []byte("{}")})
		w.waits("the network data is there", func() bool {
			return said("net") == "http://boot/initrd http://boot/kernel quiet initrd Ready=True ImageSuccess"
		})
	})
}

// TestSwitchesAreKept: documents about switches have a condition that says that nothing comes of them.
func TestSwitchesAreKept(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		_, err := objects.Create(ctx, w.docs, hostapi.BareMetalSwitch{
			ObjectMeta: hostapi.ObjectMeta{Name: "tor", Namespace: "default"},
			Spec: hostapi.BareMetalSwitchSpec{Address: "10.0.0.1", MACAddress: "52:54:00:00:00:01",
				DeviceType: "netmiko_cisco_ios"}})
		w.check(err)
		_, err = objects.Create(ctx, w.docs, hostapi.HostNetworkAttachment{
			ObjectMeta: hostapi.ObjectMeta{Name: "tor", Namespace: "default"},
			Spec:       hostapi.HostNetworkAttachmentSpec{NativeVLAN: 1}})
		w.check(err)
		time.Sleep(time.Minute)
		s, err := objects.Get[hostapi.BareMetalSwitch](ctx, w.docs, "default", "tor")
		w.check(err)
		a, err := objects.Get[hostapi.HostNetworkAttachment](ctx, w.docs, "default", "tor")
		w.check(err)
		for _, st := range []hostapi.SwitchStatus{s.Status, a.Status} {
			if len(st.Conditions) != 1 || st.Conditions[0].Reason != "NoSwitches" || st.Conditions[0].Status != hostapi.False {
				t.Errorf("the conditions are %+v", st.Conditions)
			}
		}
		if s.Spec.Driver != "generic-switch" || a.Spec.Mode != "access" {
			t.Errorf("without Metal3's defaults: %+v, %+v", s.Spec, a.Spec)
		}
	})
}
