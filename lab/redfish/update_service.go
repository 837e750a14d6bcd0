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
	var image firmwareImage
	return s.accept(work{
		name: "Update Firmware", request: requested(r, q),
		prepare: func(ctx context.Context) (err error) {
			image, err = s.fetchFirmware(ctx, q, user, password)
			return err
		},
		finish: func() error {
			s.firmware.flash(image)
			if image.Component == bmcFirmware {
				s.restart()
			}
			return nil
		},
		cancel: s.firmware.vacate,
	})
}
