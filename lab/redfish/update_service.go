package redfish

import (
	"context"
	"net/http"
	"slices"
)

const (
	inventoryPath      = updatePath + "/FirmwareInventory"
	simpleUpdateAction = "/Actions/UpdateService.SimpleUpdate"
)

// transferProtocols are the protocols in the document of the service.
func transferProtocols() []string { return []string{"HTTP", "HTTPS"} }

// updateRequest is the body of SimpleUpdate. Without Targets the image names its component.
type updateRequest struct {
	ImageURI         string
	TransferProtocol string   `json:",omitempty"`
	Targets          []string `json:",omitempty"`
	Username         string   `json:",omitempty"`
	Password         string   `json:",omitempty"`
}

// simpleUpdate makes a task that fetches the image, reads it and flashes it.
func (s *Server) simpleUpdate(r *http.Request) (reply, error) {
	const name = "UpdateService.SimpleUpdate"
	var q updateRequest
	if err := decode(r, &q); err != nil {
		return reply{}, err
	}
	if q.ImageURI == "" {
		return reply{}, problem(parameterMissing, name, "ImageURI").about("#/ImageURI")
	}
	if q.TransferProtocol != "" && !slices.Contains(transferProtocols(), q.TransferProtocol) {
		return reply{}, problem(parameterNotInList, q.TransferProtocol, "TransferProtocol", name).about("#/TransferProtocol")
	}
	for _, target := range q.Targets {
		if target != inventoryPath+"/BIOS" && target != inventoryPath+"/BMC" {
			return reply{}, problem(parameterNotInList, target, "Targets", name).about("#/Targets")
		}
	}
	user, password := q.Username, q.Password
	q.Username, q.Password = "", "" // a task shows its request to everybody
	request, err := requested(r, q)
	if err != nil {
		return reply{}, err
	}
	if err := s.firmware.occupy(); err != nil {
		return reply{}, err
	}
	var image firmwareImage
	return s.accept(work{
		name: "Update Firmware", request: request,
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
