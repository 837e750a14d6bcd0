package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// figures of a command that has run.
type figures struct {
	wall, cpu float64 // seconds
	out       []byte
}

// measured runs a command, in the throttled group when group names one.
func measured(ctx context.Context, group string, args ...string) (figures, error) {
	if group != "" {
		args = append([]string{"sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, group}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return figures{}, fmt.Errorf("%v: %w: %s", args, err, complaints.Bytes())
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return figures{time.Since(start).Seconds(), used.Seconds(), out.Bytes()}, nil
}

// bench is what images are measured on.
type bench struct {
	options
	dev  *device
	slow *throttle
	url  string
	shm  string
}

// image measures one image and prints its line.
func (b *bench) image(ctx context.Context, im image) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ours := []string{self, childMode, b.url + "/" + filepath.Base(im.path), b.dev.path, im.sum}
	var slow, dds, fast, cpu, qemu, qemuCPU []float64
	var r report
	var peak int64
	for range b.rounds {
		f, err := measured(ctx, b.slow.dir, ours...)
		if err == nil {
			r, err = parseReport(f.out)
		}
		if err != nil {
			return err
		}
		peak = max(peak, r.Peak)
		slow = append(slow, r.Seconds)
		if f, err = measured(ctx, b.slow.dir, dd(b.dev.path, r.Written)...); err != nil {
			return err
		}
		dds = append(dds, f.wall)
		if f, err = measured(ctx, "", ours...); err == nil {
			r, err = parseReport(f.out)
		}
		if err != nil {
			return err
		}
		fast, cpu, peak = append(fast, r.Seconds), append(cpu, f.cpu), max(peak, r.Peak)
		if im.qemu {
			if f, err = b.viaQemu(ctx, im); err != nil {
				return err
			}
			qemu, qemuCPU = append(qemu, f.wall), append(qemuCPU, f.cpu)
		}
	}
	gib := float64(b.size) / (1 << 30)
	fmt.Printf("bench: image %-10s at %d MB/s: %.2f s for %d MB, dd %.2f s, ratio %.2f; unthrottled %.2f s, %.2f CPU s/GiB; peak %d MiB",
		im.format, b.rate/1e6, median(slow), r.Written/1e6, median(dds), median(dds)/median(slow), median(fast), median(cpu)/gib, peak>>20)
	if im.qemu {
		fmt.Printf("; curl and qemu-img %.2f s, %.2f CPU s/GiB, ratio %.2f", median(qemu), median(qemuCPU)/gib, median(qemu)/median(fast))
	}
	fmt.Println()
	return nil
}

// viaQemu is what one does without us: download into memory, then convert.
func (b *bench) viaQemu(ctx context.Context, im image) (figures, error) {
	file := filepath.Join(b.shm, "image")
	defer os.Remove(file) //nolint:errcheck // the folder goes at the end
	got, err := measured(ctx, "", "curl", "-sSf", "-o", file, b.url+"/"+filepath.Base(im.path))
	if err != nil {
		return got, err
	}
	format := "qcow2"
	if im.format == "raw" {
		format = "raw"
	}
	done, err := measured(ctx, "", "qemu-img", "convert", "-m", "8", "-t", "none", "-n", "-f", format, "-O", "raw", file, b.dev.path)
	return figures{wall: got.wall + done.wall, cpu: got.cpu + done.cpu}, err
}
