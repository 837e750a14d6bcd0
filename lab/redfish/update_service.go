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

// updateService is UpdateService.v1_11_0.
type updateService struct {
	common
	ServiceEnabled    bool
	Status            status
	FirmwareInventory link
	Actions           updateActions
}

type updateActions struct {
	SimpleUpdate simpleUpdateBody `json:"#UpdateService.SimpleUpdate"`
}

type simpleUpdateBody struct {
	Target string   `json:"target"`
	OneOf  []string `json:"TransferProtocol@Redfish.AllowableValues"`
}

func transferProtocols() []string { return []string{"HTTP", "HTTPS"} }

func (s *Server) getUpdateService(*http.Request) (reply, error) {
	return ok(updateService{
		common:         head(updatePath, "UpdateService.v1_11_0.UpdateService", "Update Service"),
		ServiceEnabled: true, Status: enabled(), FirmwareInventory: link{inventoryPath},
		Actions: updateActions{simpleUpdateBody{updatePath + simpleUpdateAction, transferProtocols()}},
	})
}

// softwareInventory is SoftwareInventory.v1_7_0.
type softwareInventory struct {
	common
	SoftwareID string `json:"SoftwareId"`
	Version    string
	Updateable bool
	Status     status
}

func (s *Server) getFirmware(c component) handler {
	return func(r *http.Request) (reply, error) {
		return ok(softwareInventory{
			common:     head(inventoryPath+"/"+string(c), "SoftwareInventory.v1_7_0.SoftwareInventory", string(c)+" Firmware"),
			SoftwareID: "lab-" + string(c), Version: s.firmwareVersion(c), Updateable: true, Status: enabled(),
		})
	}
}

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
