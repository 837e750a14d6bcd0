package steps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

func TestEraseMetadata(t *testing.T) {
	b := newBench(t, "/dev/vda", "/dev/vdb", "/dev/vdc")
	for n := range b.files {
		b.fill(t, n)
	}
	node := agentapi.CommandNode{
		Properties: map[string]any{
			"skip_block_devices": []any{map[string]any{"serial": "S-/dev/vdb"}, map[string]any{"volume_name": "data"}},
		},
	}
	result, err := Execute(t.Context(), b.Machine, Clean,
		Request{Step: agentapi.Step{Interface: "deploy", Step: "erase_devices_metadata"}, Node: node})
	if err != nil || result != nil {
		t.Fatalf("%v, %v", result, err)
	}
	for n, want := range map[string]bool{"/dev/vda": true, "/dev/vdb": false, "/dev/vdc": true} {
		for _, off := range []int64{0, diskSize - mib} {
			if got := bytes.Equal(b.read(t, n, off, mib), make([]byte, mib)); got != want {
				t.Errorf("%s at %d erased: %v", n, off, got)
			}
		}
	}
}

func TestEraseGoesOnAfterAFailureAndFails(t *testing.T) {
	b := newBench(t, "/dev/vda", "/dev/vdb")
	for n := range b.files {
		b.fill(t, n)
	}
	open := b.Open
	b.Open = func(ctx context.Context, path string) (Device, error) {
		if path == "/dev/vdb" {
			return nil, fmt.Errorf("open %s: held by somebody", path)
		}
		return open(ctx, path)
	}
	_, err := Execute(t.Context(), b.Machine, Clean, Request{Step: agentapi.Step{Step: "erase_devices_metadata"}})
	var ce *agentapi.CommandError
	if !errors.As(err, &ce) || ce.Type != "BlockDeviceEraseError" ||
		!strings.Contains(ce.Details, "/dev/vdb: open /dev/vdb: held by somebody") {
		t.Errorf("error %v", err)
	}
	if !bytes.Equal(b.read(t, "/dev/vda", 0, mib), make([]byte, mib)) {
		t.Error("the other disk was not erased")
	}
}

func TestUnknownStep(t *testing.T) {
	for _, s := range []agentapi.Step{{Step: "nope"}, {Step: "erase_devices_metadata", Interface: "raid"}} {
		if _, err := Execute(t.Context(), newBench(t).Machine, Clean, Request{Step: s}); err == nil {
			t.Errorf("%+v was done", s)
		}
	}
}

func TestList(t *testing.T) {
	m := newBench(t).Machine
	m.DeployPriorities = map[string]int{"inject_files": 70}
	got := map[string]int{}
	for _, kind := range []Kind{Clean, Deploy, Service} {
		list, err := m.List(t.Context(), kind, agentapi.CommandNode{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list[Manager] {
			got[fmt.Sprintf("%s %s.%s", kind, s.Interface, s.Step)] = s.Priority
			if s.Abortable != (kind == Clean) || s.RebootRequested {
				t.Errorf("%s: %+v", kind, s)
			}
			if s.Step == "inject_files" && s.ArgsInfo["files"] == nil {
				t.Errorf("%s step inject_files does not tell of its argument: %v", kind, s.ArgsInfo)
			}
		}
	}
	want := map[string]int{
		"clean deploy.erase_devices_metadata": 99, "clean deploy.erase_devices": 10, "clean deploy.erase_devices_express": 0,
		"clean deploy.erase_pstore": 0, "clean deploy.clean_uefi_nvram": 0, "clean raid.create_configuration": 0,
		"clean raid.delete_configuration": 0,
		"deploy raid.apply_configuration": 0, "deploy deploy.clean_uefi_nvram": 0, "deploy deploy.erase_devices_metadata": 0,
		"deploy deploy.write_image": 0, "deploy deploy.inject_files": 70,
		"service raid.create_configuration": 0, "service raid.delete_configuration": 0, "service raid.apply_configuration": 0,
		"service deploy.erase_devices_metadata": 0, "service deploy.write_image": 0, "service deploy.inject_files": 0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRootDiskIsWaitedFor(t *testing.T) {
	b := newBench(t)
	b.Wait = DiskWait{Attempts: 10, Delay: 3 * time.Second}
	looks := 0
	b.Disks = func() ([]agentapi.Disk, []agentapi.SkippedDisk) {
		if looks++; looks < 3 {
			return nil, nil
		}
		return []agentapi.Disk{{Name: "/dev/late", Size: diskSize}}, nil
	}
	if d, err := b.RootDisk(t.Context(), agentapi.CommandNode{}, 0); err != nil || d.Name != "/dev/late" {
		t.Errorf("%+v, %v", d, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	looks = 0
	if _, err := b.RootDisk(ctx, agentapi.CommandNode{}, 0); !errors.Is(err, context.Canceled) ||
		!errors.Is(err, rootdevice.ErrNoDisk) {
		t.Errorf("error %v", err)
	}
}

func TestInstallBootloader(t *testing.T) {
	uefi := agentapi.BootloaderParams{RootUUID: "0x00000000", TargetBootMode: "uefi"}
	b := newBench(t, "/dev/vda")
	if err := b.InstallBootloader(t.Context(), agentapi.CommandNode{},
		agentapi.BootloaderParams{TargetBootMode: "bios"}); err != nil {
		t.Errorf("bios: %v", err)
	}
	if err := b.InstallBootloader(t.Context(), agentapi.CommandNode{}, uefi); err != nil {
		t.Errorf("started by BIOS: %v", err)
	}
	b.uefi = true
	err := b.InstallBootloader(t.Context(), agentapi.CommandNode{}, uefi)
	var ce *agentapi.CommandError
	if !errors.As(err, &ce) || !strings.Contains(ce.Details, "/dev/vda") {
		t.Errorf("empty disk: %v", err)
	}
	uefi.IgnoreBootloaderError = true
	if err := b.InstallBootloader(t.Context(), agentapi.CommandNode{}, uefi); err != nil || len(b.vars) != 0 {
		t.Errorf("ignored: %v, variables %v", err, b.vars)
	}
}
