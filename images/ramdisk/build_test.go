package ramdisk

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/u-root/mkuimage/cpio"

	"github.com/ferrite-metal/ferrite/images/ramdisk/debian"
)

// staticELF is the header of an x86-64 program without segments: all that Build looks
// at in a binary.
var staticELF = append(
	[]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00\x01\x00\x00\x00"), make([]byte, 40)...)

// fakeKernel lays out the files that FetchKernel leaves in the cache.
func fakeKernel(t *testing.T) Kernel {
	t.Helper()
	dir := t.TempDir()
	k := Kernel{Package: "linux-image-6.9-test", Version: "6.9-1", Release: "6.9-test",
		Image: filepath.Join(dir, "vmlinuz"), Modules: filepath.Join(dir, "modules")}
	writeFile(t, k.Image, "a kernel")
	for name, file := range fakeModules() {
		writeFile(t, filepath.Join(k.Modules, name), string(file.Data))
	}
	ix, err := readIndex(fakeModules())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range ix.paths {
		writeFile(t, filepath.Join(k.Modules, file), "module "+file)
	}
	return k
}

func fakeRecipe(t *testing.T) Recipe {
	t.Helper()
	dir := t.TempDir()
	r := Recipe{
		Archive: &debian.Apt{},
		Profile: Profile{Name: "test", KernelPackage: "linux-image-test", Modules: []Class{
			{Name: "net", Modules: []string{"acme-nic"}, Required: true},
			{Name: "fs", Modules: []string{"examplefs"}, Load: true},
		}},
		Agent: filepath.Join(dir, "agent"), Busybox: filepath.Join(dir, "bb"),
		Commands: []string{"github.com/u-root/u-root/cmds/core/ls", "github.com/u-root/u-root/cmds/core/gosh"},
		Site:     Site{Files: []File{{Path: "lib/firmware/card.bin", Mode: 0o600, Source: filepath.Join(dir, "firmware")}}},
		Out:      filepath.Join(dir, "out"), CacheDir: filepath.Join(dir, "cache"), Log: slog.New(slog.DiscardHandler),
	}
	writeFile(t, r.Agent, string(staticELF))
	writeFile(t, r.Busybox, string(staticELF))
	writeFile(t, filepath.Join(dir, "firmware"), "blob")
	return r
}

func TestAssemble(t *testing.T) {
	kernel, recipe := fakeKernel(t), fakeRecipe(t)
	res, err := assemble(t.Context(), recipe, kernel)
	if err != nil {
		t.Fatal(err)
	}
	records := readInitramfs(t, res.InitramfsPath)
	var listing []string
	for _, r := range records {
		listing = append(listing, strings.TrimRight(fmt.Sprintf("%06o %s %s", r.Mode, r.Name, linkTarget(t, r)), " "))
	}
	want := strings.Split(strings.TrimSpace(`
040755 bin
100755 bin/bb
120777 bin/gosh bb
120777 bin/ls bb
120777 bin/sh gosh
040755 dev
020600 dev/console
020666 dev/null
040755 etc
040755 etc/ferrite
100644 etc/ferrite/modules
100755 init
040755 lib
040755 lib/firmware
100600 lib/firmware/card.bin
040755 lib/modules
040755 lib/modules/6.9-test
040755 lib/modules/6.9-test/kernel
040755 lib/modules/6.9-test/kernel/crypto
100644 lib/modules/6.9-test/kernel/crypto/crc_generic.ko
040755 lib/modules/6.9-test/kernel/drivers
040755 lib/modules/6.9-test/kernel/drivers/net
040755 lib/modules/6.9-test/kernel/drivers/net/ethernet
040755 lib/modules/6.9-test/kernel/drivers/net/ethernet/acme
100644 lib/modules/6.9-test/kernel/drivers/net/ethernet/acme/acme-nic.ko
040755 lib/modules/6.9-test/kernel/fs
100644 lib/modules/6.9-test/kernel/fs/examplefs.ko
040755 lib/modules/6.9-test/kernel/lib
100644 lib/modules/6.9-test/kernel/lib/base.ko
100644 lib/modules/6.9-test/kernel/lib/sum.ko.xz
040755 lib/modules/6.9-test/kernel/net
100644 lib/modules/6.9-test/kernel/net/acme-lib.ko
100644 lib/modules/6.9-test/modules.alias
100644 lib/modules/6.9-test/modules.builtin
100644 lib/modules/6.9-test/modules.dep
040755 mnt
040755 proc
040755 root
040755 run
040755 sys
041777 tmp
040755 var`), "\n")
	if diff := cmp.Diff(want, listing); diff != "" {
		t.Error(diff)
	}
	console := records[slices.IndexFunc(records, func(r cpio.Record) bool { return r.Name == "dev/console" })]
	if console.Rmajor != 5 || console.Rminor != 1 {
		t.Errorf("dev/console is %d:%d, want 5:1", console.Rmajor, console.Rminor)
	}
	if res.KernelRelease != "6.9-test" || res.KernelSize != int64(len("a kernel")) || res.UnpackedSize < 3000 {
		t.Errorf("result %+v", res)
	}
}

func TestSameInputsSameBytes(t *testing.T) {
	kernel, recipe := fakeKernel(t), fakeRecipe(t)
	first, err := assemble(t.Context(), recipe, kernel)
	if err != nil {
		t.Fatal(err)
	}
	recipe.Out = t.TempDir()
	if err := os.Chmod(recipe.Agent, 0o700); err != nil { // our umask must not show
		t.Fatal(err)
	}
	second, err := assemble(t.Context(), recipe, kernel)
	if err != nil {
		t.Fatal(err)
	}
	if first.InitramfsSHA256 != second.InitramfsSHA256 || first.KernelSHA256 != second.KernelSHA256 {
		t.Errorf("two builds differ: %s, %s", first.InitramfsSHA256, second.InitramfsSHA256)
	}
}

func TestCompressions(t *testing.T) {
	kernel := fakeKernel(t)
	for kind, magic := range map[Compression]string{"": "\x28\xb5\x2f\xfd", Gzip: "\x1f\x8b", Uncompressed: "070701"} {
		recipe := fakeRecipe(t)
		recipe.Compression = kind
		res, err := assemble(t.Context(), recipe, kernel)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(res.InitramfsPath)
		if err != nil || !bytes.HasPrefix(got, []byte(magic)) || int64(len(got)) != res.InitramfsSize {
			t.Errorf("%q: error %v, begins %x", kind, err, got[:6])
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	kernel := fakeKernel(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		change func(*Recipe)
		want   string
	}{
		{"no agent", t.Context(), func(r *Recipe) { r.Agent = "" }, "no path of the agent"},
		{"agent is a script", t.Context(), func(r *Recipe) { r.Agent = r.Site.Files[0].Source }, "expected an ELF program"},
		{"path outside", t.Context(), func(r *Recipe) { r.Site.Files[0].Path = "../etc/passwd" }, "clean path"},
		{"compression", t.Context(), func(r *Recipe) { r.Compression = "rar" }, "expected zstd, gzip or none"},
		{"file gone", t.Context(), func(r *Recipe) { r.Site.Files[0].Source += "x" }, "pack lib/firmware/card.bin"},
		{"cancelled", ended, func(*Recipe) {}, "context canceled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			recipe := fakeRecipe(t)
			tt.change(&recipe)
			err := recipe.check()
			if err == nil {
				_, err = assemble(tt.ctx, recipe, kernel)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q in it", err, tt.want)
			}
			left, globErr := filepath.Glob(filepath.Join(recipe.Out, "*.initramfs*"))
			if globErr != nil || len(left) > 0 {
				t.Errorf("left behind %v, %v", left, globErr)
			}
		})
	}
}

func TestProfileNamed(t *testing.T) {
	for _, p := range Profiles() {
		if got, err := ProfileNamed(p.Name); err != nil || got.KernelPackage != p.KernelPackage {
			t.Errorf("%s: got %q, %v", p.Name, got.KernelPackage, err)
		}
	}
	if _, err := ProfileNamed("tin"); err == nil || !strings.Contains(err.Error(), "lab, metal") {
		t.Errorf("error %v, want the names", err)
	}
}

// TestConsoleShell: a recipe that asks for a shell has the file the agent looks
// for; of the profiles, the lab's alone asks by itself.
func TestConsoleShell(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		recipe := fakeRecipe(t)
		recipe.ConsoleShell = wanted
		res, err := assemble(t.Context(), recipe, fakeKernel(t))
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(readInitramfs(t, res.InitramfsPath),
			func(r cpio.Record) bool { return r.Name == consoleShell })
		if found != wanted {
			t.Errorf("console shell asked for: %t, %s in the ramdisk: %t", wanted, consoleShell, found)
		}
	}
	if Metal().ConsoleShell || !Lab().ConsoleShell {
		t.Errorf("consoles give a shell in metal: %t, in lab: %t", Metal().ConsoleShell, Lab().ConsoleShell)
	}
}

// TestToolsKeepCommands: go.mod holds a command's dependencies only while tools.go names it.
func TestToolsKeepCommands(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "tools.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, imp := range parsed.Imports {
		if name := strings.Trim(imp.Path.Value, `"`); strings.Contains(name, "/cmds/") {
			got = append(got, name)
		}
	}
	want := slices.DeleteFunc(ConsoleCommands(), func(name string) bool { return strings.HasSuffix(name, "/"+shell) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func readInitramfs(t *testing.T, path string) []cpio.Record {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unpacker, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unpacker.Close()
	raw, err := unpacker.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	records, err := cpio.ReadAllRecords(cpio.Newc.Reader(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func linkTarget(t *testing.T, r cpio.Record) string {
	t.Helper()
	if r.Mode&cpio.S_IFMT != cpio.S_IFLNK {
		return ""
	}
	target, err := io.ReadAll(io.NewSectionReader(r, 0, int64(r.FileSize)))
	if err != nil {
		t.Fatal(err)
	}
	return string(target)
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}
