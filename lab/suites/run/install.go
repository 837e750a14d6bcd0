package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/lab/progress"
	"github.com/ferrite-metal/ferrite/lab/suites"
)

// policy forbids Debian to start the servers that it installs (invoke-rc.d(8)): PostgreSQL, Prometheus, DHCP, Ironic.
const policy = "/usr/sbin/policy-rc.d"

// install installs the packages that are missing, as root.
func install(ctx context.Context, name string) error {
	packages, err := suites.Packages(name)
	if err != nil {
		return err
	}
	query := append([]string{"-W", "-f", "${Package} ${Status}\n"}, packages...)
	known, _ := exec.CommandContext(ctx, "dpkg-query", query...).Output() // it fails where it does not know one
	lines := strings.Split(string(known), "\n")
	missing := slices.DeleteFunc(packages, func(p string) bool {
		return slices.Contains(lines, p+" install ok installed")
	})
	if len(missing) == 0 {
		return nil
	}
	names := strings.Join(missing, " ")
	if os.Geteuid() != 0 {
		return fmt.Errorf("these packages are missing, and only root can install them: %s", names)
	}
	f, err := os.OpenFile(policy, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	switch {
	case errors.Is(err, fs.ErrExist): // the site's own
	case err != nil:
		return err
	default:
		defer func() { _ = os.Remove(policy) }()
		_, err := f.WriteString("#!/bin/sh\nexit 101\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	fmt.Println("installing:", names)
	const apt = "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "
	return progress.Run(ctx, "apt", true, "sh", "-c", apt+names)
}
