package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ferrite-metal/ferrite/agent/bootentry"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// LoadInstalled loads the kernel of the system that was installed, with its initial
// ramdisk and its command line, for kexec. After an error nothing is loaded, and it has
// changed nothing.
func (m *Machine) LoadInstalled(ctx context.Context, p agentapi.KexecParams) (agentapi.Kexec, error) {
	out, err := m.loadInstalled(ctx, p)
	if err != nil {
		return out, agentapi.NewCommandError("KexecError", "The installed system cannot be started without the firmware",
			err.Error())
	}
	return out, nil
}

func (m *Machine) loadInstalled(ctx context.Context, p agentapi.KexecParams) (out agentapi.Kexec, err error) {
	uefi := m.EFIVars() != nil
	running := map[bool]string{true: "uefi", false: "bios"}[uefi]
	if p.TargetBootMode != "" && p.TargetBootMode != running {
		return out, fmt.Errorf("the machine is to boot by %s, and runs by %s: only its firmware can change that",
			p.TargetBootMode, running)
	}
	w := m.getWritten()
	if w == nil {
		return out, errors.New("no image was written since the agent started")
	}
	if a, is := m.runningArray(w.device); is {
		return out, fmt.Errorf("%s is the software RAID %s: which member a firmware boots from is not known",
			w.device, a.Name)
	}
	system, err := m.systemOn(ctx, w.device, uefi)
	if err != nil {
		return out, err
	}
	mounted := &mountedVolumes{}
	defer func() { err = errors.Join(err, mounted.close()) }()
	for i := range system.Partitions {
		m.mountable(&system, i, w.device, mounted)
	}
	e, err := bootentry.Find(system)
	if err != nil {
		return out, err
	}
	if err := m.load(e); err != nil {
		return out, fmt.Errorf("%s: entry %q: %w", w.device, e.Title, err)
	}
	out = agentapi.Kexec{Source: e.Source, Entry: e.Title, Kernel: e.Kernel.Path, CommandLine: e.CommandLine}
	for _, b := range e.Initrd {
		out.Initrd = append(out.Initrd, b.Path)
	}
	m.Log.Info("kernel of the installed system loaded", "disk", w.device, "source", out.Source, "entry",
		out.Entry, "kernel",
		out.Kernel, "initrd", out.Initrd, "command_line", out.CommandLine)
	return out, nil
}

// mountedVolumes are the file systems that were mounted to look for boot entries.
type mountedVolumes []*sys.Tree

func (v *mountedVolumes) close() error {
	var all error
	for _, t := range *v {
		all = errors.Join(all, t.Close())
	}
	return all
}

// mountable lets a partition's file system be opened, once, and closed with the others.
func (m *Machine) mountable(s *bootentry.System, i int, disk string, mounted *mountedVolumes) {
	p := s.Partitions[i]
	var tree *sys.Tree
	p.Open = func() (fs.FS, error) {
		if tree != nil {
			return tree.FS(), nil
		}
		if p.Kind == "" {
			return nil, errors.New("it has no file system that can be mounted")
		}
		m.LoadModule(p.Kind)
		t, err := m.Kernel.MountUntouched(partitionPath(disk, p.Number), p.Kind)
		if err != nil {
			return nil, err
		}
		tree = t
		*mounted = append(*mounted, t)
		return tree.FS(), nil
	}
}

// load loads an entry.
func (m *Machine) load(e bootentry.Entry) error {
	if err := m.enoughMemory(e); err != nil {
		return err
	}
	kernel, err := fileOf("kernel", e.Kernel)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", e.Kernel.Path, err)
	}
	defer kernel.Close() // only read from
	var initrd *os.File
	if len(e.Initrd) > 0 {
		if initrd, err = fileOf("initrd", e.Initrd...); err != nil {
			return fmt.Errorf("initial ramdisk: %w", err)
		}
		defer initrd.Close() // only read from
	}
	return m.Kernel.LoadKernel(kernel, initrd, e.CommandLine)
}

// enoughMemory refuses to load a kernel that would have process 1 killed for its memory: the loaded files are in
// memory three times for a moment.
func (m *Machine) enoughMemory(e bootentry.Entry) error {
	need := e.Kernel.Size
	for _, b := range e.Initrd {
		need += b.Size
	}
	const copies = 3
	need *= copies
	text, err := fs.ReadFile(m.Root, "proc/meminfo")
	if err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	if free := available(string(text)); free < need {
		return fmt.Errorf("loading it needs %d MB of memory, the machine has %d MB free", need>>20, free>>20)
	}
	return nil
}

// fileOf is a file with one blob after the other, each filled up to four bytes as boot
// loaders do. A blob that is a whole file is taken as it is; of others a copy is made in
// memory.
func fileOf(name string, blobs ...bootentry.Blob) (*os.File, error) {
	if len(blobs) == 1 && blobs[0].Whole {
		f, err := blobs[0].Open()
		if err != nil {
			return nil, err
		}
		if file, ok := f.(*os.File); ok {
			return file, nil
		}
		return nil, errors.Join(errors.New("expected a file of the kernel's"), f.Close())
	}
	return sys.FileInMemory(name, func(w io.Writer) error {
		for _, b := range blobs {
			if err := copyBlob(w, b); err != nil {
				return fmt.Errorf("%s: %w", b.Path, err)
			}
		}
		return nil
	})
}

// copyBlob copies a blob, and fills it up.
func copyBlob(w io.Writer, b bootentry.Blob) error {
	f, err := b.Open()
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read from
	at, ok := f.(io.ReaderAt)
	if !ok {
		return errors.New("expected a file to read at any place")
	}
	n, err := io.Copy(w, io.NewSectionReader(at, b.Offset, b.Size))
	if err == nil && n != b.Size {
		err = fmt.Errorf("%w: read %d of %d bytes", io.ErrUnexpectedEOF, n, b.Size)
	}
	const align = 4
	if rest := b.Size % align; err == nil && rest > 0 {
		_, err = w.Write(make([]byte, align-rest))
	}
	return err
}
