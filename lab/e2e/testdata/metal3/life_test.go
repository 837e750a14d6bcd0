// Package life takes a machine through its life by the reconcilers and the Ironic provisioner of Metal3's operator. It
// is compiled inside the operator's module, whose reconcilers are internal. Kubernetes is the client that the
// operator's own tests use, so documents need no API server.
package life

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	controllers "github.com/metal3-io/baremetal-operator/internal/controller/metal3.io"
	"github.com/metal3-io/baremetal-operator/pkg/provisioner/ironic"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	namespace = "metal3"
	name      = "metal-1"
	// patience bounds one part of the life: the longest one boots twice and writes a disk, without KVM.
	patience = 10 * time.Minute
)

// kind is one kind of document and its reconciler.
type kind struct {
	reconcile.Reconciler
	list client.ObjectList
}

// world is what the operator has in Kubernetes.
type world struct {
	client.Client
	kinds []kind
	last  error // of a reconciler
}

// newWorld makes the operator as its main program does, with Ironic's address in IRONIC_ENDPOINT.
func newWorld(t *testing.T) *world {
	t.Helper()
	log := zap.New(zap.UseDevMode(true), zap.WriteTo(os.Stderr))
	ctrl.SetLogger(log)
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgo.AddToScheme(scheme), metal3.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&metal3.BareMetalHost{},
		&metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{}, &metal3.FirmwareSchema{}, &metal3.DataImage{},
		&metal3.BMCEventSubscription{}).Build()
	factory, err := ironic.NewProvisionerFactory(log, false)
	if err != nil {
		t.Fatal(err)
	}
	return &world{Client: c, kinds: []kind{
		{&controllers.BareMetalHostReconciler{Client: c, APIReader: c, Log: log, ProvisionerFactory: factory,
			Recorder: &record.FakeRecorder{}}, &metal3.BareMetalHostList{}},
		{&controllers.HostFirmwareSettingsReconciler{Client: c, Log: log, ProvisionerFactory: factory},
			&metal3.HostFirmwareSettingsList{}},
		{&controllers.HostFirmwareComponentsReconciler{Client: c, Log: log, ProvisionerFactory: factory},
			&metal3.HostFirmwareComponentsList{}},
		{&controllers.DataImageReconciler{Client: c, Log: log, ProvisionerFactory: factory}, &metal3.DataImageList{}},
		{&controllers.BMCEventSubscriptionReconciler{Client: c, APIReader: c, Log: log, ProvisionerFactory: factory},
			&metal3.BMCEventSubscriptionList{}},
	}}
}

// turn reconciles every document once.
func (w *world) turn(t *testing.T) {
	for _, k := range w.kinds {
		if err := w.List(t.Context(), k.list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		all, err := meta.ExtractList(k.list)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			doc, ok := one.(client.Object)
			if !ok {
				t.Fatalf("%T is no document", one)
			}
			_, err := k.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(doc)})
			if err != nil {
				w.last = fmt.Errorf("%T %s: %w", one, doc.GetName(), err)
				t.Log(w.last)
			}
		}
	}
}

// until reconciles until the host is so. An error in its status ends the wait, but for one: the operator first asks the
// operating system to shut down, which the lab's does not do, and after three minutes has the power switched off.
func (w *world) until(t *testing.T, so func(h *metal3.BareMetalHost) bool) *metal3.BareMetalHost {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Second) {
		w.turn(t)
		h := w.host(t)
		if h == nil || so(h) {
			return h
		}
		if h.Status.ErrorMessage != "" && (h.Spec.Online || h.Status.ErrorType != metal3.PowerManagementError) {
			t.Fatalf("the host is %q: %s: %s", h.Status.Provisioning.State, h.Status.ErrorType, h.Status.ErrorMessage)
		}
	}
	h := w.host(t)
	t.Fatalf("the host stays %q, powered on %v; the last error of a reconciler: %v", h.Status.Provisioning.State,
		h.Status.PoweredOn, w.last)
	return nil
}

// becomes reconciles until the host is in a state.
func (w *world) becomes(t *testing.T, state metal3.ProvisioningState) *metal3.BareMetalHost {
	t.Helper()
	return w.until(t, func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == state })
}

// host is the host; nil when it was deleted.
func (w *world) host(t *testing.T) *metal3.BareMetalHost {
	t.Helper()
	h := &metal3.BareMetalHost{}
	err := w.Get(t.Context(), key(name), h)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return h
}

// change edits the host as a user does.
func (w *world) change(t *testing.T, edit func(h *metal3.BareMetalHost)) {
	t.Helper()
	h := w.host(t)
	edit(h)
	h.Generation++
	if err := w.Update(t.Context(), h); err != nil {
		t.Fatal(err)
	}
}

func key(of string) client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: of} }

// create stores a document.
func (w *world) create(t *testing.T, doc client.Object) {
	t.Helper()
	if err := w.Create(t.Context(), doc); err != nil {
		t.Fatal(err)
	}
}

// newHost is the document of the machine.
func newHost() *metal3.BareMetalHost {
	return &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "11111111-2222-4333-8444-555555555555",
			Generation: 1},
		Spec: metal3.BareMetalHostSpec{Online: true, BootMACAddress: os.Getenv("LIFE_MAC"), BootMode: metal3.UEFI,
			RootDeviceHints:       &metal3.RootDeviceHints{DeviceName: "/dev/vda"}, // the operator's own default is /dev/sda
			AutomatedCleaningMode: metal3.CleaningModeMetadata,
			BMC:                   metal3.BMCDetails{Address: os.Getenv("LIFE_BMC"), CredentialsName: "bmc"}},
	}
}

// TestLife: each part begins where the one before ended.
func TestLife(t *testing.T) {
	w := newWorld(t)
	w.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bmc"},
		Data: map[string][]byte{"username": []byte(os.Getenv("LIFE_USER")), "password": []byte(os.Getenv("LIFE_PASSWORD"))}})
	w.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "user"},
		Data: map[string][]byte{"userData": []byte(os.Getenv("LIFE_USER_DATA"))}})
	for _, part := range []struct {
		name string
		run  func(*testing.T, *world)
	}{
		{"register", register}, {"inspect", inspect}, {"firmware", firmware}, {"provision", provision},
		{"subscribe", subscribe}, {"power", power}, {"reboot", reboot}, {"deprovision", deprovision}, {"delete", remove},
		{"adopt", adopt},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, w) }) {
			t.FailNow()
		}
	}
}

func register(t *testing.T, w *world) {
	w.create(t, newHost())
	if h := w.becomes(t, metal3.StateInspecting); h.Status.GoodCredentials.Reference == nil {
		t.Error("the credentials were not tried")
	}
}

// inspect has the machine's hardware in its status, from the agent.
func inspect(t *testing.T, w *world) {
	w.becomes(t, metal3.StateAvailable)
	data := &metal3.HardwareData{}
	if err := w.Get(t.Context(), key(name), data); err != nil {
		t.Fatal(err)
	}
	d := data.Spec.HardwareDetails
	if d == nil || len(d.NIC) == 0 || d.NIC[0].MAC != os.Getenv("LIFE_MAC") || len(d.Storage) == 0 || d.CPU.Count == 0 ||
		d.RAMMebibytes == 0 {
		t.Errorf("the hardware is %+v", d)
	}
}

// firmware has the BMC's settings and components in their documents.
func firmware(t *testing.T, w *world) {
	settings, components := &metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{}
	w.until(t, func(*metal3.BareMetalHost) bool {
		if err := errors.Join(w.Get(t.Context(), key(name), settings), w.Get(t.Context(), key(name), components)); err != nil {
			t.Fatal(err)
		}
		return len(settings.Status.Settings) > 0 && settings.Status.FirmwareSchema != nil &&
			len(components.Status.Components) > 0
	})
}

// provision writes the image, whose system then reports with the data of its config drive.
func provision(t *testing.T, w *world) {
	raw := "raw"
	w.change(t, func(h *metal3.BareMetalHost) {
		h.Spec.Image = &metal3.Image{URL: os.Getenv("LIFE_IMAGE"), Checksum: os.Getenv("LIFE_SHA256"),
			ChecksumType: metal3.SHA256, DiskFormat: &raw}
		h.Spec.UserData = &corev1.SecretReference{Namespace: namespace, Name: "user"}
	})
	if h := w.becomes(t, metal3.StateProvisioned); !h.Status.PoweredOn || h.Status.Provisioning.Image.URL == "" {
		t.Errorf("provisioned, the host is %+v", h.Status)
	}
	w.until(t, func(*metal3.BareMetalHost) bool {
		_, err := os.Stat(os.Getenv("LIFE_REPORTED"))
		return err == nil
	})
}

func subscribe(t *testing.T, w *world) {
	s := &metal3.BMCEventSubscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: metal3.BMCEventSubscriptionSpec{HostName: name, Destination: os.Getenv("LIFE_EVENTS"), Context: "life"}}
	w.create(t, s)
	w.until(t, func(*metal3.BareMetalHost) bool {
		if err := w.Get(t.Context(), key(name), s); err != nil {
			t.Fatal(err)
		}
		if s.Status.Error != "" {
			t.Fatal(s.Status.Error)
		}
		return s.Status.SubscriptionID != ""
	})
	if err := w.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	w.until(t, func(*metal3.BareMetalHost) bool {
		return client.IgnoreNotFound(w.Get(context.Background(), key(name), s)) == nil &&
			w.Get(context.Background(), key(name), s) != nil
	})
}

func power(t *testing.T, w *world) {
	for _, on := range []bool{false, true} {
		w.change(t, func(h *metal3.BareMetalHost) { h.Spec.Online = on })
		w.until(t, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn == on })
	}
}

// reboot is one off and one on, after which the annotation is gone.
func reboot(t *testing.T, w *world) {
	w.change(t, func(h *metal3.BareMetalHost) {
		h.Annotations = map[string]string{metal3.RebootAnnotationPrefix: `{"mode":"hard"}`}
	})
	w.until(t, func(h *metal3.BareMetalHost) bool { return !h.Status.PoweredOn })
	w.until(t, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn && len(h.Annotations) == 0 })
}

func deprovision(t *testing.T, w *world) {
	w.change(t, func(h *metal3.BareMetalHost) { h.Spec.Image, h.Spec.UserData = nil, nil })
	w.becomes(t, metal3.StateDeprovisioning)
	w.becomes(t, metal3.StateAvailable)
}

func remove(t *testing.T, w *world) {
	if err := w.Delete(t.Context(), w.host(t)); err != nil {
		t.Fatal(err)
	}
	if h := w.until(t, func(*metal3.BareMetalHost) bool { return false }); h != nil {
		t.Errorf("the host is there still: %+v", h.Status)
	}
}

// adopt takes over a machine that was provisioned elsewhere.
func adopt(t *testing.T, w *world) {
	h := newHost()
	h.Spec.ExternallyProvisioned = true
	w.create(t, h)
	w.becomes(t, metal3.StateExternallyProvisioned)
	w.until(t, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
}
