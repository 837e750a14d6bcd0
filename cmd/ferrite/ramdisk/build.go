package ramdisk

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/images/ramdisk"
)

func build() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "build",
		Short: "Build kernel and initramfs from Debian's kernel packages",
		Long: "Downloads Debian's kernel package and packs the profile's modules with ferrite-agent as init.\n" +
			"A few u-root commands are for people at the console. The same inputs give the same bytes.\n" +
			"Authorities, firmware, modules and files of your site are added by flags. Anybody on the\n" +
			"network can fetch a ramdisk: put no secrets into it.\n\n" +
			"Packages come by apt if this machine has it, otherwise from a mirror of Debian. There the\n" +
			"signature of the release and the hash of each package are checked.\n\n" +
			"The results are OUT/PROFILE.vmlinuz and OUT/PROFILE.initramfs. Give them to\n" +
			"`ferrite serve --ramdisk-kernel --ramdisk-initrd`. OUT/PROFILE.spdx.json lists the packages in\n" +
			"them (SPDX 2.3). OUT/loaders has Debian's boot loaders for boot media.",
		Example: "  ferrite ramdisk build --profile metal --firmware auto --out /var/lib/ferrite/ramdisk\n" +
			"  ferrite ramdisk build --ca site-ca.pem --firmware /lib/firmware --module bnx2x --out ramdisk\n" +
			"  ferrite ramdisk build --kernel-package linux-image-amd64/bookworm-backports --out ramdisk",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.shellSet = cmd.Flags().Changed("console-shell")
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
			recipe, err := o.recipe(cmd.Context(), log)
			if err != nil {
				return err
			}
			result, err := ramdisk.Build(cmd.Context(), recipe)
			if err != nil {
				return err
			}
			folder, err := ramdisk.FetchLoaders(cmd.Context(), recipe.Archive, recipe.CacheDir, recipe.Out, log)
			if err != nil {
				return err
			}
			reportMissing(cmd.ErrOrStderr(), o.site.Firmware, result.MissingFirmware)
			return report(cmd.OutOrStdout(), result, folder)
		},
	}
	o.define(c.Flags())
	if err := c.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(profileNames(),
		cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // a mistake above, which the first run of any test would show
	}
	return c
}

// reportMissing names missing firmware. Debian lacks files for cards that it may not distribute, and files for cards
// that are not in use. For Debian, their count is enough.
func reportMissing(w io.Writer, from string, missing []string) {
	switch {
	case len(missing) == 0:
	case from == ramdisk.FirmwareAuto:
		fmt.Fprintf(w,
			"Debian has no package with %d files that drivers name; the log of a machine names those that its cards "+
				"miss\n", len(missing))
	default:
		fmt.Fprintf(w, "%s has no such firmware; cards that need it will not work:\n  %s\n", from,
			strings.Join(missing, "\n  "))
	}
}

// report prints the results, and the size of each part.
func report(w io.Writer, r ramdisk.Result, loaders string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\t%.1f MB\n%s\t%.1f MB (%.1f MB unpacked, %d modules of %s %s)\n", r.KernelPath,
		mb(r.KernelSize),
		r.InitramfsPath, mb(r.InitramfsSize), mb(r.UnpackedSize), len(r.Modules), r.KernelPackage, r.KernelVersion)
	for _, part := range r.Parts {
		fmt.Fprintf(&text, "  %-18s %7.1f MB  %d files\n", part.Name, mb(part.Size), part.Files)
	}
	fmt.Fprintf(&text, "%s\t%d components\n", r.ManifestPath, len(r.Components))
	fmt.Fprintf(&text, "%s\tboot loaders for boot media\n", loaders)
	_, err := io.WriteString(w, text.String())
	return err
}

func profileNames() []string {
	var names []string
	for _, p := range ramdisk.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// mb counts in 10^6 bytes.
func mb(n int64) float64 { return float64(n) / 1e6 }
