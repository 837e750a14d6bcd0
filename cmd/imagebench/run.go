package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

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
	go server.Serve(l)   //nolint:errcheck // it ends with Close
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
