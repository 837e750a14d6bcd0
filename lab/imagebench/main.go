// Command imagebench measures how images get onto a disk. A process of its own downloads an image of each format over
// loopback HTTP and writes it onto a loop device, as the agent does. In the same round, dd writes the same bytes onto
// the same throttled device. The usual programs write the same image, too: curl and qemu-img, or curl, zstd and dd in a
// pipe. It needs root, for loop devices and the kernel's throttle, and leaves neither behind.
//
// It must not know of nodes, steps or protocols: it compares one function,
// images/disk.Write, with other people's programs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// options holds the values of the command line.
type options struct {
	dir    string // of the device's file and the images
	size   int64  // of the disk in the image, bytes
	rate   int64  // of the throttled device, bytes a second
	rounds int
	only   string // format; empty: all
}

func main() {
	if len(os.Args) == 5 && os.Args[1] == childMode {
		if err := child(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, "imagebench:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	flag.StringVar(&o.dir, "dir", os.TempDir(), "folder for the device's file and the images, with 4 times the size free")
	flag.Int64Var(&o.size, "size", 2048, "size of the disk, MiB")
	flag.Int64Var(&o.rate, "rate", 400, "what the throttled device takes, MB/s")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each is measured; the median is printed")
	flag.StringVar(&o.only, "only", "", "measure this `format` alone: raw, qcow2, qcow2.zlib, qcow2.zstd, zst, gz or xz")
	flag.Parse()
	o.size, o.rate = o.size<<20, o.rate*1e6
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "imagebench:", err)
		os.Exit(1)
	}
}
