package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/tour"
)

// downTime is how long a lab may take to end.
const downTime = time.Minute

func down() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "down", Short: "End a lab, and print what stays: consoles, logs, and the cache of builds", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), downTime)
			defer cancel()
			state, err := lab.ReadState(dir)
			if err == nil {
				err = lab.Down(ctx, dir,
					slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
			}
			switch {
			case errors.Is(err, fs.ErrNotExist):
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "no lab runs in", dir)
				return err
			case err != nil:
				return err
			}
			cache, err := buildcache.CacheDir()
			if err != nil {
				return err
			}
			return report(cmd.OutOrStdout(), state, dir, cache)
		},
	}
	c.Flags().StringVar(&dir, "dir", tour.DefaultDir(), "`folder` of the lab")
	return c
}

// report prints the parts of a lab that has ended, and the folders that stay, each with the command to remove it.
func report(w io.Writer, s lab.State, dir, cache string) error {
	_, err := fmt.Fprintf(w, "ended lab %s: its %d machines with their disks, %d other processes, network namespace %s\n",
		s.ID, len(s.Machines), len(s.Children), s.Namespace)
	for _, left := range []struct{ dir, holds string }{
		{dir, "consoles and logs"}, {cache, "downloads, tools and images; the next build needs them again"},
	} {
		size, sizeErr := sizeOf(left.dir)
		if errors.Is(sizeErr, fs.ErrNotExist) {
			continue
		}
		if err = errors.Join(err, sizeErr); err == nil {
			_, err = fmt.Fprintf(w, "stays: %s, %.1f MB of %s; to remove it: rm -r %s\n", left.dir, float64(size)/1e6,
				left.holds, left.dir)
		}
	}
	return err
}

// sizeOf is the size of all files below a folder.
func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
