package ramdisk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/images/ramdisk"
	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/images/ramdisk/bundle"
	"github.com/ferrite-metal/ferrite/images/ramdisk/debian"
)

// options are the flags of `ferrite ramdisk build`.
type options struct {
	profile, agent, out, busybox string
	shell, shellSet              bool
	files                        []string
	site                         ramdisk.Site
	mirror, keyring              string
	suites                       []string
	kernelPackage                string
	kernel, modules              string
}

func (o *options) define(f *pflag.FlagSet) {
	f.StringVar(&o.profile, "profile", "metal", "machines that it is for: "+strings.Join(profileNames(), " or "))
	f.StringVar(&o.agent, "agent", "",
		"`path` of the agent (default: the one in this program, or ferrite-agent beside it)")
	f.StringVar(&o.out, "out", ".", "`folder` for the results")
	f.StringVar(&o.busybox, "busybox", "", "`file` of prebuilt u-root commands for the console (default: those in this "+
		"program; without them they are built with the Go toolchain in a checkout of Ferrite)")
	f.BoolVar(&o.shell, "console-shell", false,
		"Enter on the machine's consoles gives a root shell without a password (default: only in the profile lab)")
	f.StringArrayVar(&o.site.Authorities, "ca", nil,
		"PEM `file` of an authority that the agent trusts for https; repeat it; \"system\": this machine's")
	f.StringVar(&o.site.Firmware, "firmware", ramdisk.FirmwareNone,
		"`source` of the firmware that the packed modules name, and of "+
			"the processors' microcode: auto (Debian's packages), none, or a folder laid out as /lib/firmware")
	f.StringArrayVar(&o.site.SSHKeys, "ssh-key", nil,
		"public key `file` for logins by SSH as root while the agent runs; repeat it")
	f.BoolVar(&o.site.RescueTools, "commands", false,
		"add Debian's programs to repair an installed system: chroot, fsck, lsblk, "+
			"blkid, fdisk, mdadm, lvm, cryptsetup, tar, vi, passwd")
	f.StringVar(&o.site.Overlay, "overlay", "", "`folder` or cpio archive (newc) whose files are added, or replace others")
	f.StringArrayVar(&o.files, "file", nil, "`SRC:DST[:MODE]` of a file to add; repeat it")
	f.StringArrayVar(&o.site.Steps, "step", nil,
		"`NAME.json` of a site step, with its program NAME beside it, or a folder of them; repeat it")
	f.StringArrayVar(&o.site.Modules, "module", nil, "`name` of a kernel module to add and to load at start; repeat it")
	f.StringVar(&o.mirror, "mirror", "",
		"`URL` of a mirror of Debian to fetch packages from (default: apt's sources where this "+
			"machine has apt, otherwise Debian's)")
	f.StringArrayVar(&o.suites, "suite", nil, "`name` of a suite of the mirror; repeat it (default: "+
		strings.Join(debian.DefaultSuites(), ", ")+")")
	f.StringVar(&o.keyring, "keyring", "",
		"`file` of the keys that sign the mirror's releases (default: the keys of Debian 12 and 13)")
	f.StringVar(&o.kernelPackage, "kernel-package", "", "`NAME[/SUITE]` of Debian's kernel package, as "+
		"linux-image-amd64/bookworm-backports (default: as the profile has it)")
	f.StringVar(&o.kernel, "kernel", "", "`file` of a kernel (bzImage) of your own; with --modules")
	f.StringVar(&o.modules, "modules", "", "`folder` lib/modules/RELEASE of that kernel")
}

// recipe checks the flags before anything is fetched.
func (o *options) recipe(ctx context.Context, log *slog.Logger) (ramdisk.Recipe, error) {
	p, err := ramdisk.ProfileNamed(o.profile)
	if err != nil {
		return ramdisk.Recipe{}, err
	}
	if !o.shellSet {
		o.shell = p.ConsoleShell
	}
	if o.kernelPackage != "" {
		p.KernelPackage = o.kernelPackage
	}
	for _, text := range o.files {
		f, err := ramdisk.ParseFile(text)
		if err != nil {
			return ramdisk.Recipe{}, fmt.Errorf("--file: %w", err)
		}
		o.site.Files = append(o.site.Files, f)
	}
	r := ramdisk.Recipe{Profile: p, Commands: ramdisk.ConsoleCommands(), ConsoleShell: o.shell, Out: o.out, Site: o.site,
		Log: log}
	if r.CacheDir, err = buildcache.CacheDir(); err != nil {
		return ramdisk.Recipe{}, err
	}
	if r.Kernel, err = o.ownKernel(); err != nil {
		return ramdisk.Recipe{}, err
	}
	if r.Archive, err = o.archive(r.CacheDir, log); err != nil {
		return ramdisk.Recipe{}, err
	}
	if r.Agent, err = findAgent(ctx, o.agent, r.CacheDir); err != nil {
		return ramdisk.Recipe{}, err
	}
	r.Busybox, err = findCommands(ctx, o.busybox, r.CacheDir)
	return r, err
}

func (o *options) ownKernel() (ramdisk.Kernel, error) {
	switch {
	case o.kernel == "" && o.modules == "":
		return ramdisk.Kernel{}, nil
	case o.kernel == "" || o.modules == "":
		return ramdisk.Kernel{}, errors.New("--kernel and --modules: expected both, found one")
	case o.kernelPackage != "":
		return ramdisk.Kernel{}, errors.New("--kernel and --kernel-package: expected one of them, found both")
	}
	return ramdisk.OwnKernel(o.kernel, o.modules)
}

// archive is apt of this machine, which knows its mirrors and proxies, unless a mirror is asked for or apt is not here.
func (o *options) archive(cacheDir string, log *slog.Logger) (debian.Archive, error) {
	if o.mirror == "" && o.keyring == "" && len(o.suites) == 0 && debian.HasApt() {
		return &debian.Apt{}, nil
	}
	keys, err := debian.ArchiveKeyring()
	if o.keyring != "" {
		keys, err = debian.ReadKeyring(o.keyring)
	}
	if err != nil {
		return nil, err
	}
	if o.mirror == "" {
		o.mirror = debian.PublicMirror
	}
	if len(o.suites) == 0 {
		o.suites = debian.DefaultSuites()
	}
	return debian.NewMirror(o.mirror, o.suites, keys, cacheDir, log)
}

// findAgent returns the agent of the flag, the agent built into this program, or the agent beside it.
func findAgent(ctx context.Context, asked, cacheDir string) (string, error) {
	if asked == "" {
		path, err := bundle.Unpack(ctx, cacheDir, bundle.Agent)
		if !errors.Is(err, fs.ErrNotExist) {
			return path, err
		}
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find %s: %w; say where it is with --agent", bundle.Agent, err)
		}
		asked = filepath.Join(filepath.Dir(self), bundle.Agent)
	}
	if _, err := os.Stat(asked); err != nil {
		return "", fmt.Errorf("agent: %w; say where it is with --agent", err)
	}
	return asked, nil
}

// findCommands takes the console commands that were asked for, or those that this program was built with. "" has
// them built.
func findCommands(ctx context.Context, asked, cacheDir string) (string, error) {
	if asked != "" {
		_, err := os.Stat(asked)
		return asked, err
	}
	path, err := bundle.Unpack(ctx, cacheDir, bundle.Commands)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return path, err
}
