package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/inventory"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// keeping is a node with a disk that the operator keeps.
func keeping(serial string) agentapi.CommandNode {
	return agentapi.CommandNode{UUID: "u",
		Properties: map[string]any{"skip_block_devices": []any{map[string]any{"serial": serial}}}}
}

func clean(t *testing.T, b *bench, n agentapi.CommandNode, name string, args map[string]any) (any, error) {
	t.Helper()
	return Execute(t.Context(), b.Machine, Clean,
		Request{Step: agentapi.Step{Interface: "deploy", Step: name, Args: args}, Node: n})
}

func TestEraseDevices(t *testing.T) {
	b := newBench(t, "/dev/vda", "/dev/vdb")
	b.Root = fstest.MapFS{"sys/class/dmi/id/product_serial": &fstest.MapFile{Data: []byte("M-1\n")}}
	for n := range b.files {
		b.fill(t, n)
	}
	result, err := clean(t, b, keeping("S-/dev/vdb"), "erase_devices", nil)
	report, ok := result.(agentapi.EraseReport)
	if err != nil || !ok {
		t.Fatalf("%v, %v", result, err)
	}
	if err := report.Validate(); err != nil {
		t.Error(err)
	}
	if d := report.Disks; len(d) != 2 || d[0].Method != "overwrite" || d[0].Verification.Samples == 0 ||
		d[1].Device != "/dev/vdb" ||
		d[1].Skipped != "in skip_block_devices" || d[1].Serial != "S-/dev/vdb" || report.Machine.Serial != "M-1" {
		t.Errorf("%+v", report)
	}
	if b.filled(t, "/dev/vda") ||
		!bytes.Contains(b.read(t, "/dev/vdb", 0, mib), []byte("OLD!")) {
		t.Error("the wrong disk was erased, or not all of the right one")
	}
	if first := b.progress[0]; !strings.Contains(first.Stage, "/dev/vda: overwrite") ||
		!strings.Contains(first.Stage, "/dev/vdb: left alone") {
		t.Errorf("the plan was not told first: %+v", first)
	}
}

func TestEraseDryRun(t *testing.T) {
	b := newBench(t, "/dev/vda")
	b.fill(t, "/dev/vda")
	before := b.sum(t, "/dev/vda")
	result, err := clean(t, b, agentapi.CommandNode{UUID: "u"}, "erase_devices", map[string]any{"dry_run": true})
	plans, ok := result.([]agentapi.ErasePlan)
	if err != nil || !ok || len(plans) != 1 || !slices.Equal(plans[0].Methods, []string{"overwrite"}) ||
		len(plans[0].NotTaken) == 0 {
		t.Errorf("%+v, %v", result, err)
	}
	again, err := b.ErasePlan(t.Context(), agentapi.CommandNode{})
	if diff := cmp.Diff(plans, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if before != b.sum(t, "/dev/vda") {
		t.Error("a dry run has written")
	}
	if _, err := clean(t, b, agentapi.CommandNode{}, "erase_devices", map[string]any{"dry_run": "yes"}); err == nil ||
		!strings.Contains(err.Error(), "dry_run") {
		t.Errorf("dry_run yes: %v", err)
	}
}

// TestEraseFails: one disk that cannot be opened fails the step, not the others.
func TestEraseFails(t *testing.T) {
	b := newBench(t, "/dev/vda", "/dev/vdb")
	b.fill(t, "/dev/vda")
	open := b.Open
	b.Open = func(ctx context.Context, path string) (Device, error) {
		if path == "/dev/vdb" {
			return nil, errors.New("held by somebody")
		}
		return open(ctx, path)
	}
	zeroes := map[string]any{"agent_erase_devices_iterations": 0.0}
	result, err := clean(t, b, agentapi.CommandNode{UUID: "u", DriverInternalInfo: zeroes}, "erase_devices", nil)
	var ce *agentapi.CommandError
	if !errors.As(err, &ce) || ce.Type != "BlockDeviceEraseError" || !strings.Contains(ce.Details,
		`1 of 2 disks could not be erased: /dev/vdb (serial "S-/dev/vdb"): held by somebody`) {
		t.Errorf("%v", err)
	}
	if b.filled(t, "/dev/vda") {
		t.Error("the other disk was not erased")
	}
	report, ok := result.(agentapi.EraseReport)
	if !ok || report.Validate() != nil || len(report.Disks) != 2 || report.Disks[0].Method != "overwrite" ||
		report.Disks[1].Error == "" {
		t.Errorf("what was erased is not told beside the error: %+v", result)
	}
	if _, err := clean(t, b, agentapi.CommandNode{DriverInternalInfo: map[string]any{"disk_erasure_concurrency": "many"}},
		"erase_devices", nil); err == nil {
		t.Error("a wrong setting was taken")
	}
}

func TestEraseExpress(t *testing.T) {
	b := newBench(t, "/dev/vda")
	b.fill(t, "/dev/vda")
	result, err := clean(t, b, agentapi.CommandNode{UUID: "u"}, "erase_devices_express", nil)
	report, ok := result.(agentapi.EraseReport)
	if err != nil || !ok || report.Validate() != nil || !strings.HasPrefix(report.Disks[0].Skipped, "only its metadata") {
		t.Fatalf("%+v, %v", result, err)
	}
	if !bytes.Equal(b.read(t, "/dev/vda", 0, mib), make([]byte, mib)) {
		t.Error("the metadata are still there")
	}
}

// TestHangingDisk: a disk that never answers is given up on and named; the others
// are planned and erased meanwhile.
func TestHangingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "/dev/vda", "/dev/vdb", "/dev/vdc")
		b.fill(t, "/dev/vdc")
		stuck := make(chan struct{})
		defer close(stuck) // or it would be stuck for ever
		open := b.Open
		b.Open = func(ctx context.Context, path string) (Device, error) {
			if path == "/dev/vda" || path == "/dev/vdb" {
				<-stuck
			}
			return open(ctx, path)
		}
		began := time.Now()
		result, err := clean(t, b, keeping("S-/dev/vdb"), "erase_devices", nil)
		if err == nil || !strings.Contains(err.Error(),
			`1 of 3 disks could not be erased: /dev/vda (serial "S-/dev/vda"): it has not answered for 1m0s`) {
			t.Errorf("%v", err)
		}
		if waited := time.Since(began); waited != askPatience {
			t.Errorf("one disk that hangs was waited for for %v", waited)
		}
		report, _ := result.(agentapi.EraseReport)
		if b.filled(t, "/dev/vdc") || len(report.Disks) != 3 ||
			report.Disks[1].Method != "overwrite" {
			t.Errorf("the other disk was not erased: %+v", report)
		}
		kept := agentapi.CommandNode{
			Properties: map[string]any{"skip_block_devices": []any{map[string]any{"volume_name": "data"}}},
		}
		if _, err := clean(t, b, kept, "erase_devices", nil); err == nil ||
			!strings.Contains(err.Error(), "/dev/vda: it has not answered") {
			t.Errorf("a disk that hangs was taken for one without a volume to be kept: %v", err)
		}
	})
}

// TestAbortable: an erase is listed as abortable where it is, by the conductor's
// clock.
func TestAbortable(t *testing.T) {
	listed := func(t *testing.T, b *bench, n agentapi.CommandNode) map[string]bool {
		steps := map[string]bool{}
		list, err := b.List(t.Context(), Clean, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list[Manager] {
			steps[s.Step] = s.Abortable
		}
		return steps
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "/dev/vda", "/dev/vdb")
		if s := listed(t, b, agentapi.CommandNode{}); !s["erase_devices"] || !s["erase_devices_express"] ||
			!s["erase_devices_metadata"] {
			t.Errorf("disks that are overwritten: %v", s)
		}
		stuck := make(chan struct{})
		defer close(stuck)
		open := b.Open
		b.Open = func(ctx context.Context, path string) (Device, error) {
			if path == "/dev/vdb" {
				<-stuck
			}
			return open(ctx, path)
		}
		began := time.Now()
		if s := listed(t, b, agentapi.CommandNode{}); s["erase_devices"] || s["erase_devices_express"] ||
			!s["erase_devices_metadata"] {
			t.Errorf("a disk of which nothing is known: %v", s)
		}
		if waited := time.Since(began); waited > listPatience {
			t.Errorf("the conductor waited for %v", waited)
		}
		if s := listed(t, b, keeping("S-/dev/vdb")); !s["erase_devices"] {
			t.Errorf("the same disk, left alone: %v", s)
		}
		wrong := agentapi.CommandNode{Properties: map[string]any{"skip_block_devices": "vdb"}}
		if s := listed(t, b, wrong); s["erase_devices"] {
			t.Errorf("hints that cannot be read: %v", s)
		}
	})
}

// TestNotHardware: the report leaves out the devices that the inventory calls so.
func TestNotHardware(t *testing.T) {
	_, skipped := inventory.Disks(fstest.MapFS{"sys/block/loop0/size": &fstest.MapFile{Data: []byte("8\n")}})
	if len(skipped) != 1 || skipped[0].Reason != agentapi.NotHardware {
		t.Errorf("%v", skipped)
	}
}

func TestErasePstore(t *testing.T) {
	b := newBench(t)
	if _, err := clean(t, b, agentapi.CommandNode{}, "erase_pstore", nil); err != nil {
		t.Errorf("a kernel without: %v", err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sub", "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dmesg-erst-1"), []byte("panic"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Pstore = func() (string, error) { return dir, nil }
	if _, err := clean(t, b, agentapi.CommandNode{}, "erase_pstore", nil); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	b.Pstore = func() (string, error) { return "", errors.New("cannot be mounted") }
	if _, err := clean(t, b, agentapi.CommandNode{}, "erase_pstore", nil); err == nil {
		t.Error("a pstore that cannot be mounted was passed over")
	}
}

// bootEntry is a boot variable that leads to a file.
func bootEntry(label, file string) []byte {
	var name []byte
	for _, u := range utf16.Encode([]rune(file + "\x00")) {
		name = append(name, byte(u), byte(u>>8))
	}
	path := append([]byte{4, 4, byte(4 + len(name)), 0}, name...)
	return disk.LoadOption{Attributes: 1, Label: label, DevicePath: append(path, 0x7f, 0xff, 4, 0)}.Bytes()
}

func TestCleanNVRAM(t *testing.T) {
	for name, c := range map[string]struct {
		args map[string]any
		left []string
		bad  bool
	}{
		"defaults": {nil, []string{"Boot0000", "Boot0003", "BootOrder"}, false},
		"own": {map[string]any{"match_patterns": []any{"PXE"}},
			[]string{"Boot0001", "Boot0002", "Boot0003", "BootOrder"}, false},
		"none": {map[string]any{"match_patterns": []any{}},
			[]string{"Boot0000", "Boot0001", "Boot0002", "Boot0003", "BootOrder"}, false},
		"all":    {map[string]any{"match_patterns": []any{""}}, []string{"Boot0003"}, false}, // the last is no load option
		"text":   {map[string]any{"match_patterns": "HD"}, nil, true},
		"number": {map[string]any{"match_patterns": []any{1.0}}, nil, true},
		"bad":    {map[string]any{"match_patterns": []any{"PXE", "("}}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if _, err := clean(t, b, agentapi.CommandNode{}, "clean_uefi_nvram", c.args); (err != nil) != c.bad {
				t.Errorf("started by BIOS: %v", err)
			}
			b.uefi = true
			for n, v := range map[string][]byte{
				"Boot0000": bootEntry("net", `\pxe.efi`), "Boot0001": bootEntry("debian", `\EFI\debian\SHIMX64.EFI`),
				"Boot0002": bootEntry("old", `\EFI\old\grubx64.efi`), "Boot0003": {1, 2}, "BootOrder": {1, 0, 0, 0, 2, 0},
			} {
				b.vars[n] = v
			}
			_, err := clean(t, b, agentapi.CommandNode{}, "clean_uefi_nvram", c.args)
			if c.bad {
				var ce *agentapi.CommandError
				if !errors.As(err, &ce) || ce.Type != "InvalidCommandParamsError" || len(b.vars) != 5 {
					t.Errorf("%v, %d variables left", err, len(b.vars))
				}
				return
			}
			names, _ := b.vars.Names()
			if diff := cmp.Diff(c.left, names); err != nil || diff != "" {
				t.Error(err, diff)
			}
			if name == "defaults" && !bytes.Equal(b.vars["BootOrder"], []byte{0, 0}) {
				t.Errorf("boot order % x", b.vars["BootOrder"])
			}
		})
	}
}

// TestArgsInfo: a step lists its arguments.
func TestArgsInfo(t *testing.T) {
	list, err := newBench(t).List(t.Context(), Clean, agentapi.CommandNode{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{`"argsinfo":{"dry_run":{`, `"argsinfo":{"match_patterns":{`, `"required":false`} {
		if !strings.Contains(string(raw), w) {
			t.Errorf("no %s in %s", w, raw)
		}
	}
}

// TestEraseKeepsVolumes: a RAID volume the operator keeps is on disks that look
// like any others after a boot, since nothing has run it yet.
func TestEraseKeepsVolumes(t *testing.T) {
	pair := []any{map[string]any{"name": "/dev/vda"}, map[string]any{"name": "/dev/vdb"}}
	for _, step := range []string{"erase_devices", "erase_devices_express", "erase_devices_metadata"} {
		t.Run(step, func(t *testing.T) {
			b := newBench(t, "/dev/vda", "/dev/vdb", "/dev/vdc")
			n := raidNode(volumeOf("MAX", "volume_name", "data", "physical_disks", pair))
			made, err := b.raid(t, Clean, "create_configuration", n, nil)
			if err != nil {
				t.Fatal(err)
			}
			n.RAIDConfig, _ = made.(map[string]any)
			b.arrays = nil // as after a reboot
			b.fill(t, "/dev/vdc")
			before := map[string]string{"/dev/vda": b.sum(t, "/dev/vda"), "/dev/vdb": b.sum(t, "/dev/vdb")}
			n.Properties = map[string]any{"skip_block_devices": []any{map[string]any{"volume_name": "data"}}}
			if _, err := clean(t, b, n, step, nil); err != nil {
				t.Fatal(err)
			}
			for d, content := range before {
				if content != b.sum(t, d) {
					t.Errorf("%s was written to, and holds a volume that is kept", d)
				}
			}
			if bytes.Contains(b.read(t, "/dev/vdc", 0, mib), []byte("OLD!")) {
				t.Error("the disk without the volume was left as it was")
			}
			if root, err := b.RootDisk(t.Context(), n, 0); err != nil || root.Name != "/dev/vdc" {
				t.Errorf("root disk %+v, %v", root, err)
			}
		})
	}
}

// TestEraseAnotherDisk: a name may belong to another disk by the time its turn
// comes, which may be hours after the plan.
func TestEraseAnotherDisk(t *testing.T) {
	for name, other := range map[string]agentapi.Disk{
		"another disk": {Name: "/dev/vda", Size: diskSize, Serial: "S-another"},
		"another size": {Name: "/dev/vda", Size: 2 * diskSize, Serial: "S-/dev/vda"},
		"no disk":      {Name: "/dev/vdz", Size: diskSize, Serial: "S-/dev/vda"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "/dev/vda")
			b.fill(t, "/dev/vda")
			before := b.sum(t, "/dev/vda")
			disks, progress := b.Disks, b.Progress
			b.Progress = func(p agentapi.Progress) { // the plan is reported
				b.Disks = func() ([]agentapi.Disk, []agentapi.SkippedDisk) { return []agentapi.Disk{other}, nil }
				progress(p)
			}
			for _, step := range []string{"erase_devices", "erase_devices_express"} {
				b.Disks = disks
				if _, err := clean(t, b, agentapi.CommandNode{UUID: "u"}, step, nil); err == nil ||
					!strings.Contains(err.Error(), "is no longer the disk") {
					t.Errorf("%s: %v", step, err)
				}
			}
			if before != b.sum(t, "/dev/vda") {
				t.Error("a disk was written to that the plan was not made for")
			}
		})
	}
}
