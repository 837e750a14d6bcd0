//go:build e2e

package ramdisk

import (
	"bytes"
	"context"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/images/ramdisk/debian"
)

// maxLabSize is the promised size of the lab's compressed ramdisk in bytes.
const maxLabSize = 12_000_000

// Both profiles build from the real archive, boot on their own kernel, and their modules load.
func TestRamdiskBoots(t *testing.T) {
	for _, profile := range Profiles() {
		t.Run(profile.Name, func(t *testing.T) {
			recipe := realRecipe(t, profile)
			began := time.Now()
			res, err := Build(t.Context(), recipe)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: kernel %d bytes, ramdisk %d bytes (%d unpacked), %d modules, built in %s; notes: %q", res.KernelRelease,
				res.KernelSize, res.InitramfsSize, res.UnpackedSize, len(res.Modules),
				time.Since(began).Round(time.Second), res.Notes)
			if profile.Name == "lab" && res.InitramfsSize > maxLabSize {
				t.Errorf("lab ramdisk has %d bytes, at most %d are promised", res.InitramfsSize, maxLabSize)
			}
			console, took := bootDirect(t, res)
			for _, want := range []string{
				"init: result: <nil>", "init: cards [/sys/class/net/eth0]", "/sys/class/block/vda", `console commands: "a\nb\n`,
				"LOOPBACK", "-rwxr-xr-x",
			} {
				if !strings.Contains(console, want) {
					t.Errorf("console lacks %q", want)
				}
			}
			t.Logf("from power-on to power-off in %s:\n%s", took, console)
		})
	}
}

// Two builds from scratch, commands included, are the same bytes.
func TestRealBuildIsReproducible(t *testing.T) {
	var sums []string
	for range 2 {
		recipe := realRecipe(t, Lab())
		recipe.Busybox = filepath.Join(t.TempDir(), "bb")
		if err := BuildCommands(t.Context(), recipe.Commands, recipe.Busybox); err != nil {
			t.Fatal(err)
		}
		res, err := Build(t.Context(), recipe)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, res.InitramfsSHA256)
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ: %q", sums)
	}
}

func TestUnknownKernelPackage(t *testing.T) {
	_, err := FetchKernel(t.Context(), &debian.Apt{}, t.TempDir(), "linux-image-of-nobody", slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "apt-get update") {
		t.Errorf("error %v, want one that says what to do", err)
	}
}

func realRecipe(t *testing.T, profile Profile) Recipe {
	t.Helper()
	cache, err := buildcache.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	agent := filepath.Join(dir, "init")
	_, err = buildcache.Tool{
		Name: "go", Env: []string{"CGO_ENABLED=0"},
		Args: []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", agent,
			"./testdata/init"},
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return Recipe{Profile: profile, Archive: &debian.Apt{}, Agent: agent, Commands: ConsoleCommands(),
		Out:      filepath.Join(dir, "out"),
		CacheDir: cache,
		Log:      slog.New(slog.NewTextHandler(t.Output(), nil))}
}

// bootDirect lets QEMU load kernel and ramdisk by itself and returns the machine's output until it switched itself
// off.
func bootDirect(t *testing.T, res Result) (string, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu",
		"qemu64,+rdrand",
		"-smp", "1", "-m", "512", "-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio",
		"-kernel", res.KernelPath, "-initrd", res.InitramfsPath, "-append", "console=ttyS0,115200 quiet",
		"-netdev", "user,id=n0", "-device", "virtio-net-pci,netdev=n0,romfile=",
		"-drive", "if=none,id=d0,format=raw,snapshot=on,file="+res.KernelPath, "-device", "virtio-blk-pci,drive=d0")
	var console bytes.Buffer
	cmd.Stdout, cmd.Stderr = &console, &console
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Errorf("QEMU: %v", err)
	}
	return console.String(), time.Since(began).Round(100 * time.Millisecond)
}
