// Package ramdisk builds the kernel and the ramdisk of a netboot: a kernel taken from Debian's package archive and an
// initramfs around a static /init, usually ferrite-agent. A recipe is data; the same recipe with the same packages and
// binaries gives the same bytes. It packs binaries by path and must know nothing of their work, of nodes, or of how
// the result is served.
//
// The initramfs holds for /init:
//
//   - the kernel's modules below /lib/modules/<release> with modules.dep, modules.alias and modules.builtin in depmod's
//     text formats, reduced to the modules that are there. Soft dependencies that must come first are in modules.dep as
//     well, so that loading a line from its end to its start is always right;
//   - /etc/ferrite/modules, one module name per line, to be loaded at start in that order;
//   - /etc/ferrite/console-shell, if the consoles are to give a root shell;
//   - /etc/ssl/certs/ca-certificates.crt, if a site has authorities;
//   - /etc/ferrite/ssh-keys, if people log in by key;
//   - /etc/ferrite/steps.d with the steps of a site;
//   - /dev/console; and in /bin the console commands, /bin/sh among them.
//
// The kernel sets no PATH: a program that starts a shell has to.
package ramdisk

import (
	"fmt"
	"log/slog"

	"github.com/ferrite-metal/ferrite/images/ramdisk/debian"
)

// moduleList is the file in the ramdisk naming the modules to load at start, one per line.
const moduleList = "etc/ferrite/modules"

// consoleShell is the file in the ramdisk that has the agent offer a shell on the consoles.
const consoleShell = "etc/ferrite/console-shell"

// Recipe lists the inputs of a build.
type Recipe struct {
	Profile  Profile
	Archive  debian.Archive // where Debian's packages come from
	Kernel   Kernel         // a kernel of one's own, see OwnKernel; zero for Profile.KernelPackage
	Agent    string         // path of the static binary that becomes /init
	Commands []string       // import paths of u-root commands for the console; none means no shell
	// prebuilt binary that has Commands, see BuildCommands; "" builds one with the Go toolchain, cached
	Busybox      string
	ConsoleShell bool        // a root shell on the machine's consoles, after Enter, without a password
	Site         Site        // anything else
	Compression  Compression // of the initramfs; "" is Zstd
	Out          string      // folder for the results: <profile>.vmlinuz and <profile>.initramfs
	CacheDir     string      // folder for downloads, see buildcache.CacheDir
	Log          *slog.Logger
}

// File is one regular file added to a ramdisk.
type File struct {
	Path   string // in the ramdisk, without a leading slash
	Mode   uint32 // permission bits
	Source string // path on this machine
}

// Result is the result of a build. Sizes are in bytes, sums are SHA-256 in hex.
type Result struct {
	KernelPath, InitramfsPath     string
	KernelSize, InitramfsSize     int64
	KernelSHA256, InitramfsSHA256 string
	UnpackedSize                  int64    // of the initramfs before compression
	KernelPackage, KernelVersion  string   // Debian package and its version
	KernelRelease                 string   // uname -r
	Modules                       []string // paths below /lib/modules/<release>
	Load                          []string // names the agent loads at start
	Notes                         []string // modules the profile would like that this kernel has not
	MissingFirmware               []string // "module: file", named by modules and not in Site.Firmware
	Parts                         []Part   // of the initramfs
	ManifestPath                  string   // SPDX in JSON: contents of the initramfs
	Components                    []Component
}

func (r Recipe) check() error {
	switch {
	case r.Profile.Name == "" || r.Profile.KernelPackage == "":
		return fmt.Errorf("ramdisk recipe: expected a profile with name and kernel package, found %+q", r.Profile.Name)
	case r.Archive == nil:
		return fmt.Errorf("ramdisk recipe: no archive of packages")
	case r.Agent == "":
		return fmt.Errorf("ramdisk recipe: no path of the agent binary that becomes /init")
	case r.Out == "" || r.CacheDir == "":
		return fmt.Errorf("ramdisk recipe: output folder %q and cache folder %q must both be set", r.Out, r.CacheDir)
	case r.Log == nil:
		return fmt.Errorf("ramdisk recipe: no logger")
	}
	for _, f := range r.Site.Files {
		if err := checkPath(f.Path); err != nil {
			return fmt.Errorf("ramdisk recipe: %w", err)
		}
	}
	return nil
}
