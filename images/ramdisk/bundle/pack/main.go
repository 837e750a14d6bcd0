// Command pack compresses an agent and the console commands for package bundle. `make release` runs it in a checkout.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/ferrite-metal/ferrite/images/ramdisk"
	"github.com/ferrite-metal/ferrite/images/ramdisk/bundle"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack AGENT FOLDER")
		os.Exit(2)
	}
	if err := pack(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// pack writes both programs into a folder.
func pack(ctx context.Context, agent, folder string) (err error) {
	tmp, err := os.MkdirTemp("", "ferrite-bundle-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	commands := filepath.Join(tmp, "bb")
	if err := ramdisk.BuildCommands(ctx, ramdisk.ConsoleCommands(), commands); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, source := range map[string]string{bundle.Agent: agent, bundle.Commands: commands} {
		if err := compress(source, filepath.Join(folder, name+".zst")); err != nil {
			return err
		}
	}
	return nil
}

func compress(source, to string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, packer.EncodeAll(text, nil), 0o644), packer.Close())
}
