package redfish_test

import (
	"crypto/tls"
	"io"
	"log"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// The files lab_*_test.go try the driver on the lab's controller; a board (board_test.go) has the oddities that the
// lab's controller lacks.

// Resources of the lab's controller.
const (
	systemPath        = "/redfish/v1/Systems/1"
	resetPath         = systemPath + "/Actions/ComputerSystem.Reset"
	biosSettingsPath  = systemPath + "/Bios/Settings"
	secureBootPath    = systemPath + "/SecureBoot"
	resetKeysPath     = secureBootPath + "/Actions/SecureBoot.ResetKeys"
	raidPath          = systemPath + "/Storage/RAID"
	volumesPath       = raidPath + "/Volumes"
	managerPath       = "/redfish/v1/Managers/1"
	cdPath            = managerPath + "/VirtualMedia/Cd"
	insertCDPath      = cdPath + "/Actions/VirtualMedia.InsertMedia"
	subscriptionsPath = "/redfish/v1/EventService/Subscriptions"
	tasksPath         = "/redfish/v1/TaskService"
	simpleUpdatePath  = "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate"
)

const (
	adapterFirmware = "iPXE 1.0" // of each network card of the lab
	mirrorRequest   = `{"RAIDType": "RAID1", "Name": "system", "Links": {"Drives": [{"@odata.id": "` + raidPath +
		`/Drives/1"}, {"@odata.id": "` + raidPath + `/Drives/2"}]}}`

	taskTime    = time.Second // that the controller takes for a task
	restartTime = time.Second // that the controller takes for its own restart
)

// bench is a controller on loopback with a fake machine behind it.
type bench struct {
	*lab.Server
	*redfishtest.Client
	machine *redfishtest.Machine
	clock   *redfishtest.Clock
}

func newBench(t *testing.T, edit ...func(*lab.Config)) *bench {
	t.Helper()
	return newBenchTLS(t, nil, edit...)
}

// newBenchTLS is newBench behind TLS, where conf is not nil.
func newBenchTLS(t *testing.T, conf *tls.Config, edit ...func(*lab.Config)) *bench {
	t.Helper()
	b := &bench{machine: redfishtest.NewMachineOf(redfishtest.SystemUUID), clock: redfishtest.NewClock()}
	c := lab.Config{
		Machine: b.machine, Username: redfishtest.User, Password: redfishtest.Password,
		MaxSessions: 2, SessionTimeout: time.Minute,
		RAID: lab.RAID{DriveGiB: []int{100, 100, 100, 200}}, TaskTime: taskTime, RestartTime: restartTime,
		SSHPort: 22, // the documents name it; nothing listens
		Now:     b.clock.Now, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	for _, change := range edit {
		change(&c)
	}
	b.Server = lab.New(c)
	server := httptest.NewUnstartedServer(b.Server)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if conf != nil { // httptest's own TLS cannot read an old controller's certificate
		server.Listener = tls.NewListener(server.Listener, conf)
	}
	server.Start()
	b.Client = &redfishtest.Client{URL: server.URL}
	if conf != nil {
		b.URL = strings.Replace(server.URL, "http:", "https:", 1)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil { // ends hanging requests, which server.Close waits for
			t.Errorf("close: %v", err)
		}
		server.Close()
	})
	return b
}

// node is how a conductor knows the machine behind the bench.
func (b *bench) node(password string) node.Node {
	return node.Node{Driver: "redfish", DriverInfo: map[string]any{
		"redfish_address": b.URL, "redfish_username": redfishtest.User, "redfish_password": password,
	}}
}
