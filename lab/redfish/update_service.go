package redfish

import (
	"cmp"
	"context"
	"net/http"
)

const (
	inventoryPath      = updatePath + "/FirmwareInventory"
	simpleUpdateAction = "/Actions/UpdateService.SimpleUpdate"
)

// updateRequest is the body of SimpleUpdate. Without Targets the image names its component.
type updateRequest struct {
	ImageURI         string
	TransferProtocol string   `json:",omitempty"`
	Targets          []string `json:",omitempty"`
	Username         string   `json:",omitempty"`
	Password         string   `json:",omitempty"`
}

// simpleUpdate makes a task that fetches the image, reads it and flashes it.
func (s *Server) simpleUpdate(r *http.Request, q updateRequest) (reply, error) {
	const name = "UpdateService.SimpleUpdate"
	if q.ImageURI == "" {
		return reply{}, problem(parameterMissing, name, "ImageURI").about("#/ImageURI")
	}
	if err := oneOf(name, "TransferProtocol", cmp.Or(q.TransferProtocol, "HTTP"), "HTTP", "HTTPS"); err != nil {
		return reply{}, err
	}
	for _, target := range q.Targets {
		if err := oneOf(name, "Targets", target, inventoryPath+"/BIOS", inventoryPath+"/BMC"); err != nil {
			return reply{}, err
		}
	}
	user, password := q.Username, q.Password
	q.Username, q.Password = "", "" // a task shows its request to everybody
	if err := s.firmware.occupy(); err != nil {
		return reply{}, err
	}
	return s.accept(s.updateWork(r, q, user, password))
}

// updateWork is the work of an update, and the faults that it may meet.
func (s *Server) updateWork(r *http.Request, q updateRequest, user, password string) work {
	var image firmwareImage
	var starting, gone, staged bool
	struck := func(kind FaultKind) bool { _, hit := s.faults.strikes(kind); return hit }
	return work{
		name: "Update Firmware", request: requested(r, q),
		prepare: func(ctx context.Context) (err error) {
			image, err = s.fetchFirmware(ctx, q, user, password)
			return err
		},
		held: func() (state taskState) {
			switch {
			case struck(UpdateStaysNew):
				state = taskNew
			case struck(UpdateStaysStarting):
				state = taskStarting
			}
			starting = state != ""
			return state
		},
		finish: func() error {
			interrupted := struck(UpdateInterrupted)
			if gone = interrupted || struck(UpdateLost); gone {
				s.firmware.vacate()
			} else {
				s.firmware.flash(image, starting)
				staged = struck(UpdateForgotten)
			}
			if interrupted || !gone && image.Component == bmcFirmware {
				s.restart()
			}
			return nil
		},
		gone: func(id string) bool {
			if staged {
				s.firmware.schedule(id)
			}
			return gone || staged
		},
		cancel: s.firmware.vacate,
	}
}
