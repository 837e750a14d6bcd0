package manual

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/reference"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/docs"
	"github.com/ferrite-metal/ferrite/docs/site"
)

// Group is the id of the group of commands that explain the program.
const Group = "learn"

const help = `Print a page of the documentation of this release, which the program carries.

Without a page, list the pages. The last part of a name is enough if it is unique:
"operate/deploy" is also "deploy". Decisions are listed on the page "decisions".`

// Command is `ferrite docs`.
func Command() *cobra.Command {
	var word, folder, siteFolder string
	c := &cobra.Command{
		Use:     "docs [PAGE]",
		Short:   "Read and search the documentation",
		Long:    help,
		GroupID: Group,
		Example: "  ferrite docs\n  ferrite docs troubleshooting\n  ferrite docs --search root-device\n" +
			"  ferrite docs --man /usr/local/share/man/man1\n" +
			"  ferrite docs --site public",
		Args:         cobra.MaximumNArgs(1),
		SilenceUsage: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completions(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			switch {
			case len(args) > 0 && (word != "" || folder != "" || siteFolder != ""):
				return errors.New("--search, --man and --site are for all pages: leave the page out")
			case siteFolder != "":
				return writeSite(cmd.Root().Version, siteFolder, out)
			case folder != "":
				return writeMan(cmd.Root(), folder, out)
			case word != "":
				return search(out, word)
			case len(args) > 0:
				return show(out, args[0])
			}
			return list(out)
		},
	}
	c.Flags().StringVar(&word, "search", "", "list the lines of all pages that contain this `text`")
	c.Flags().StringVar(&folder, "man", "", "write a man page of each command into this `folder`")
	c.Flags().StringVar(&siteFolder, "site", "", "write all pages as a static site into a folder for this version in "+
		"this `folder`")
	c.MarkFlagsMutuallyExclusive("search", "man", "site")
	return c
}

// writeMan writes the man pages of all commands into a folder, which it makes.
func writeMan(root *cobra.Command, folder string, out io.Writer) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("--man: %w", err)
	}
	pages := reference.Man(root)
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("--man: %w", err)
		}
	}
	_, err := fmt.Fprintf(out, "wrote %d man pages to %s\n", len(pages), folder)
	return err
}

// writeSite writes the site of a version.
func writeSite(version, folder string, out io.Writer) error {
	if version == "" {
		version = "development"
	}
	files, err := site.New(docs.Pages, version, api.Document).Write(folder)
	if err != nil {
		return fmt.Errorf("--site: %w", err)
	}
	_, err = fmt.Fprintf(out, "wrote %d files to %s: open %s\n", files, filepath.Join(folder, version),
		filepath.Join(folder, "index.html"))
	return err
}
