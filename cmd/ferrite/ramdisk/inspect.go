package ramdisk

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/images/ramdisk"
)

func inspect() *cobra.Command {
	var files, asJSON bool
	c := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show the contents of a kernel or a ramdisk",
		Long: "Shows the version of a kernel. Of a ramdisk it shows the sizes, the kernel it is for, the modules\n" +
			"and the firmware. Any bzImage, and any initramfs that is packed with zstd or gzip, can be read.",
		Example: "  ferrite ramdisk inspect ramdisk/metal.initramfs --files",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := ramdisk.Inspect(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(found)
			}
			return show(cmd.OutOrStdout(), found, files)
		},
	}
	c.Flags().BoolVar(&files, "files", false, "list every file")
	c.Flags().BoolVar(&asJSON, "json", false, "print all as JSON")
	return c
}

// show prints an inspection for people.
func show(w io.Writer, i ramdisk.Inspection, files bool) error {
	var text strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&text, "%-10s %s\n", name, value)
		}
	}
	line("size", fmt.Sprintf("%.1f MB", mb(i.Size)))
	line("kernel", i.Kernel)
	if i.Unpacked > 0 {
		line("unpacked", fmt.Sprintf("%.1f MB, %d files", mb(i.Unpacked), len(i.Files)))
	}
	line("for kernel", strings.Join(i.Releases, " "))
	line("modules", counted(i.Modules))
	line("firmware", counted(i.Firmware))
	line("manifest", i.Manifest)
	line("packages", counted(i.Packages))
	line("microcode", strings.Join(i.Microcode, " "))
	if files {
		for _, f := range i.Files {
			fmt.Fprintf(&text, "%s %10d %s\n", f.Mode, f.Size, f.Path)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// counted is a list behind its length, nothing when it is empty.
func counted(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%d: %s", len(names), strings.Join(names, " "))
}
