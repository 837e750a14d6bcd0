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
	if err := o.check(); err != nil {
		return err
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
		if err := b.image(ctx, im); err != nil {
			return fmt.Errorf("%s: %w", im.format, err)
		}
	}
	return nil
}

// check refuses options that would measure nothing.
func (o options) check() error {
	if o.size <= 0 || o.rate <= 0 || o.rounds <= 0 {
		return fmt.Errorf("-size %d, -rate %d, -rounds %d: say 1 or more for each", o.size>>20, o.rate/1e6, o.rounds)
	}
	known := []string{""}
	for _, f := range forms() {
		known = append(known, f.format)
	}
	if !slices.Contains(known, o.only) {
		return fmt.Errorf("-only %q: expected one of %v", o.only, known[1:])
	}
	return nil
}

// median of a list that is not empty.
func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
