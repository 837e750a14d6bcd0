package erase

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// frozen is an SSD with its security frozen by the firmware.
func frozen() Facts {
	return Facts{Disk: describe("/dev/sda", "sata"), Discard: true, ata: &ataFacts{security: true, frozen: true}}
}

func TestPlan(t *testing.T) {
	nvme := func(c nvmeController) Facts {
		return Facts{Disk: describe("/dev/nvme0n1", ""), Discard: true, WriteZeros: true,
			nvme: &nvmeFacts{nsid: 1, namespaces: 1, controller: c}}
	}
	all := nvmeController{format: true, formatCrypto: true, sanitizeCryp: true, sanitizeBl: true}
	for name, c := range map[string]struct {
		facts  Facts
		change func(*Options)
		want   string // DiskPlan.String
	}{
		"all of NVMe": {nvme(all), nil, "nvme_sanitize_crypto"},
		"all of it, go on": {nvme(all), func(o *Options) { o.Continue = true },
			"nvme_sanitize_crypto, then nvme_sanitize_block, then nvme_format_crypto, then nvme_format_user_data, " +
				"then discard, then zero_out, then overwrite"},
		"NVMe switched off":    {nvme(all), func(o *Options) { o.NVMe = false }, "discard, then zero_out, then overwrite"},
		"frozen":               {frozen(), nil, "refused: ata_secure_erase: the drive's security is frozen"},
		"frozen, go on":        {frozen(), func(o *Options) { o.Continue = true }, "discard, then overwrite"},
		"frozen, switched off": {frozen(), func(o *Options) { o.ATA = false }, "discard, then overwrite"},
		"virtio": {Facts{Disk: describe("/dev/vda", "virtio"), WriteZeros: true}, nil,
			"zero_out, then overwrite"},
		"read-only": {Facts{Disk: describe("/dev/vda", ""), ReadOnly: true}, nil, "refused: it is read-only"},
		"read-only, skipped": {Facts{Disk: describe("/dev/vda", ""), ReadOnly: true},
			func(o *Options) { o.SkipReadOnly = true }, "left alone: read-only"},
		"shared": {Facts{Disk: describe("/dev/vda", ""), Shared: "it has gfs2"}, nil, "refused: it has gfs2"},
		"shared, given up": {Facts{Disk: describe("/dev/vda", ""), Shared: "it has gfs2"},
			func(o *Options) { o.Shared = true }, "overwrite"},
		"Opal": {Facts{Disk: describe("/dev/sda", "sata"), Locked: true}, nil,
			"refused: it encrypts itself and is locked (TCG Opal)"},
		"password tried out": {Facts{Disk: describe("/dev/sda", "sata"),
			ata: &ataFacts{security: true, locked: true, expired: true}}, nil, "refused: it is locked by an ATA password"},
		"unknown": {Unknown(describe("/dev/sda", ""), errNotSupported), nil,
			"refused: the device does not have this command"},
		"to be kept": {Skipped(describe("/dev/sda", ""), "in skip_block_devices"), nil,
			"left alone: in skip_block_devices"},
	} {
		t.Run(name, func(t *testing.T) {
			o := usual(t)
			if c.change != nil {
				c.change(&o)
			}
			p := Plan([]Facts{c.facts}, o)[0]
			got := p.String()
			if got != c.want && (p.Skipped+p.Refused == "" || !strings.HasPrefix(got, c.want)) {
				t.Errorf("expected %q, found %q; not taken %v", c.want, got, p.NotTaken)
			}
			if p.Skipped == "" && p.Refused == "" && len(p.Methods)+len(p.NotTaken) != len(Methods()) {
				t.Errorf("of %d methods %d are taken and %d are told why not", len(Methods()), len(p.Methods), len(p.NotTaken))
			}
		})
	}
}

// TestGoesOn: an erase that the drive does by itself cannot be cut off.
func TestGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		facts Facts
		want  bool
	}{
		"format":           {Facts{nvme: &nvmeFacts{controller: nvmeController{format: true}}}, true},
		"ATA secure erase": {Facts{ata: &ataFacts{security: true}}, true},
		"frozen":           {frozen(), false},
		"discard":          {Facts{Discard: true}, false},
		"nothing known":    {Unknown(describe("/dev/sda", ""), errNotSupported), true},
		"kept":             {Skipped(describe("/dev/sda", ""), "in skip_block_devices"), false},
	} {
		if got := Plan([]Facts{c.facts}, usual(t))[0].GoesOn(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestFrozenIsReported: methods that could not be tried are among the attempts, with advice.
func TestFrozenIsReported(t *testing.T) {
	f := newFake()
	o := usual(t)
	d := erased(t, Methods(), f, frozen(), o)
	if d.Method != "" || len(d.Attempts) != 1 || !strings.Contains(d.Error, "suspend and wake") ||
		!strings.Contains(string(f.mem), "old data") {
		t.Errorf("%+v", d)
	}
	o.Continue = true
	facts := frozen()
	facts.Discard = false
	if d := erased(t, Methods(), f, facts, o); d.Method != "overwrite" || len(d.Attempts) != 2 ||
		d.Attempts[0].Method != "ata_secure_erase" {
		t.Errorf("%+v", d)
	}
}

func TestExpress(t *testing.T) {
	plans := Express([]Facts{
		{Disk: describe("/dev/nvme0n1", ""), nvme: &nvmeFacts{controller: nvmeController{format: true}}},
		{Disk: describe("/dev/vda", ""), Discard: true},
	}, usual(t))
	if !slices.Equal(plans[0].Methods, []string{"nvme_format_user_data"}) || len(plans[1].Methods) != 0 ||
		plans[1].Refused != "" {
		t.Errorf("%v", plans)
	}
}

func TestOptions(t *testing.T) {
	o, err := OptionsFrom(map[string]any{
		"agent_continue_if_ata_erase_failed": true, "agent_enable_nvme_secure_erase": false,
		"agent_erase_skip_read_only":     true,
		"agent_erase_devices_iterations": 3.0, "agent_erase_devices_zeroize": false, "disk_erasure_concurrency": 8.0,
		"wipe_special_filesystems": false, "more": 1,
	})
	want := Options{Continue: true, ATA: true, SkipReadOnly: true, Passes: 3, Concurrency: 8, Shared: true}
	if diff := cmp.Diff(want, o); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, bad := range []map[string]any{
		{"agent_enable_ata_secure_erase": "no"}, {"wipe_special_filesystems": "false"}, {"disk_erasure_concurrency": 0.0},
		{"disk_erasure_concurrency": 1.5}, {"agent_erase_devices_iterations": -1.0},
		{"agent_erase_devices_iterations": 0.0, "agent_erase_devices_zeroize": false},
	} {
		if _, err := OptionsFrom(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

// TestMarked reads a disk's marks in sysfs.
func TestMarked(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s + "\n")} }
	sys := fstest.MapFS{
		"sys/block/nvme0n1/ro": text("1"), "sys/block/nvme0n1/nsid": text("7"),
		"sys/block/cciss!c0d0/queue/discard_max_bytes":      text("2147450880"),
		"sys/block/cciss!c0d0/queue/write_zeroes_max_bytes": text("0"),
	}
	f := Marked(sys, describe("/dev/nvme0n1", ""))
	if !f.ReadOnly || f.nvme == nil || f.nvme.nsid != 7 {
		t.Errorf("%+v", f)
	}
	if f = Marked(sys, describe("/dev/cciss/c0d0", "")); f.ReadOnly || !f.Discard || f.WriteZeros || f.nvme != nil {
		t.Errorf("%+v", f)
	}
}

// TestMeter: the progress is the slowest disk's.
func TestMeter(t *testing.T) {
	var last agentapi.Progress
	plans := []DiskPlan{{ErasePlan: agentapi.ErasePlan{Device: "/dev/a", Size: 1000}},
		{ErasePlan: agentapi.ErasePlan{Device: "/dev/b", Size: 2000}}}
	m := newMeter("erase_devices", plans, func(p agentapi.Progress) { last = p })
	m.set("/dev/a", "overwrite", 0.75)
	m.set("/dev/b", "discard", 0.25)
	if diff := cmp.Diff(agentapi.Progress{Step: "erase_devices", Stage: "0 of 2 disks done; /dev/b by discard", Done: 500,
		Total: 2000}, last); diff != "" {
		t.Error(diff)
	}
	m.done("/dev/b")
	if diff := cmp.Diff(agentapi.Progress{Step: "erase_devices", Stage: "1 of 2 disks done; /dev/a by overwrite",
		Done: 750, Total: 1000}, last); diff != "" {
		t.Error(diff)
	}
}
