// Command imagebench measures how images get onto a disk: an image of each
// format is downloaded over loopback HTTP and written onto a loop device by a
// process of its own, as the agent does it. Beside it, in the same round, stand
// what dd writes of the same bytes onto the same throttled device, and what
// curl and qemu-img convert take for the same image. It needs root, for loop
// devices and the kernel's throttle, and leaves neither behind.
//
// It must not know of nodes, steps or protocols: it compares one function,
// images/disk.Write, with other people's programs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// options is what the command line says.
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
	flag.StringVar(&o.only, "only", "", "measure this format alone")
	flag.Parse()
	o.size, o.rate = o.size<<20, o.rate*1e6
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "imagebench:", err)
		os.Exit(1)
	}
}

// run makes the bench, measures, and takes it down again.
func run(ctx context.Context, o options) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("loop devices need root: run it as root")
	}
	if o.dir, err = os.MkdirTemp(o.dir, "imagebench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	shm, err := os.MkdirTemp("/dev/shm", "imagebench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(shm)) }()
	images, err := makeImages(ctx, o)
	if err != nil {
		return err
	}
	dev, err := newDevice(ctx, filepath.Join(o.dir, "disk"), o.size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.close()) }()
	slow, err := newThrottle(dev.path, o.rate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, slow.close()) }()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(o.dir)), ReadHeaderTimeout: time.Minute}
	go server.Serve(l) //nolint:errcheck // it ends with Close
	defer server.Close() //nolint:errcheck // the bench is over
	b := &bench{options: o, dev: dev, slow: slow, url: "http://" + l.Addr().String(), shm: shm}
	for _, im := range images {
		if o.only == "" || o.only == im.format {
			if err := b.image(ctx, im); err != nil {
				return fmt.Errorf("%s: %w", im.format, err)
			}
		}
	}
	return nil
}

// median of a list that is not empty.
func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
