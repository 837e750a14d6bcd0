//go:build dhcpbench

package dhcpbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The link. The pool has room for all clients of a run; half of it is for clients that are not enrolled.
const (
	ours, theirs = "10.0.0.2", "10.0.0.1" // the relay's and the server's
	prefix       = "/12"
	first, last  = "10.1.0.0", "10.14.255.255"
	linkOurs     = "ours"
	linkTheirs   = "theirs"
)

// server is a DHCP server to be measured.
type server struct {
	name string
	// command writes the server's files into a folder, and returns its command line.
	command func(ctx context.Context, dir string) ([]string, error)
}

// ferrite is the conductor, with as many enrolled machines.
func ferrite(name, program string, enrolled int) server {
	return server{name: name, command: func(ctx context.Context, dir string) ([]string, error) {
		if enrolled > 0 {
			if err := enroll(ctx, filepath.Join(dir, "data"), enrolled); err != nil {
				return nil, err
			}
		}
		for _, file := range []string{"kernel", "initrd"} { // placeholders: no client fetches them
			if err := os.WriteFile(filepath.Join(dir, file), []byte(file), 0o600); err != nil {
				return nil, err
			}
		}
		program, err := filepath.Abs(program)
		return []string{program, "serve", "--data-dir", filepath.Join(dir, "data"), "--init",
			"--api-address", theirs + ":6385", "--auth", "none", "--allow-anybody", "--boot", "--boot-interface", linkTheirs,
			"--boot-address", theirs + prefix,
			"--boot-pool", first + "-" + last, "--ramdisk-kernel", filepath.Join(dir, "kernel"),
			"--ramdisk-initrd", filepath.Join(dir, "initrd"), "--discovery", "redfish"}, err
	}}
}

const keaConf = `{"Dhcp4": {"interfaces-config": {"interfaces": ["` + linkTheirs + `"]},
"lease-database": {"type": "memfile", "persist": true, "name": "%[1]s/leases.csv", "lfc-interval": 0},
"valid-lifetime": 3600, "subnet4": [{"subnet": "10.0.0.0` + prefix + `", "pools": [{"pool": "` + first + " - " + last + `"}]}],
"loggers": [{"name": "kea-dhcp4", "severity": "ERROR", "output_options": [{"output": "%[1]s/log"}]}]}}`

func kea() server {
	return server{name: "kea", command: func(_ context.Context, dir string) ([]string, error) {
		conf := filepath.Join(dir, "kea.conf")
		return []string{"env", "KEA_PIDFILE_DIR=" + dir, "KEA_LOCKFILE_DIR=" + dir, "kea-dhcp4", "-c", conf},
			os.WriteFile(conf, fmt.Appendf(nil, keaConf, dir), 0o600)
	}}
}

// start starts a server in a network namespace of its own, with a link to this one.
func (s server) start(ctx context.Context, dir string) (*running, error) {
	words, err := s.command(ctx, dir)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		return nil, err
	}
	// It waits until the link is there, and runs: Kea opens no socket on another one.
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", "read go && ip link set lo up && ip addr add " + theirs +
		prefix + " dev " + linkTheirs + " && ip link set " + linkTheirs + " up && until ip link show " + linkTheirs +
		` | grep -q "state UP"; do sleep 0.1; done && exec "$@"`, "sh"}, words...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	cmd.Stdout, cmd.Stderr = log, log
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end := func() {
		_ = cmd.Process.Kill() // the folder goes too
		_ = cmd.Wait()
		_ = log.Close()
		_ = ip(context.WithoutCancel(ctx), "link del "+linkOurs) // it went with the other end, perhaps
	}
	for _, args := range []string{"link set lo up", "link add " + linkOurs + " type veth peer " + linkTheirs + " netns " +
		strconv.Itoa(cmd.Process.Pid), "addr add " + ours + prefix + " dev " + linkOurs, "link set " + linkOurs + " up"} {
		if err := ip(ctx, args); err != nil {
			end()
			return nil, err
		}
	}
	if _, err := in.Write([]byte("go\n")); err != nil {
		end()
		return nil, err
	}
	return &running{pid: cmd.Process.Pid, end: func() {
		text, _ := os.ReadFile(log.Name()) // for people
		end()
		if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); os.Getenv("DHCPBENCH_LOG") != "" {
			fmt.Fprintln(os.Stderr, strings.Join(lines[max(0, len(lines)-20):], "\n"))
		}
	}}, nil
}

// running is a server's process, which replaced the shell that waited for its link.
type running struct {
	pid int
	end func()
}

// cpu is the time that the process had on processors, of its own and in the kernel: proc(5), fields 14 and 15 of stat.
func (r *running) cpu() (all time.Duration, err error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(r.pid), "stat"))
	if err != nil {
		return 0, err
	}
	const user, system, tick = 11, 12, 10 * time.Millisecond // behind the name, which may hold anything
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+2:]))
	for _, i := range []int{user, system} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0, err
		}
		all += time.Duration(n) * tick
	}
	return all, nil
}

func ip(ctx context.Context, args string) error {
	out, err := exec.CommandContext(ctx, "ip", strings.Fields(args)...).CombinedOutput()
	if err != nil {
		return errors.Join(fmt.Errorf("ip %s: %s", args, strings.TrimSpace(string(out))), err)
	}
	return nil
}
