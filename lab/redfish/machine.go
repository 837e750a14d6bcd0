package redfish

import (
	"context"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// Machine is the hardware behind the controller. *qemu.Machine is one.
type Machine interface {
	Spec() qemu.Spec
	Power() qemu.Power
	// Reset presses a button; qemu.ErrPoweredOff when that needs power.
	Reset(ctx context.Context, kind qemu.ResetType) error
	Booter
	Tray
}

// Booter holds the settings of the next start.
type Booter interface {
	Boot() qemu.Boot
	SetBoot(qemu.Boot) error
}

// Tray is the virtual CD drive, which reads the image at an http(s) URL by itself. A user and a
// password are in the URL.
type Tray interface {
	InsertMedia(ctx context.Context, image string) error
	EjectMedia(ctx context.Context) error
}
