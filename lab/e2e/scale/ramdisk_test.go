//go:build e2e

package scale

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/lab/agenttest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// ramdisks are the agents of all machines.
type ramdisks struct {
	*callers
	mu  sync.Mutex
	all map[int]*agenttest.Machine
}

// at is the agent of the nth machine.
func (r *ramdisks) at(nth int) *agenttest.Machine {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.all[nth]
	if m == nil {
		m = agenttest.New(agenttest.Config{
			Call: func(method, path string, body, answer any) (int, error) {
				return r.call(nth, method, path, body, answer)
			},
			MAC: macOf(nth), URL: callbackOf(nth), Boot: 2 * time.Second, Step: 500 * time.Millisecond, Beat: 100 * time.Second,
		})
		r.all[nth] = m
	}
	return m
}

// pushed boots a machine, or takes its power away.
func (r *ramdisks) pushed(nth int, on bool) { r.at(nth).Power(on) }

// ServeHTTP answers as the agent that was called.
func (r *ramdisks) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.at(numberOf(agentNet, calledAt(q))).ServeHTTP(w, q)
}

// inspectionOf is the inspection data of an unknown machine's ramdisk.
func inspectionOf(nth int) agentapi.Inspection {
	disk := func(name string) agentapi.Disk {
		return agentapi.Disk{Name: "/dev/" + name, Model: "SAMSUNG MZQL21T9HCJR", Size: 1920383410176,
			Serial: fmt.Sprintf("S64GNE0R%06d%s", nth, name)}
	}
	nic := func(name string, mac string) agentapi.Interface {
		return agentapi.Interface{Name: name, MACAddress: mac, HasCarrier: true, Vendor: "0x8086", Product: "0x1593"}
	}
	i := agentapi.Inspection{BootInterface: macOf(nth), SystemUUID: uuidOf(nth), Inventory: agentapi.Inventory{
		Interfaces: []agentapi.Interface{
			nic("eth0", macOf(nth)), nic("eth1", macOf(nth+1<<24)), nic("eth2", macOf(nth+2<<24)),
		},
		Disks:  []agentapi.Disk{disk("nvme0n1"), disk("nvme1n1"), disk("nvme2n1"), disk("nvme3n1")},
		CPU:    agentapi.CPU{ModelName: "Intel(R) Xeon(R) Gold 6430", Frequency: "3400", Count: 64, Architecture: "x86_64"},
		Memory: agentapi.Memory{PhysicalMB: 524288},
	}}
	i.Inventory.SystemVendor.Manufacturer, i.Inventory.SystemVendor.ProductName = "Dell Inc.", "PowerEdge R760"
	i.Inventory.SystemVendor.SerialNumber = fmt.Sprintf("SN%08d", nth)
	i.Inventory.Boot.CurrentBootMode = "uefi"
	return i
}
