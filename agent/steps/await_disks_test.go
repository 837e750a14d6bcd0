package steps

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// inspectedAs is a node with disks of these serials in its last inspection.
func inspectedAs(serials ...string) agentapi.CommandNode {
	var disks []any
	for _, s := range serials {
		disks = append(disks, map[string]any{"name": "/dev/was", "serial": s, "size": diskSize, "model": "Anvil"})
	}
	return agentapi.CommandNode{UUID: "u", DriverInternalInfo: map[string]any{agentapi.InspectedDisks: disks}}
}

// eraseSteps are all steps that erase.
var eraseSteps = []string{"erase_devices", "erase_devices_express", "erase_devices_metadata"}

// TestLateDiskIsErased: a disk that the last inspection saw is waited for, whether its controller says that it is still
// starting or not, and is erased with the others.
func TestLateDiskIsErased(t *testing.T) {
	for _, step := range eraseSteps {
		for name, late := range map[string]time.Duration{"while probing": time.Second, "after probing": 90 * time.Second} {
			t.Run(step+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, "/dev/vda", "/dev/vdb")
					b.fill(t, "/dev/vda")
					b.fill(t, "/dev/vdb")
					file, start := b.files["/dev/vdb"], time.Now()
					delete(b.files, "/dev/vdb")
					disks, insert := b.Disks, sync.OnceFunc(func() { b.files["/dev/vdb"] = file })
					b.Disks = func() ([]agentapi.Disk, []agentapi.SkippedDisk) {
						if time.Since(start) >= late {
							insert()
						}
						return disks()
					}
					b.Probe = ProbeWait{Limit: time.Minute, Missing: 2 * time.Minute, Probing: func() []string {
						if time.Since(start) < 2*time.Second {
							return []string{"SCSI host host0 (created)"}
						}
						return nil
					}}
					if _, err := clean(t, b, inspectedAs("S-/dev/vda", "S-/dev/vdb"), step, nil); err != nil {
						t.Fatal(err)
					}
					for _, disk := range []string{"/dev/vda", "/dev/vdb"} {
						if strings.Contains(string(b.read(t, disk, 0, mib)), "OLD!") {
							t.Errorf("%s keeps its data", disk)
						}
					}
				})
			})
		}
	}
}

// TestMissingDiskFails: without a disk that the last inspection saw nothing is erased, and the reason names it and the
// remedy. A disk that the operator keeps is not looked for.
func TestMissingDiskFails(t *testing.T) {
	for _, step := range eraseSteps {
		t.Run(step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, "/dev/vda")
				b.fill(t, "/dev/vda")
				before := b.sum(t, "/dev/vda")
				b.Probe = ProbeWait{Missing: 2 * time.Minute}
				start := time.Now()
				_, err := clean(t, b, inspectedAs("S-/dev/vda", "GONE"), step, nil)
				if err == nil || time.Since(start) < 2*time.Minute {
					t.Fatalf("after %s: %v", time.Since(start), err)
				}
				var failure *agentapi.CommandError
				if !errors.As(err, &failure) {
					t.Fatalf("%T is no answer to a command", err)
				}
				for _, want := range []string{"1 of 2 disks that the last inspection saw are missing, and nothing was erased",
					`/dev/was (Anvil, serial "GONE", 134217728 bytes)`, "ferrite node inspect u"} {
					if !strings.Contains(failure.Text(), want) {
						t.Errorf("%q lacks %q", failure.Text(), want)
					}
				}
				if b.sum(t, "/dev/vda") != before {
					t.Error("a disk was changed all the same")
				}
				kept := inspectedAs("S-/dev/vda", "GONE")
				kept.Properties = keeping("GONE").Properties
				if _, err := clean(t, b, kept, step, nil); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestProbingDoesNotEnd: a step that erases fails and names the device that does not get ready. An aborted one ends.
func TestProbingDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "/dev/vda")
		b.Probe = ProbeWait{
			Limit: time.Minute, Probing: func() []string { return []string{"NVMe controller nvme1 (connecting)"} },
		}
		_, err := clean(t, b, agentapi.CommandNode{UUID: "u"}, "erase_devices_metadata", nil)
		if err == nil || !strings.Contains(text(err), "not ready after 1m0s: NVMe controller nvme1 (connecting)") {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.awaitAll(ctx, "erase_devices", agentapi.CommandNode{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		for _, bad := range []any{"none", 5, []any{1}} {
			n := agentapi.CommandNode{DriverInternalInfo: map[string]any{agentapi.InspectedDisks: bad}}
			if _, err := clean(t, b, n, "erase_devices", nil); err == nil ||
				!strings.Contains(text(err), "expected a list of disks") {
				t.Errorf("%v: %v", bad, err)
			}
		}
	})
}

// TestQuiet: on a machine that was never inspected, an erase begins once no disk has turned up for a while.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "/dev/vda")
		b.Probe = ProbeWait{Quiet: 2 * time.Second, Limit: time.Minute}
		start, disks := time.Now(), b.Disks
		b.Disks = func() ([]agentapi.Disk, []agentapi.SkippedDisk) {
			all, skipped := disks()
			if time.Since(start) > 1500*time.Millisecond {
				all = append(all, agentapi.Disk{Name: "/dev/late", Size: 1})
			}
			return all, skipped
		}
		if err := b.awaitAll(t.Context(), "erase_devices", agentapi.CommandNode{}); err != nil ||
			time.Since(start) < 3500*time.Millisecond {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

// TestInstallWaitsForInspectedDisks: the smallest disk is chosen among all, not among the first to turn up; a missing
// one does not keep another from being chosen.
func TestInstallWaitsForInspectedDisks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "/dev/vda")
		b.Wait = DiskWait{Attempts: 11, Delay: 3 * time.Second}
		start := time.Now()
		b.awaitToInstall(t.Context(), inspectedAs("S-/dev/vda", "GONE"))
		if d := time.Since(start); d != 30*time.Second {
			t.Errorf("it waited %s", d)
		}
		start = time.Now()
		b.awaitToInstall(t.Context(), inspectedAs("S-/dev/vda"))
		if d := time.Since(start); d != 0 {
			t.Errorf("with all disks there it waited %s", d)
		}
	})
}

func text(err error) string {
	var failure *agentapi.CommandError
	if errors.As(err, &failure) {
		return failure.Text()
	}
	return ""
}
