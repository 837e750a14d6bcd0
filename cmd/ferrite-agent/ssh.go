package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/ferrite-metal/ferrite/agent/boot"
	"github.com/ferrite-metal/ferrite/agent/rescue"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/images/ramdisk/sshkeys"
)

// sshPort is the port for operators, and for the rescue user.
const sshPort = ":22"

// sshKeys is the file of the ramdisk with the public keys that log in while the agent runs.
const sshKeys = "/etc/ferrite/ssh-keys"

// letOperatorsIn starts the SSH server for the keys that the ramdisk was built with, if there are any. The returned
// function ends it with all its sessions: a machine in rescue is its lessee's.
func letOperatorsIn(ctx context.Context, kernel sys.Linux, reaper *boot.Reaper, log *slog.Logger) (end func()) {
	text, err := os.ReadFile(sshKeys)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	o := rescue.Options{Kernel: kernel, Programs: reaper, Log: log}
	if err == nil {
		o.Keys, err = sshkeys.Parse(text)
	}
	var ended <-chan struct{}
	if err == nil {
		ended, err = serveSSH(ctx, o, rescue.Operator)
	}
	if err != nil {
		log.Error("operators cannot log in by ssh", "keys", sshKeys, "err", err)
		cancel()
		return func() {}
	}
	return func() {
		cancel()
		<-ended
	}
}

// letIn starts the SSH server of a machine in rescue.
func letIn(ctx context.Context, kernel sys.Linux, reaper *boot.Reaper, p rescue.Password, log *slog.Logger) error {
	_, err := serveSSH(ctx, rescue.Options{Password: p, Kernel: kernel, Programs: reaper, Log: log}, rescue.User)
	return err
}

// serveSSH answers until ctx ends; then the channel is closed.
func serveSSH(ctx context.Context, o rescue.Options, user string) (<-chan struct{}, error) {
	o.Shell, o.Env = boot.FindShell(), boot.Environment()
	if o.Shell == "" {
		return nil, errors.New("this ramdisk has no shell to log in to; build it with console commands")
	}
	s, err := rescue.Listen(ctx, sshPort, o)
	if err != nil {
		return nil, err
	}
	o.Log.Info("ssh is open", "user", user, "address", s.Address().String(), "host_key", s.Fingerprint())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Serve(ctx); ctx.Err() == nil {
			o.Log.Error("ssh ended", "err", err)
		}
	}()
	return ended, nil
}
