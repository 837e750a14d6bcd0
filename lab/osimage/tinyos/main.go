// Command tinyos is the only program of the lab's tiny operating system, started by the
// kernel as /init. It shows that a deployed disk boots and that its config drive
// arrived: it takes hostname and user data from there, says so on the console, phones
// home as cloud-init's phone_home module does, telling also which meta data and network
// data it has found, and powers off at the press of the power button. It must not write
// to any disk, and its network is DHCP's, whatever the network data say.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// diskWait is how long the first disk may take to appear, as those behind USB do, and
	// driveWait how long a config drive may from then on, before we go on without one.
	diskWait  = 60 * time.Second
	driveWait = 5 * time.Second
	// phoneWait is how long phoning home is tried, the network's start included.
	phoneWait = 60 * time.Second
)

func main() {
	if err := run(); err != nil {
		say("%v", err)
	}
	// The kernel panics when its first process ends.
	for {
		time.Sleep(time.Hour)
	}
}

func run() error {
	if os.Getpid() != 1 {
		return errors.New("this program is an operating system's /init: it only runs as process 1")
	}
	if err := mountBasics(); err != nil {
		return err
	}
	for _, err := range loadModules("/lib/modules") {
		say("%v", err)
	}
	go watchPowerButton()
	network := make(chan error, 1)
	go func() { network <- configureNetwork() }()

	drive, err := findDrive()
	if err != nil {
		say("%v", err)
	}
	host := drive.shortName()
	if err := unix.Sethostname([]byte(host)); err != nil {
		say("set hostname %q: %v", host, err)
	}
	say("up hostname=%s user_data=%s", host, firstLine(drive.UserData))
	report, err := newReport(drive, bootMode(), imageID())
	if err != nil {
		return err
	}
	if report.URL == "" {
		say("no phone_home in user_data")
		return <-network
	}
	if err := <-network; err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), phoneWait)
	defer cancel()
	if err := report.send(ctx); err != nil {
		return err
	}
	say("phoned home to %s", report.URL)
	return nil
}

// say prints one line on the console. Serial consoles want a carriage return, which the
// terminal adds.
func say(format string, args ...any) {
	fmt.Printf("tinyos: "+format+"\n", args...)
}

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return strings.TrimSpace(string(line))
}

// imageID is what the image's builder baked in.
func imageID() string {
	id, err := os.ReadFile("/etc/image-id")
	if err != nil {
		say("%v", err)
	}
	return strings.TrimSpace(string(id))
}

func bootMode() string {
	if _, err := os.Stat("/sys/firmware/efi"); err == nil {
		return "uefi"
	}
	return "bios"
}
