package module

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Kernel takes modules.
type Kernel interface {
	LoadModule(path, params string) error
}

// Events is the kernel's stream of device events.
type Events interface {
	Next() (map[string]string, error)
}

// listFile names the modules to load before any device is looked at, one per
// line; it is written when the ramdisk is built.
const listFile = "etc/ferrite/modules"

// Loader loads modules, each once. It is safe for several goroutines.
type Loader struct {
	fsys    fs.FS // the root file system, with lib/modules and sys
	index   *Index
	kernel  Kernel
	log     *slog.Logger
	options map[string]string // module -> parameters
	banned  []string

	mu    sync.Mutex
	tried map[string]chan struct{} // files and modules asked for; closed when the kernel has answered
}

// NewLoader makes a loader that passes options (module -> "a=1 b=2") on and never
// loads banned modules.
func NewLoader(
	fsys fs.FS, index *Index, kernel Kernel, options map[string]string, banned []string, log *slog.Logger,
) *Loader {
	l := &Loader{fsys: fsys, index: index, kernel: kernel, log: log, options: options, tried: map[string]chan struct{}{}}
	for _, b := range banned {
		l.banned = append(l.banned, name(b))
	}
	return l
}

// Listed loads the modules that listFile names, in its order. A module that cannot be
// loaded is logged: a machine may do without it.
func (l *Loader) Listed() {
	f, err := l.fsys.Open(listFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.log.Warn("list of modules cannot be read", "err", err)
		return
	}
	defer f.Close() //nolint:errcheck // only read from
	if err := eachLine(f, func(s string) { l.load(s) }); err != nil {
		l.log.Warn("list of modules cannot be read", "err", err)
	}
}

// maxPasses bounds Coldplug: a bus behind a bus behind a bus is three.
const maxPasses = 10

// workers bounds how many drivers of other devices start at once: a controller that scans
// for a minute keeps one of them.
const workers = 4

// Coldplug loads the modules for present devices, network cards' beside all others: finit_module waits for a storage
// controller's whole scan. Network drivers load one after the other, so that interfaces keep their names from boot to
// boot. A module may bring up a bus with further devices, so each looks again until a pass loads nothing.
func (l *Loader) Coldplug() {
	var both sync.WaitGroup
	both.Go(func() { l.passes(isNetwork, 1) })
	l.passes(func(alias string) bool { return !isNetwork(alias) }, workers)
	both.Wait()
	// A bus of the one may have brought up devices of the other.
	l.passes(func(string) bool { return true }, workers)
}

// passes loads for the devices that wanted accepts, several at once, until nothing is
// left to load.
func (l *Loader) passes(wanted func(modalias string) bool, atOnce int) {
	for range maxPasses {
		var n atomic.Int64
		var group errgroup.Group
		group.SetLimit(atOnce)
		for _, modalias := range l.modaliases() {
			if wanted(modalias) {
				group.Go(func() error {
					n.Add(int64(l.Device(modalias)))
					return nil
				})
			}
		}
		_ = group.Wait() // its functions never fail
		if n.Load() == 0 {
			return
		}
	}
}

// pciClass finds the base class of a PCI device in its modalias.
var pciClass = regexp.MustCompile(`^pci:.*bc([0-9A-F]{2})sc`)

// isNetwork reports whether a modalias is a network card's: PCI class 02, or the
// card of a virtual machine on virtio, Xen or Hyper-V.
func isNetwork(modalias string) bool {
	if m := pciClass.FindStringSubmatch(modalias); m != nil {
		return m[1] == "02"
	}
	for _, card := range []string{"virtio:d00000001v", "xen:vif", "vmbus:635161f83edfc546913ff2d2f965ed0e"} {
		if strings.HasPrefix(modalias, card) {
			return true
		}
	}
	return false
}

// modaliases are the aliases of all devices on all buses, sorted, each once. It is fast since it reads the buses
// instead of walking all of sys/devices. It skips an unreadable alias: a device may vanish meanwhile, or have none.
func (l *Loader) modaliases() []string {
	var all []string
	for _, bus := range l.list("sys/bus") {
		folder := path.Join("sys/bus", bus, "devices")
		for _, device := range l.list(folder) {
			if b, err := fs.ReadFile(l.fsys, path.Join(folder, device, "modalias")); err == nil {
				all = append(all, strings.TrimSpace(string(b)))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// list names the entries of a folder; a bus may have none.
func (l *Loader) list(folder string) []string {
	entries, err := fs.ReadDir(l.fsys, folder)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.log.Warn("devices cannot be listed", "folder", folder, "err", err)
		}
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Device loads the modules that serve a device and returns how many files the
// kernel took.
func (l *Loader) Device(modalias string) int {
	n := 0
	for _, m := range l.index.For(modalias) {
		n += l.load(m)
	}
	return n
}

// Module loads a module by name, which no device may ever ask for.
func (l *Loader) Module(name string) { l.load(name) }

// load loads a module and its dependencies, once, and returns when it is there. Several goroutines load different
// files at once; the lock is never held while the kernel works.
func (l *Loader) load(module string) int {
	module = name(module)
	if slices.Contains(l.banned, module) || l.index.Builtin(module) {
		return 0
	}
	return l.once(module, func() int {
		files, err := l.index.Closure(module)
		if err != nil {
			l.log.Debug("module is not in this ramdisk", "module", module, "err", err)
			return 0
		}
		n := 0
		for _, file := range files {
			n += l.once(file, func() int { return l.loadFile(file) })
		}
		return n
	})
}

// once runs do for the first to ask for key; others wait until it has ended, and get 0.
func (l *Loader) once(key string, do func() int) int {
	l.mu.Lock()
	done, tried := l.tried[key]
	if !tried {
		done = make(chan struct{})
		l.tried[key] = done
	}
	l.mu.Unlock()
	if tried {
		<-done
		return 0
	}
	defer close(done)
	return do()
}

// loadFile gives a file to the kernel.
func (l *Loader) loadFile(file string) int {
	if err := l.kernel.LoadModule(file, l.options[name(file)]); err != nil {
		// ENODEV is a driver's way of saying that its device is not there.
		l.log.Info("module not loaded", "module", name(file), "err", err)
		return 0
	}
	l.log.Debug("module loaded", "module", name(file))
	return 1
}

// Hotplug loads the modules for devices that turn up later, until the events end or ctx does.
func (l *Loader) Hotplug(ctx context.Context, events Events) error {
	for ctx.Err() == nil {
		vars, err := events.Next()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		switch {
		case len(vars) == 0: // some were lost
			l.Coldplug()
		case vars["ACTION"] == "add" && vars["MODALIAS"] != "":
			l.Device(vars["MODALIAS"])
		}
	}
	return nil
}
