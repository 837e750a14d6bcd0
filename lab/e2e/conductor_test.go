package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// idleTime is how long a conductor idles before its memory is read.
const idleTime = 3 * time.Second

// benchConductor measures a conductor by itself: the time until it answers, and its memory when idle. It starts five of
// them.
func (s *shared) benchConductor(ctx context.Context) error {
	var ready []time.Duration
	var rss float64
	for range 5 {
		r, mib, err := s.oneConductor(ctx)
		if err != nil {
			return fmt.Errorf("conductor: %w", err)
		}
		ready, rss = append(ready, r), max(rss, mib)
	}
	slices.Sort(ready)
	fmt.Printf("bench: conductor ready in %.3f s (median of 5, slowest %.3f s), %.1f MiB resident idle\n",
		ready[2].Seconds(), ready[4].Seconds(), rss)
	return nil
}

func (s *shared) oneConductor(ctx context.Context) (ready time.Duration, mib float64, err error) {
	start := time.Now()
	err = s.conductor(ctx, nil, func(_ string, pid int) (err error) {
		ready = time.Since(start)
		time.Sleep(idleTime)
		mib, err = residentMiB(pid)
		return err
	})
	return ready, mib, err
}

// conductor starts a conductor with an empty database, or with the files that fill puts into its folder. It lets use
// have the conductor once it answers, and ends it.
func (s *shared) conductor(ctx context.Context, fill func(dir string) error,
	use func(address string, pid int) error, flags ...string) (err error) {
	dir, err := os.MkdirTemp(s.dir, "bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if fill != nil {
		if err := fill(dir); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "ferrite"), append([]string{"serve", "--init", "--data-dir", dir,
		"--api-address", addr, "--log-level", "error"}, flags...)...)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM), cmd.Wait())
	}()
	for time.Since(start) < 10*time.Second {
		res, err := http.Get("http://" + addr + "/v1")
		if err == nil {
			_ = res.Body.Close()
			return use(addr, cmd.Process.Pid)
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("not ready after 10 s")
}

// residentMiB reads VmRSS, which the kernel gives in KiB.
func residentMiB(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024, err
		}
	}
	return 0, errors.New("no VmRSS: the process has ended")
}
