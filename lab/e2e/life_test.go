package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// machine is the plain machine of the lab: one disk, one card with iPXE.
func machine(name string, firmware qemu.Firmware) qemu.Spec {
	return qemu.Spec{
		Name: name, Firmware: firmware, MemoryMB: 512,
		Disks: []qemu.Disk{{SizeMB: 2048}}, NICs: []qemu.NIC{{OptionROM: true}},
	}
}

// image is a published file of an OS image.
func image(s *site.Site, i osimage.Image, path string) site.Image {
	return site.Image{URL: fmt.Sprintf("%s/%s/%s", s.ImagesURL, i.ID, filepath.Base(path)), SHA256: i.SHA256[path]}
}

// drive is a config drive that makes the OS report.
func drive(s *site.Site, hostname string) map[string]any {
	return map[string]any{
		"meta_data": map[string]any{"hostname": hostname, "uuid": "11111111-2222-4333-8444-555555555555"},
		"user_data": "#cloud-config\nphone_home:\n  url: " + s.PhoneHomeURL + "\n",
	}
}

// deploy writes an image and waits for the OS to report its hostname and the
// image it came from.
func deploy(ctx context.Context, s *site.Site, m *lab.Machine, i site.Image, id, hostname string) error {
	asked := time.Now()
	if err := begin(ctx, s, m, i, hostname); err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	return booted(ctx, s, m, id, hostname, asked)
}

// begin asks for a deploy.
func begin(ctx context.Context, s *site.Site, m *lab.Machine, i site.Image, hostname string) error {
	if err := s.SetImage(ctx, m.Name, i); err != nil {
		return err
	}
	return s.Provision(ctx, m.Name, "active", drive(s, hostname))
}

func booted(ctx context.Context, s *site.Site, m *lab.Machine, id, hostname string, asked time.Time) error {
	if _, err := s.Until(ctx, m.Name, "active"); err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	r, err := s.WaitPhoneHome(ctx, func(r lab.Report) bool { return r.Hostname() == hostname && r.Time.After(asked) })
	if err != nil {
		return fmt.Errorf("the deployed OS does not report: %w", err)
	}
	if got := r.Form.Get("image"); got != id {
		return fmt.Errorf("the OS that booted is image %q, deployed was %q", got, id)
	}
	if want := string(m.Spec().Firmware); r.Form.Get("boot") != want {
		return fmt.Errorf("the OS booted under %q on a %s machine", r.Form.Get("boot"), want)
	}
	return nil
}

// heartbeatTime is how long the last boot took from power-on to heartbeat.
func heartbeatTime(stages []nodeapi.Stage) (time.Duration, error) {
	at := func(name string) time.Time {
		i := slices.IndexFunc(stages, func(s nodeapi.Stage) bool { return s.Name == name })
		if i < 0 {
			return time.Time{}
		}
		return stages[i].At
	}
	on, beat := at("power on"), at("heartbeat")
	if on.IsZero() || beat.IsZero() {
		return 0, fmt.Errorf("boot stages without power on and heartbeat: %v", stages)
	}
	return beat.Sub(on), nil
}

// firmwareStart is how the history says how often an activity has started a machine's firmware.
var firmwareStart = regexp.MustCompile(`, (\d+) firmware starts?$`)

// countStarts compares the machine's starts with those that its node's history counts.
func countStarts(ctx context.Context, s *site.Site, m *lab.Machine) (int, error) {
	var page struct {
		History []struct {
			Event string `json:"event"`
		} `json:"history"`
	}
	if err := s.Call(ctx, "GET", "/v1/nodes/"+m.Name+"/history?detail=True", nil, &page); err != nil {
		return 0, err
	}
	counted := 0
	for _, h := range page.History {
		if found := firmwareStart.FindStringSubmatch(h.Event); found != nil {
			n, err := strconv.Atoi(found[1])
			if err != nil {
				return 0, err
			}
			counted += n
		}
	}
	if starts, _ := m.Starts(); starts != counted {
		return starts, fmt.Errorf("machine %s has started %d times, its history counts %d: %v", m.Name, starts, counted,
			page.History)
	}
	return counted, nil
}

// readied enrolls a machine and brings it to available, and says how long its
// cleaning ramdisk took to call.
func readied(ctx context.Context, s *site.Site, m *lab.Machine, inspect bool) (time.Duration, error) {
	if _, err := s.Enroll(ctx, m, nil); err != nil {
		return 0, fmt.Errorf("enroll: %w", err)
	}
	if _, err := s.Ask(ctx, m.Name, "manage", "manageable"); err != nil {
		return 0, fmt.Errorf("manage: %w", err)
	}
	if inspect {
		n, err := s.Ask(ctx, m.Name, "inspect", "manageable")
		if err != nil {
			return 0, fmt.Errorf("inspect: %w", err)
		}
		if n.Properties["cpu_arch"] != "x86_64" || n.Properties["local_gb"] == nil || n.Properties["memory_mb"] == nil {
			return 0, fmt.Errorf("inspect: properties are %v", n.Properties)
		}
	}
	if _, err := s.Ask(ctx, m.Name, "provide", "available"); err != nil {
		return 0, fmt.Errorf("provide: %w", err)
	}
	st, err := s.Status(ctx, m.Name)
	if err != nil {
		return 0, err
	}
	return heartbeatTime(st.BootStages)
}

func uefiLife(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.UEFI)}, "--image-cache", "1G")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	start := time.Now()
	beat, err := readied(ctx, s, m, true)
	if err != nil {
		return err
	}
	if err := deploy(ctx, s, m, image(s, b.tiny, b.tiny.Raw), "first", "host-one"); err != nil {
		return err
	}
	took := time.Since(start)
	starts, err := countStarts(ctx, s, m)
	if err != nil {
		return err
	}
	b.figures.set(&b.figures.booted, took)
	b.figures.setStarts(starts)
	say("uefi: power-on to heartbeat %.1f s, enroll to booted %.1f s, firmware starts %d", beat.Seconds(), took.Seconds(),
		starts)
	if starts != 1 {
		return fmt.Errorf("from enroll to booted the firmware started %d times, expected once: look into `node history`", starts)
	}
	if cached, err := s.CachedImages(); err != nil || cached != 1 {
		return errors.Join(err, fmt.Errorf("%d images came through the conductor (--image-cache), expected the one of the "+
			"deploy", cached))
	}
	if _, err := s.Ask(ctx, m.Name, "deleted", "available"); err != nil {
		return fmt.Errorf("undeploy: %w", err)
	}
	if err := s.AddImage(ctx, "second", b.other.Qcow2); err != nil {
		return err
	}
	return deploy(ctx, s, m, site.Image{URL: "image:second"}, "second", "host-two")
}

// firmwareLife is the way of old: each activity, and the installed system, with a start of the firmware.
func firmwareLife(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.UEFI)}, "--fast-track=false", "--kexec", "never",
		"--traces-endpoint", "http://"+collectorAt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	spans, end, err := collector(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	start := time.Now()
	beat, err := readied(ctx, s, s.Machines[0], true)
	if err != nil {
		return err
	}
	b.figures.set(&b.figures.uefi, beat) // of a boot that only cleans, as the BIOS machine's
	if err := deploy(ctx, s, s.Machines[0], image(s, b.tiny, b.tiny.Raw), "first", "host-one"); err != nil {
		return err
	}
	took := time.Since(start)
	starts, err := countStarts(ctx, s, s.Machines[0])
	if err != nil {
		return err
	}
	say("by the firmware alone: enroll to booted %.1f s, firmware starts %d", took.Seconds(), starts)
	if starts != 4 {
		return fmt.Errorf("from enroll to booted the firmware started %d times, expected 4", starts)
	}
	return traced(b, spans, "metal-1")
}

func biosLife(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.BIOS)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	beat, err := readied(ctx, s, s.Machines[0], false)
	if err != nil {
		return err
	}
	b.figures.set(&b.figures.bios, beat)
	say("bios: power-on to heartbeat %.1f s", beat.Seconds())
	m := s.Machines[0]
	if err := deploy(ctx, s, m, image(s, b.tiny, b.tiny.Raw), "first", "host-one"); err != nil {
		return err
	}
	if starts, err := countStarts(ctx, s, m); err != nil || starts != 1 {
		return errors.Join(err, fmt.Errorf("from enroll to booted the firmware started %d times, expected once", starts))
	}
	asked := time.Now()
	if err := s.SetImage(ctx, m.Name, image(s, b.other, b.other.RawZst)); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	if err := s.Provision(ctx, m.Name, "rebuild", drive(s, "host-again")); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return booted(ctx, s, m, "second", "host-again", asked)
}
