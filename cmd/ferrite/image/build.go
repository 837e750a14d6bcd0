package image

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/images/ramdisk"
	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// agentName is the binary looked for beside this program.
const agentName = "ferrite-agent"

func build() *cobra.Command {
	var profile, agent, out, busybox string
	var shell bool
	var files []string
	var site ramdisk.Site
	c := &cobra.Command{
		Use:   "build",
		Short: "Build kernel and initramfs from Debian's kernel packages",
		Long: "Downloads Debian's kernel package and packs the profile's modules with ferrite-agent as init.\n" +
			"A few u-root commands are for people at the console. The same inputs give the same bytes.\n" +
			"Authorities, firmware, modules and files of your site are added by flags. Anybody on the\n" +
			"network can fetch a ramdisk: put no secrets into it.\n\n" +
			"The results are OUT/PROFILE.vmlinuz and OUT/PROFILE.initramfs. Give them to\n" +
			"`ferrite serve --ramdisk-kernel --ramdisk-initrd`.",
		Example: "  ferrite image build --profile metal --out /var/lib/ferrite/ramdisk\n" +
			"  ferrite image build --ca site-ca.pem --firmware /lib/firmware --module bnx2x --out ramdisk",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := ramdisk.ProfileNamed(profile)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("console-shell") {
				shell = p.ConsoleShell
			}
			if agent, err = findAgent(agent); err != nil {
				return err
			}
			cache, err := buildcache.CacheDir()
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
			for _, text := range files {
				f, err := ramdisk.ParseFile(text)
				if err != nil {
					return fmt.Errorf("--file: %w", err)
				}
				site.Files = append(site.Files, f)
			}
			r, err := ramdisk.Build(cmd.Context(), ramdisk.Recipe{
				Profile: p, Agent: agent, Commands: ramdisk.ConsoleCommands(), Busybox: busybox, ConsoleShell: shell, Out: out,
				Site: site, CacheDir: cache, Log: log,
			})
			if err != nil {
				return err
			}
			if len(r.MissingFirmware) > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s has no such firmware; cards that need it will not work:\n  %s\n", site.Firmware,
					strings.Join(r.MissingFirmware, "\n  "))
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\t%.1f MB\n%s\t%.1f MB (%.1f MB unpacked, %d modules of %s %s)\n",
				r.KernelPath, mb(r.KernelSize), r.InitramfsPath, mb(r.InitramfsSize), mb(r.UnpackedSize), len(r.Modules),
				r.KernelPackage, r.KernelVersion)
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&profile, "profile", "metal", "machines that it is for: "+strings.Join(profileNames(), " or "))
	f.StringVar(&agent, "agent", "", "`path` of the agent (default: ferrite-agent beside this program)")
	f.StringVar(&out, "out", ".", "`folder` for the results")
	f.StringVar(&busybox, "commands", "",
		"`file` of prebuilt u-root commands; without it they are built with the Go toolchain in a checkout of Ferrite")
	f.BoolVar(&shell, "console-shell", false,
		"Enter on the machine's consoles gives a root shell without a password (default: only in the profile lab)")
	f.StringArrayVar(&site.Authorities, "ca", nil,
		"PEM `file` of an authority that the agent trusts for https; repeat it; \"system\": those of this machine")
	f.StringVar(&site.Firmware, "firmware", "",
		"`folder` with firmware, laid out as /lib/firmware; of it the files that the packed modules name are added")
	f.StringVar(&site.Overlay, "overlay", "", "`folder` or cpio archive (newc) whose files are added, or replace others")
	f.StringArrayVar(&files, "file", nil, "`SRC:DST[:MODE]` of a file to add; repeat it")
	f.StringArrayVar(&site.Modules, "module", nil, "`name` of a kernel module to add and to load at start; repeat it")
	if err := c.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(profileNames(),
		cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // a mistake above, which the first run of any test would show
	}
	return c
}

func profileNames() []string {
	var names []string
	for _, p := range ramdisk.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

func findAgent(path string) (string, error) {
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find %s: %w; say where it is with --agent", agentName, err)
		}
		path = filepath.Join(filepath.Dir(self), agentName)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("agent: %w; say where it is with --agent", err)
	}
	return path, nil
}

// mb counts in 10^6 bytes.
func mb(n int64) float64 { return float64(n) / 1e6 }
