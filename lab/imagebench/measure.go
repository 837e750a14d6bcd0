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

// bench is the test bed of the measurements.
type bench struct {
	options
	dev  *device
	slow *throttle
	url  string
	shm  string
}

// series are the figures of one image, a figure a round.
type series struct {
	slow, dd          []float64 // throttled: seconds of ours, of dd for the same bytes
	fast, cpu         []float64 // unthrottled: seconds, CPU seconds
	theirs, theirsCPU []float64 // the same figures of the usual programs
	peak, written     int64     // bytes
}

// image measures one image and prints its line.
func (b *bench) image(ctx context.Context, im image) error {
	rounds := b.rounds
	if im.packed {
		rounds = 1
	}
	var s series
	for range rounds {
		if err := b.round(ctx, im, &s); err != nil {
			return err
		}
	}
	gib := float64(b.size) / (1 << 30)
	fmt.Printf("bench: image %-10s %d MB of data: %.2f s, %.2f CPU s/GiB of disk, peak %d MiB resident",
		im.format, s.written/1e6, median(s.fast), median(s.cpu)/gib, s.peak>>20)
	with := "qemu-img"
	if im.unpack != "" {
		with = im.unpack
	}
	fmt.Printf("; curl and %s %.2f s, %.2f CPU s/GiB, ratio %.2f", with, median(s.theirs), median(s.theirsCPU)/gib,
		median(s.theirs)/median(s.fast))
	if !im.packed {
		fmt.Printf("; at %d MB/s %.2f s, dd %.2f s, ratio %.2f", b.rate/1e6, median(s.slow), median(s.dd),
			median(s.dd)/median(s.slow))
	}
	fmt.Printf(" (of %d)\n", rounds)
	return nil
}

// round measures one image once: unthrottled beside other people's programs, throttled beside dd.
func (b *bench) round(ctx context.Context, im image, s *series) error {
	r, f, err := b.ours(ctx, "", im)
	if err != nil {
		return err
	}
	s.fast, s.cpu, s.written, s.peak = append(s.fast, r.Seconds), append(s.cpu, f.cpu), r.Written, max(s.peak, r.Peak)
	if im.unpack != "" {
		f, err = b.viaPipe(ctx, im)
	} else {
		f, err = b.viaQemu(ctx, im)
	}
	if err != nil {
		return err
	}
	s.theirs, s.theirsCPU = append(s.theirs, f.wall), append(s.theirsCPU, f.cpu)
	if im.packed {
		return nil
	}
	if r, _, err = b.ours(ctx, b.slow.dir, im); err != nil {
		return err
	}
	s.slow, s.peak = append(s.slow, r.Seconds), max(s.peak, r.Peak)
	if f, err = measured(ctx, b.slow.dir, dd(b.dev.path, r.Written)...); err != nil {
		return err
	}
	s.dd = append(s.dd, f.wall)
	return nil
}

// ours writes the image by a process of its own.
func (b *bench) ours(ctx context.Context, group string, im image) (report, figures, error) {
	self, err := os.Executable()
	if err != nil {
		return report{}, figures{}, err
	}
	f, err := measured(ctx, group, self, childMode, b.url+"/"+filepath.Base(im.path), b.dev.path, im.sum)
	if err != nil {
		return report{}, f, err
	}
	r, err := parseReport(f.out)
	return r, f, err
}

// viaPipe writes a compressed stream as people do without Ferrite: unpack it as it comes, onto the disk past the page
// cache. No program compares a checksum.
func (b *bench) viaPipe(ctx context.Context, im image) (figures, error) {
	pipe := `curl -sSf "$0" | ` + im.unpack + ` | dd of="$1" bs=4M iflag=fullblock oflag=direct status=none`
	return measured(ctx, "", "sh", "-c", pipe, b.url+"/"+filepath.Base(im.path), b.dev.path)
}

// viaQemu is the same for the formats that qemu-img reads: download into memory, then convert.
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
	done, err := measured(ctx, "", "qemu-img", "convert", "-m", "8", "-t", "none", "-n", "-f", format, "-O", "raw",
		file, b.dev.path)
	return figures{wall: got.wall + done.wall, cpu: got.cpu + done.cpu}, err
}
