package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// documented lives the life of two hosts by documents alone: provisioned from one
// file, rebooted, detached and switched off by hand, provisioned anew, taken
// back, deleted. One is inspected by its agent and cleaned, the other is neither.
func documented(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.UEFI), machine("metal-2", qemu.UEFI)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	first := image(s, b.tiny, b.tiny.Raw)
	one := document{s.Machines[0], first, nil, map[string]any{"deviceName": "/dev/vda"}, "agent", "metadata",
		s.PhoneHomeURL}
	two := document{s.Machines[1], first, nil, map[string]any{"serialNumber": s.Machines[1].Spec().Disks[0].Serial},
		"fast", "disabled", s.PhoneHomeURL}
	for _, part := range []struct {
		name string
		run  func(ctx context.Context, s *site.Site, one, two document) error
	}{
		{"two hosts of one file", b.hostsBegin},
		{"rebooted", b.hostReboots},
		{"detached, and the other provisioned anew", b.hostDetached},
		{"taken back", b.hostAttached},
		{"deleted", b.hostsEnd},
	} {
		start := time.Now()
		if err := part.run(ctx, s, one, two); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		b.lap(part.name)
		say("hosts: %s: %.1f s", part.name, time.Since(start).Seconds())
	}
	return nil
}

// apply writes documents to one file and has them applied.
func (b *bed) apply(ctx context.Context, s *site.Site, flags string, all ...document) error {
	var text strings.Builder
	for _, d := range all {
		if err := documents.Execute(&text, d); err != nil {
			return err
		}
	}
	if err := os.WriteFile(b.hostsFile(), []byte(text.String()), 0o600); err != nil {
		return err
	}
	return b.commands(ctx, s, "apply -f "+b.hostsFile()+" "+flags)
}

func (b *bed) hostsFile() string { return filepath.Join(b.dir, "hosts.yaml") }

// hostsBegin has both machines come up as their documents say.
func (b *bed) hostsBegin(ctx context.Context, s *site.Site, one, two document) error {
	asked := time.Now()
	if err := b.apply(ctx, s, "--wait", one, two); err != nil {
		return err
	}
	return errors.Join(b.runs(ctx, s, one, b.tiny, asked), b.runs(ctx, s, two, b.tiny, asked))
}

// runs waits for a host's OS to report, with the data of its config drive.
func (b *bed) runs(ctx context.Context, s *site.Site, d document, i osimage.Image, since time.Time) error {
	h, err := hostOf(ctx, s, d.Name)
	if err != nil {
		return err
	}
	r, err := s.WaitPhoneHome(ctx, func(r lab.Report) bool { return r.Hostname() == d.hostname() && r.Time.After(since) })
	if err != nil {
		return fmt.Errorf("the OS of %s does not report: %w", d.Name, err)
	}
	sum := sha256.Sum256([]byte(d.UserData()))
	want := map[string]string{"instance_id": h.UID, "user_data_sha256": hex.EncodeToString(sum[:]), "boot": "uefi",
		"image": i.ID}
	for key, value := range want {
		if got := r.Form.Get(key); got != value {
			return fmt.Errorf("%s reports %s %q, expected %q", d.Name, key, got, value)
		}
	}
	shown, err := d.shown(h.UID)
	if err != nil {
		return err
	}
	for name, want := range shown {
		var got any
		if err := json.Unmarshal([]byte(r.Form.Get(name)), &got); err != nil {
			return fmt.Errorf("%s has found %s %q: %w", d.Name, name, r.Form.Get(name), err)
		}
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%s has found %s %v, expected %v", d.Name, name, got, want)
		}
	}
	return nil
}

// hostReboots asks for one reboot: the OS is shut down and comes back, and the
// annotation is gone.
func (b *bed) hostReboots(ctx context.Context, s *site.Site, _, two document) error {
	before, asked := starts(two.Machine), time.Now()
	resets := two.BMC.Counters().Calls[resetCall]
	two.Annotations = map[string]string{hostapi.AnnotationReboot: ""}
	if err := b.apply(ctx, s, "--wait", two); err != nil {
		return err
	}
	if got := two.BMC.Counters().Calls[resetCall] - resets; got != 2 {
		return fmt.Errorf("the BMC has heard %d power changes by the end of the wait, expected one off and one on", got)
	}
	if err := osIsUp(ctx, two.Machine, before); err != nil {
		return err
	}
	h, err := hostOf(ctx, s, two.Name)
	if err != nil {
		return err
	}
	if _, left := h.Annotations[hostapi.AnnotationReboot]; left {
		return fmt.Errorf("the annotation %s is there still", hostapi.AnnotationReboot)
	}
	return b.runs(ctx, s, two, b.tiny, asked)
}

// resetCall is how a client of the BMC changes the power.
const resetCall = http.MethodPost + " /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"

// hostDetached switches a detached machine off by hand. While the other one is provisioned anew, its BMC gets no
// request.
func (b *bed) hostDetached(ctx context.Context, s *site.Site, one, two document) error {
	two.Annotations = map[string]string{hostapi.AnnotationDetached: ""}
	if err := b.apply(ctx, s, "", two); err != nil {
		return err
	}
	if err := detached(ctx, s, two.Name); err != nil {
		return err
	}
	if err := two.Reset(ctx, qemu.ResetForceOff); err != nil {
		return err
	}
	before, asked := two.BMC.Counters(), time.Now()
	one.Image = image(s, b.other, b.other.Raw)
	if err := b.apply(ctx, s, "--wait", one); err != nil {
		return err
	}
	if err := b.runs(ctx, s, one, b.other, asked); err != nil {
		return err
	}
	if after := two.BMC.Counters(); after.Requests != before.Requests || two.Power() != qemu.Off {
		return fmt.Errorf("the detached machine is %s, and its BMC has heard %d requests", two.Power(),
			after.Requests-before.Requests)
	}
	return nil
}

// detached waits until a host is, and its node forgotten.
func detached(ctx context.Context, s *site.Site, name string) error {
	for {
		h, err := hostOf(ctx, s, name)
		if err != nil {
			return err
		}
		if h.Status.OperationalStatus == hostapi.StatusDetached {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("host %s is %q, not detached: %w", name, h.Status.OperationalStatus, ctx.Err())
		case <-time.After(time.Second):
		}
	}
	left, err := nodes(ctx, s)
	if err == nil && len(left) != 1 {
		err = fmt.Errorf("%d nodes, expected that of the other host alone", len(left))
	}
	return err
}

// hostAttached takes the detached one back: it is on again, as its document says,
// with the OS it had, and has seen no ramdisk.
func (b *bed) hostAttached(ctx context.Context, s *site.Site, _, two document) error {
	before, asked := starts(two.Machine), time.Now()
	if err := b.apply(ctx, s, "--wait", two); err != nil {
		return err
	}
	if err := b.runs(ctx, s, two, b.tiny, asked); err != nil {
		return err
	}
	if got := starts(two.Machine) - before; got != 1 {
		return fmt.Errorf("the machine has started %d times, expected once, into its OS", got)
	}
	return nil
}

// hostsEnd deletes everything. When the documents are gone the machines are off, and no node is left to switch them
// off.
func (b *bed) hostsEnd(ctx context.Context, s *site.Site, one, two document) error {
	one.Image = image(s, b.other, b.other.Raw)
	if err := b.apply(ctx, s, "", one, two); err != nil {
		return err
	}
	if err := b.commands(ctx, s, "delete -f "+b.hostsFile()); err != nil {
		return err
	}
	if one.Power() != qemu.Off || two.Power() != qemu.Off {
		return fmt.Errorf("the hosts are gone, and their machines %s and %s", one.Power(), two.Power())
	}
	for _, kind := range []string{"hosts", "hardwaredata", "secrets"} {
		said, err := b.ferrite(ctx, s, "host", "get", kind, "-o", "json")
		if err != nil {
			return err
		}
		var left struct{ Items []json.RawMessage }
		if err := json.Unmarshal([]byte(said), &left); err != nil {
			return fmt.Errorf("get %s: %w", kind, err)
		}
		if len(left.Items) > 0 {
			return fmt.Errorf("%d %s are left: %s", len(left.Items), kind, said)
		}
	}
	left, err := nodes(ctx, s)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%d nodes are left", len(left))
	}
	return err
}

// hostOf reads a host.
func hostOf(ctx context.Context, s *site.Site, name string) (h hostapi.Host, err error) {
	err = s.Call(ctx, http.MethodGet, "/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts/"+name, nil, &h)
	return h, err
}

func nodes(ctx context.Context, s *site.Site) ([]nodeapi.Node, error) {
	var all struct{ Nodes []nodeapi.Node }
	err := s.Call(ctx, http.MethodGet, "/v1/nodes", nil, &all)
	return all.Nodes, err
}
