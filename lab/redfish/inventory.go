package redfish

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// processorModel is the name that qemu64 reports.
const processorModel = "QEMU Virtual CPU"

// processor is Processor.v1_16_0.
type processor struct {
	common
	ProcessorType         string
	ProcessorArchitecture string
	InstructionSet        string
	Manufacturer          string
	Model                 string
	TotalCores            int
	TotalThreads          int
	Status                status
}

func (s *Server) getProcessor(*http.Request) (reply, error) {
	cpus := s.machine.Spec().CPUs
	return ok(processor{
		common:        head(systemPath+"/Processors/1", "Processor.v1_16_0.Processor", "Processor"),
		ProcessorType: "CPU", ProcessorArchitecture: "x86", InstructionSet: "x86-64",
		Manufacturer: "QEMU", Model: processorModel,
		TotalCores: cpus, TotalThreads: cpus, Status: enabled(),
	})
}

// memory is Memory.v1_16_0.
type memory struct {
	common
	MemoryType  string
	CapacityMiB int
	Status      status
}

func (s *Server) getMemory(*http.Request) (reply, error) {
	return ok(memory{
		common:     head(systemPath+"/Memory/1", "Memory.v1_16_0.Memory", "Memory"),
		MemoryType: "DRAM", CapacityMiB: s.machine.Spec().MemoryMB, Status: enabled(),
	})
}

// ethernetInterface is EthernetInterface.v1_8_0.
type ethernetInterface struct {
	common
	MACAddress          string
	PermanentMACAddress string
	InterfaceEnabled    bool
	LinkStatus          string
	Status              status
}

func (s *Server) getInterfaces(r *http.Request) (reply, error) {
	return collection("EthernetInterface", "Ethernet Interfaces", numbered(r.URL.Path, len(s.machine.Spec().NICs))...)(r)
}

func (s *Server) getInterface(r *http.Request) (reply, error) {
	nics := s.machine.Spec().NICs
	i, err := member(r, len(nics))
	if err != nil {
		return reply{}, err
	}
	linkStatus := "LinkDown"
	if nics[i].Linked() && s.machine.Power() == qemu.On {
		linkStatus = "LinkUp"
	}
	return ok(ethernetInterface{
		common:     head(r.URL.Path, "EthernetInterface.v1_8_0.EthernetInterface", "Ethernet Interface"),
		MACAddress: nics[i].MAC, PermanentMACAddress: nics[i].MAC,
		InterfaceEnabled: true, LinkStatus: linkStatus, Status: enabled(),
	})
}

// numbered are the paths of n members below a collection, counted from 1.
func numbered(path string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s/%d", path, i+1)
	}
	return list
}

// member is the index of the member a request asks for, out of n.
func member(r *http.Request, n int) (int, error) {
	i, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || i < 1 || i > n {
		return 0, problem(resourceMissing, r.URL.Path)
	}
	return i - 1, nil
}
