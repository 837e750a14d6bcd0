package redfish

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
	"github.com/google/go-cmp/cmp"
	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"
)

// TestGofish takes the conductor's client library through the conductor's requests.
func TestGofish(t *testing.T) {
	b := newBench(t)
	client, err := gofish.ConnectContext(t.Context(),
		gofish.ClientConfig{Endpoint: b.URL, Username: redfishtest.User, Password: redfishtest.Password})
	if err != nil {
		t.Fatal(err)
	}
	if c := b.Counters(); c.Sessions != 1 || c.Logins != 1 {
		t.Errorf("after connect: %+v", c)
	}
	systems, err := client.Service.Systems()
	if err != nil || len(systems) != 1 {
		t.Fatalf("%d systems, %v", len(systems), err)
	}
	system := systems[0]
	if system.PowerState != schemas.OffPowerState || system.UUID != b.machine.Spec().UUID ||
		system.SerialNumber != "NODE-0" {
		t.Errorf("system %s %s %s", system.PowerState, system.UUID, system.SerialNumber)
	}
	if err := system.SetBoot(&schemas.Boot{BootSourceOverrideTarget: schemas.PxeBootSource,
		BootSourceOverrideEnabled: schemas.OnceBootSourceOverrideEnabled}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(qemu.Boot{Target: "Pxe", Enabled: "Once", Firmware: "uefi"}, b.machine.Boot()); diff != "" {
		t.Errorf("boot (-want +got):\n%s", diff)
	}
	for _, kind := range []schemas.ResetType{schemas.OnResetType, schemas.NmiResetType, schemas.GracefulRestartResetType,
		schemas.ForceOffResetType} {
		if _, err := system.Reset(kind); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if diff := cmp.Diff([]qemu.ResetType{"On", "Nmi", "GracefulRestart", "ForceOff"}, b.machine.Pressed()); diff != "" {
		t.Errorf("buttons pressed (-want +got):\n%s", diff)
	}
	gofishInventory(t, b, client, system)
	client.Logout()
	if c := b.Counters(); c.Sessions != 0 || c.Logins != 1 || c.MaxInFlight != 1 {
		t.Errorf("after logout: %+v", c)
	}
}

func gofishInventory(t *testing.T, b *bench, client *gofish.APIClient, system *schemas.ComputerSystem) {
	t.Helper()
	nics, err := system.EthernetInterfaces()
	byMAC := func(mac string) bool {
		return slices.ContainsFunc(nics, func(n *schemas.EthernetInterface) bool { return n.MACAddress == mac })
	}
	if err != nil || len(nics) != 2 || !byMAC("52:54:00:77:00:01") || !byMAC("52:54:00:77:00:02") {
		t.Errorf("%d nics, %v", len(nics), err)
	}
	stores, err := system.Storage()
	if err != nil || len(stores) != 2 {
		t.Fatalf("%d storage, %v", len(stores), err)
	}
	slices.SortFunc(stores, func(a, b *schemas.Storage) int { return strings.Compare(a.ID, b.ID) })
	drives, err := stores[0].Drives()
	isNVMe := func(d *schemas.Drive) bool { return d.Protocol == schemas.NVMeProtocol }
	if err != nil || len(drives) != 2 || !slices.ContainsFunc(drives, isNVMe) {
		t.Errorf("%d drives, %v", len(drives), err)
	}
	simple, err := system.SimpleStorage()
	if err != nil || len(simple) != 1 {
		t.Errorf("%d simple storage, %v", len(simple), err)
	}
	cpus, err := system.Processors()
	if err != nil || len(cpus) != 1 {
		t.Errorf("%d processors, %v", len(cpus), err)
	}
	managers, err := client.Service.Managers()
	if err != nil || len(managers) != 1 || managers[0].ManagerType != schemas.BMCManagerType {
		t.Fatalf("%d managers, %v", len(managers), err)
	}
	media, err := managers[0].VirtualMedia()
	if err != nil || len(media) != 1 || media[0].Inserted == nil || *media[0].Inserted {
		t.Errorf("%d virtual media, %v", len(media), err)
	}
	enclosures, err := client.Service.Chassis()
	if err != nil || len(enclosures) != 1 {
		t.Errorf("%d chassis, %v", len(enclosures), err)
	}
}

// connected is a client without a session, and the system that it sees.
func connected(t *testing.T, b *bench) (*gofish.APIClient, *schemas.ComputerSystem) {
	t.Helper()
	client, err := gofish.ConnectContext(t.Context(),
		gofish.ClientConfig{Endpoint: b.URL, Username: redfishtest.User, Password: redfishtest.Password, BasicAuth: true})
	if err != nil {
		t.Fatal(err)
	}
	systems, err := client.Service.Systems()
	if err != nil || len(systems) != 1 {
		t.Fatalf("%d systems, %v", len(systems), err)
	}
	return client, systems[0]
}

// TestGofishBoard takes it through the changes that steps make.
func TestGofishBoard(t *testing.T) {
	b := newBench(t)
	client, system := connected(t, b)
	settings, err := system.Bios()
	if err != nil || settings.Attributes.String("LogicalProc") != "Enabled" || settings.ResetBiosToDefaultsPending {
		t.Fatalf("bios %+v, %v", settings, err)
	}
	if err := settings.UpdateBiosAttributesApplyAt(schemas.SettingsAttributes{"LogicalProc": "Disabled"},
		schemas.OnResetSettingsApplyTime); err != nil {
		t.Fatal(err)
	}
	secure, err := system.SecureBoot()
	if err != nil || secure.SecureBootMode != schemas.UserModeSecureBootModeType {
		t.Fatalf("secure boot %+v, %v", secure, err)
	}
	if _, err := secure.ResetKeys(schemas.DeleteAllKeysResetKeysType); err != nil {
		t.Fatal(err)
	}
	if _, err := system.Reset(schemas.OnResetType); err != nil {
		t.Fatal(err)
	}
	if settings, err = system.Bios(); err != nil || settings.Attributes.String("LogicalProc") != "Disabled" {
		t.Errorf("bios after a start: %+v, %v", settings, err)
	}
	if secure, err = system.SecureBoot(); err != nil || secure.SecureBootMode != schemas.SetupModeSecureBootModeType {
		t.Errorf("secure boot after a start: %+v, %v", secure, err)
	}
	gofishTasks(t, b, client)
}

func gofishTasks(t *testing.T, b *bench, client *gofish.APIClient) {
	t.Helper()
	b.Send(t, "POST", volumesPath, mirrorRequest, 202)
	b.clock.Advance(b.config.TaskTime)
	store, err := schemas.GetStorage(client, raidPath)
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.Volumes()
	if err != nil || len(all) != 1 || all[0].RAIDType != schemas.RAID1RAIDType || all[0].CapacityBytes == nil ||
		*all[0].CapacityBytes != 100<<30 {
		t.Fatalf("%d volumes, %v", len(all), err)
	}
	updates, err := client.Service.UpdateService()
	if err != nil {
		t.Fatal(err)
	}
	monitor, err := updates.SimpleUpdate(
		&schemas.UpdateServiceSimpleUpdateParameters{ImageURI: redfishtest.Images(t) + "/BIOS-2.0"})
	if err != nil || monitor == nil || monitor.TaskMonitor != monitorsPath+"/2" {
		t.Fatalf("monitor %+v, %v", monitor, err)
	}
	b.ended(t, "2")
	task, err := schemas.GetTask(client, tasksPath+"/Tasks/2")
	if err != nil || task.TaskState != schemas.CompletedTaskState {
		t.Errorf("task %+v, %v", task, err)
	}
	inventory, err := updates.FirmwareInventory()
	if err != nil || len(inventory) != 2 {
		t.Errorf("%d in the inventory, %v", len(inventory), err)
	}
}

// A tag that the client read before another client's change must not pass.
func TestGofishStaleTag(t *testing.T) {
	b := newBench(t)
	_, system := connected(t, b)
	boot := &schemas.Boot{
		BootSourceOverrideTarget:  schemas.HddBootSource,
		BootSourceOverrideEnabled: schemas.ContinuousBootSourceOverrideEnabled,
	}
	if err := system.SetBoot(boot); err != nil {
		t.Fatal(err)
	}
	if c := b.Counters(); c.Sessions != 0 || c.Logins == 0 {
		t.Errorf("basic authentication: %+v", c)
	}
	if err := b.machine.SetBoot(qemu.Boot{Target: "Cd", Enabled: "Once", Firmware: "uefi"}); err != nil {
		t.Fatal(err)
	}
	var refused *schemas.Error
	if err := system.SetBoot(boot); !errors.As(err, &refused) ||
		refused.HTTPReturnedStatusCode != http.StatusPreconditionFailed {
		t.Errorf("second change with the first read: %v", err)
	}
}
