package network

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Sweep lists the remains of the lab called id: its namespace's name, its mount, and processes still inside. Without
// remains it returns an empty list.
func Sweep(id string) ([]string, error) {
	plan, err := NewPlan(id)
	if err != nil {
		return nil, err
	}
	path := netnsPath(plan.Namespace)
	var left []string
	var stat unix.Stat_t
	switch err := unix.Stat(path, &stat); {
	case err == nil:
		left = append(left, "namespace "+path)
		inside, err := processesIn(stat)
		if err != nil {
			return nil, err
		}
		left = append(left, inside...)
	case !errors.Is(err, unix.ENOENT):
		return nil, fmt.Errorf("sweep %s: %w", path, err)
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("sweep %s: %w", path, err)
	}
	for _, target := range mountTargets(string(table)) {
		if target == path {
			left = append(left, "mount "+path)
		}
	}
	return left, nil
}

// mountTargets reads the mount points, the fifth field of each line, from the
// text of /proc/PID/mountinfo (proc(5)).
func mountTargets(mountinfo string) []string {
	var targets []string
	for line := range strings.Lines(mountinfo) {
		if fields := strings.Fields(line); len(fields) > 4 {
			targets = append(targets, fields[4])
		}
	}
	return targets
}

// processesIn lists the processes in the given network namespace.
func processesIn(namespace unix.Stat_t) ([]string, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []string
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		var stat unix.Stat_t
		if err := unix.Stat(filepath.Join("/proc", entry.Name(), "ns/net"), &stat); err != nil {
			continue // ended while we looked, or a kernel thread
		}
		if stat.Dev == namespace.Dev && stat.Ino == namespace.Ino {
			name, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "comm"))
			if err != nil {
				continue // ended just now
			}
			found = append(found, fmt.Sprintf("process %d (%s)", pid, strings.TrimSpace(string(name))))
		}
	}
	return found, nil
}
