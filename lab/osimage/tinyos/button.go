package main

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Linux's input_event: a 16-byte time, then type, code and value (input-event-codes.h).
const (
	eventSize = 24
	eventKey  = 1
	keyPower  = 116
)

// watchPowerButton powers off when the ACPI power button is pressed, which is how a BMC
// asks for a graceful shutdown.
func watchPowerButton() {
	pressed := make(chan struct{}, 1)
	watched := map[string]bool{}
	for {
		devices, err := filepath.Glob("/dev/input/event*")
		if err != nil {
			say("power button: %v", err)
		}
		for _, path := range devices {
			if !watched[path] {
				watched[path] = true
				go watchDevice(path, pressed)
			}
		}
		select {
		case <-pressed:
			say("power button: powering off")
			unix.Sync()
			if err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF); err != nil {
				say("power off: %v", err)
			}
		case <-time.After(time.Second):
		}
	}
}

func watchDevice(path string, pressed chan<- struct{}) {
	f, err := os.Open(path)
	if err != nil {
		say("power button: %v", err)
		return
	}
	defer f.Close()
	if err := waitForPower(f); err != nil {
		if !errors.Is(err, io.EOF) {
			say("power button: %v", err)
		}
		return
	}
	pressed <- struct{}{}
}

// waitForPower reads input events until the power key goes down.
func waitForPower(r io.Reader) error {
	event := make([]byte, eventSize)
	for {
		if _, err := io.ReadFull(r, event); err != nil {
			return err
		}
		kind, code := binary.LittleEndian.Uint16(event[16:]), binary.LittleEndian.Uint16(event[18:])
		if kind == eventKey && code == keyPower && binary.LittleEndian.Uint32(event[20:]) == 1 {
			return nil
		}
	}
}
