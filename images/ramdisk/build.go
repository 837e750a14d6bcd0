package ramdisk

import (
	"bufio"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/u-root/mkuimage/cpio"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// Build fetches the profile's kernel and makes kernel and initramfs in the recipe's
// output folder. Both appear there complete or not at all. With Recipe.Busybox given,
// or no Commands, it needs no Go toolchain.
func Build(ctx context.Context, r Recipe) (Result, error) {
	if err := r.check(); err != nil {
		return Result{}, err
	}
	kernel, err := r.Kernel, error(nil)
	if kernel.Image == "" {
		kernel, err = FetchKernel(ctx, r.Archive, r.CacheDir, r.Profile.KernelPackage, r.Log)
	}
	if err != nil {
		return Result{}, err
	}
	if r.Busybox == "" && len(r.Commands) > 0 {
		if r.Busybox, err = cachedCommands(ctx, r.CacheDir, r.Commands, r.Log); err != nil {
			return Result{}, err
		}
	}
	return assemble(ctx, r, kernel)
}

// assemble is Build once everything is at hand.
func assemble(ctx context.Context, r Recipe, kernel Kernel) (Result, error) {
	chosen, err := chooseModules(kernel, r.Profile.Name, r.classes())
	if err != nil {
		return Result{}, err
	}
	content, err := r.tree(kernel, chosen)
	if err != nil {
		return Result{}, err
	}
	folders, err := r.fetchFirmware(ctx)
	if err != nil {
		return Result{}, err
	}
	missing, err := content.addFirmware(folders, kernel.Modules, chosen.files)
	if err != nil {
		return Result{}, err
	}
	early, err := earlyArchive(folders)
	if err != nil {
		return Result{}, err
	}
	content.addLicences(folders)
	used, err := r.addRescueTools(ctx, content)
	if err != nil {
		return Result{}, err
	}
	own, err := r.ownComponents(kernel)
	if err != nil {
		return Result{}, err
	}
	overlay, err := r.Site.addTo(content)
	if err != nil {
		return Result{}, err
	}
	defer overlay.Close()
	res := Result{
		KernelPackage: kernel.Package, KernelVersion: kernel.Version, KernelRelease: kernel.Release,
		Modules: chosen.files, Load: chosen.load, Notes: chosen.notes, MissingFirmware: missing,
		Components: components(slices.Concat(own, componentsOf(folders), used)),
	}
	if err := r.write(ctx, kernel, early, content, &res); err != nil {
		return Result{}, err
	}
	res.ManifestPath, err = writeManifest(res)
	return res, err
}

// ownComponents are the kernel and the programs of ours.
func (r Recipe) ownComponents(kernel Kernel) ([]Component, error) {
	all := []Component{{Name: filepath.Base(kernel.Package), Version: kernel.Version, SHA256: kernel.SHA256,
		Debian: kernel.SHA256 != ""}}
	for name, file := range map[string]string{"ferrite-agent": r.Agent, "u-root commands": r.Busybox} {
		if file == "" {
			continue
		}
		sum, err := buildcache.HashFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, Component{Name: name, SHA256: sum})
	}
	return all, nil
}

func chooseModules(kernel Kernel, profile string, classes []Class) (*selection, error) {
	ix, err := readIndex(os.DirFS(kernel.Modules))
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", kernel.Release, err)
	}
	chosen, err := selectModules(ix, classes)
	if err != nil {
		return nil, fmt.Errorf("profile %s on kernel %s: %w", profile, kernel.Release, err)
	}
	return chosen, nil
}

func (r Recipe) tree(kernel Kernel, chosen *selection) (tree, error) {
	if err := checkStatic(r.Agent); err != nil {
		return nil, err
	}
	t := newTree()
	t.addFile("init", r.Agent, 0o755)
	t.addText(moduleList, strings.Join(append(chosen.load, ""), "\n"))
	modules := path.Join("lib/modules", kernel.Release)
	for name, text := range chosen.lists {
		t.addText(path.Join(modules, name), text)
	}
	for _, file := range chosen.files {
		t.addFile(path.Join(modules, file), filepath.Join(kernel.Modules, file), 0o644)
	}
	if r.Busybox != "" {
		if err := checkStatic(r.Busybox); err != nil {
			return nil, err
		}
		addCommands(t, r.Busybox, r.Commands)
	}
	if r.ConsoleShell {
		t.addText(consoleShell, "enter\n")
	}
	return t, nil
}

func addCommands(t tree, busybox string, commands []string) {
	t.addFile("bin/bb", busybox, 0o755)
	for _, command := range commands {
		name := path.Base(command)
		t.addRecord(cpio.Symlink("bin/"+name, "bb"))
		if name == shell {
			t.addRecord(cpio.Symlink("bin/sh", name))
		}
	}
}

// checkStatic refuses a program that could not start in a ramdisk without shared libraries: the kernel would only say
// "No working init".
func checkStatic(binary string) error {
	f, err := elf.Open(binary)
	if err != nil {
		return fmt.Errorf("binary for the ramdisk: expected an ELF program: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	if f.Machine != elf.EM_X86_64 {
		return fmt.Errorf("binary for the ramdisk: %s is for %s, expected EM_X86_64", binary, f.Machine)
	}
	for _, segment := range f.Progs {
		if segment.Type == elf.PT_INTERP {
			return fmt.Errorf("binary for the ramdisk: %s is linked dynamically: build it with CGO_ENABLED=0", binary)
		}
	}
	return nil
}

func (r Recipe) write(ctx context.Context, kernel Kernel, early []byte, content tree, res *Result) error {
	if err := os.MkdirAll(r.Out, 0o755); err != nil {
		return fmt.Errorf("make output folder: %w", err)
	}
	var err error
	res.KernelPath = filepath.Join(r.Out, r.Profile.Name+".vmlinuz")
	res.KernelSHA256, res.KernelSize, err = copyFile(kernel.Image, res.KernelPath)
	if err != nil {
		return err
	}
	res.InitramfsPath = filepath.Join(r.Out, r.Profile.Name+".initramfs")
	res.InitramfsSHA256, res.InitramfsSize, err = buildcache.WriteFile(res.InitramfsPath, func(w io.Writer) error {
		if _, err := w.Write(early); err != nil {
			return err
		}
		return compressTo(w, r.Compression, func(w io.Writer) error {
			size := &sizeWriter{ctx: ctx, w: bufio.NewWriterSize(w, 1<<20)}
			parts := partSizes{}
			err := errors.Join(content.write(size, parts.add), size.w.Flush())
			res.UnpackedSize, res.Parts = size.n, parts.list(len(early))
			return err
		})
	})
	return err
}

// sizeWriter counts bytes and stops when its context ends.
type sizeWriter struct {
	ctx context.Context
	w   *bufio.Writer
	n   int64
}

func (s *sizeWriter) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.w.Write(p)
	s.n += int64(n)
	return n, err
}
