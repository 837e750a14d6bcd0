package ramdisk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/u-root/gobusybox/src/pkg/bb"
	"github.com/u-root/gobusybox/src/pkg/golang"
	"github.com/u-root/uio/ulog"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// shell is the console command that becomes /bin/sh.
const shell = "gosh"

// buildTags leave out of gosh its line editors, which would cost three megabytes; the
// terminal's own editing remains.
const buildTags = "goshsmall"

// ConsoleCommands are the u-root commands a human finds on the console, as import
// paths: enough to look around and mend a network.
func ConsoleCommands() []string {
	names := []string{
		"cat", "chmod", "cp", "date", "dd", "df", "dmesg", "echo", "find", "free", "grep", "head", "hexdump", "hostname",
		"ip", "kill", "ls", "lsmod", "mkdir", "more", "mount", "mv", "netstat", "pci", "ping", "ps", "pwd", "rm", "shutdown",
		"sleep", "strings", "sync", "tail", "umount", "uname", "uptime", "wc", shell,
	}
	for i, name := range names {
		names[i] = "github.com/u-root/u-root/cmds/core/" + name
	}
	return names
}

// BuildCommands makes one static binary out of u-root commands at path out. It needs the Go toolchain and must run
// inside a checkout of this module, because go.mod names the version of u-root.
func BuildCommands(ctx context.Context, commands []string, out string) error {
	goenv, err := goEnv(ctx)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "ferrite-commands-")
	if err != nil {
		return fmt.Errorf("build console commands: %w", err)
	}
	err = buildCommands(ctx, goenv, commands, tmp, out)
	if err != nil {
		err = fmt.Errorf("build console commands: %w", err)
	}
	return errors.Join(err, os.RemoveAll(tmp))
}

// buildCommands lets gobusybox rewrite the commands' sources into one program below
// tmp, then compiles it as an old-style GOPATH, the way gobusybox would, but so that it
// stops with ctx and leaves no build id.
func buildCommands(ctx context.Context, goenv map[string]string, commands []string, tmp, out string) error {
	env := golang.Default(golang.DisableCGO(), golang.WithGOROOT(goenv["GOROOT"]), golang.WithGOOS("linux"),
		golang.WithGOARCH("amd64"),
		golang.WithBuildTag(buildTags), golang.WithMod(golang.ModReadonly),
		golang.WithWorkingDir(filepath.Dir(goenv["GOMOD"])))
	generate := &bb.Opts{Env: env, GenSrcDir: tmp, CommandPaths: commands, GenerateOnly: true}
	if err := bb.BuildBusybox(ulog.Null, generate); err != nil {
		return err
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	_, err = buildcache.Tool{
		Name: "go", Package: "golang-go", Dir: filepath.Join(tmp, "src", "bb.u-root.com", "bb"),
		Env: []string{"GO111MODULE=off", "GOFLAGS=", "GOPATH=" + tmp, "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64",
			"GOTOOLCHAIN=local"},
		Args: []string{"build", "-trimpath", "-buildvcs=false", "-tags", buildTags, "-ldflags", "-s -w -buildid=", "-o", out},
	}.Run(ctx)
	return err
}

// cachedCommands is BuildCommands kept in the cache: rewriting and compiling takes 10
// to 30 seconds.
func cachedCommands(ctx context.Context, cacheDir string, commands []string, log *slog.Logger) (string, error) {
	goenv, err := goEnv(ctx)
	if err != nil {
		return "", err
	}
	sums, err := os.ReadFile(filepath.Join(filepath.Dir(goenv["GOMOD"]), "go.mod"))
	if err != nil {
		return "", fmt.Errorf("build console commands: %w", err)
	}
	inputs := strings.Join(append([]string{goenv["GOVERSION"], buildTags, string(sums)}, commands...), "\n")
	key := sha256.Sum256([]byte(inputs))
	dir, err := buildcache.Once(ctx, filepath.Join(cacheDir, "commands"), hex.EncodeToString(key[:16]),
		func(ctx context.Context, dir string) error {
			log.Info("building console commands", "count", len(commands))
			return BuildCommands(ctx, commands, filepath.Join(dir, "bb"))
		})
	return filepath.Join(dir, "bb"), err
}

// goEnv asks the toolchain where it is: our own binary, built with -trimpath, does not know.
func goEnv(ctx context.Context) (map[string]string, error) {
	names := []string{"GOROOT", "GOMOD", "GOVERSION"}
	out, err := buildcache.Tool{Name: "go", Package: "golang-go", Args: append([]string{"env"}, names...)}.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("build console commands: give a prebuilt binary of them, or the Go toolchain: %w", err)
	}
	env := map[string]string{}
	for i, value := range strings.Split(strings.TrimRight(out, "\n"), "\n") {
		if i < len(names) {
			env[names[i]] = value
		}
	}
	if mod := env["GOMOD"]; mod == "" || mod == os.DevNull {
		return nil, errors.New("build console commands: not inside a Go module: " +
			"run in a checkout of ferrite, or give a prebuilt binary of them")
	}
	return env, nil
}
