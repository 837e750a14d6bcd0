package redfish

import (
	"net/http"
)

const adaptersPath = chassisPath + "/NetworkAdapters"

// adapterFirmware is the boot ROM that every card carries.
const adapterFirmware = "iPXE 1.0"

// networkAdapter is NetworkAdapter.v1_9_0: each card has one chip.
type networkAdapter struct {
	common
	Manufacturer string
	Model        string
	SerialNumber string
	Status       status
	Controllers  []networkController
}

type networkController struct {
	FirmwarePackageVersion string
}

func (s *Server) getAdapters(r *http.Request) (reply, error) {
	return collection("NetworkAdapter", "Network Adapters", numbered(adaptersPath, len(s.machine.Spec().NICs))...)(r)
}

func (s *Server) getAdapter(r *http.Request) (reply, error) {
	nics := s.machine.Spec().NICs
	i, err := member(r, len(nics))
	if err != nil {
		return reply{}, err
	}
	return ok(networkAdapter{
		common:       head(r.URL.Path, "NetworkAdapter.v1_9_0.NetworkAdapter", "Network Adapter"),
		Manufacturer: "QEMU", Model: nics[i].Model, SerialNumber: nics[i].MAC, Status: enabled(),
		Controllers: []networkController{{adapterFirmware}},
	})
}
