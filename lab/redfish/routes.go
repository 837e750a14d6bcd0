package redfish

import (
	"net/http"
	"slices"
)

// Where things are. One machine, one controller, one enclosure: as on most
// real boards, each is called 1.
const (
	rootPath     = "/redfish/v1"
	systemPath   = rootPath + "/Systems/1"
	managerPath  = rootPath + "/Managers/1"
	chassisPath  = rootPath + "/Chassis/1"
	mediaPath    = managerPath + "/VirtualMedia/Cd"
	servicePath  = rootPath + "/SessionService"
	sessionsPath = servicePath + "/Sessions"
	accountsPath = rootPath + "/AccountService"
	tasksPath    = rootPath + "/TaskService"
	monitorsPath = tasksPath + "/TaskMonitors"
	updatePath   = rootPath + "/UpdateService"
	registryPath = rootPath + "/Registries"
)

// routes is everything the controller answers. All but the rows marked open
// need a session or basic authentication (DSP0266, 13.3).
func (s *Server) routes() []route {
	return slices.Concat(s.rootRoutes(), s.systemRoutes(), s.managerRoutes(), s.serviceRoutes(), s.consoleRoutes(),
		s.deviantRoutes())
}

// deviantRoutes are the routes that the ideal controller does not have.
func (s *Server) deviantRoutes() []route {
	rows := map[Deviation][]route{
		BootInSettings: {{get, systemSettingsPath, closed, s.getSystemSettings},
			{patch, systemSettingsPath, closed, s.patchSystem}},
		CdByAttribute: {{get, attributesPath, closed, s.getAttributes}, {patch, attributesPath, closed, s.patchAttributes}},
		MediaByPatch:  {{patch, mediaPath, closed, s.patchMedia}},
		TwoSystems:    {{get, otherSystemPath, closed, s.getBaseboard}},
	}
	var all []route
	for _, d := range s.personality.Deviations {
		all = append(all, rows[d]...)
	}
	return all
}

// The columns of the table.
const (
	get, post, patch, del = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete
	open, closed          = true, false
)

func (s *Server) rootRoutes() []route {
	return []route{
		{get, "/redfish", open, s.getVersions},
		{get, rootPath, open, s.getRoot},
		{get, rootPath + "/odata", open, s.getOData},
		{get, rootPath + "/$metadata", open, s.getMetadata},
	}
}

func (s *Server) systemRoutes() []route {
	return []route{
		{get, rootPath + "/Systems", closed, collection("ComputerSystem", "Systems", systemPath)},
		{get, systemPath, closed, s.getSystem},
		{patch, systemPath, closed, s.patchSystem},
		{post, systemPath + resetAction, closed, s.resetSystem},
		{get, systemPath + "/EthernetInterfaces", closed, s.getInterfaces},
		{get, systemPath + "/EthernetInterfaces/{id}", closed, s.getInterface},
		{get, systemPath + "/Processors", closed, collection("Processor", "Processors", systemPath+"/Processors/1")},
		{get, systemPath + "/Processors/1", closed, s.getProcessor},
		{get, systemPath + "/Memory", closed, collection("Memory", "Memory", systemPath+"/Memory/1")},
		{get, systemPath + "/Memory/1", closed, s.getMemory},
		{get, systemPath + "/Storage", closed, s.getStorages},
		{get, systemPath + "/Storage/1", closed, s.getStorage},
		{get, systemPath + "/Storage/1/Drives/{id}", closed, s.getDrive},
		{patch, systemPath + "/Storage/1/Drives/{id}", closed, s.patchIndicator(s.getDrive)},
		{get, systemPath + "/Storage/1/Volumes", closed, collection("Volume", "Volumes")},
		{get, raidPath, closed, s.getRAID},
		{get, raidPath + "/Drives/{id}", closed, s.getRAIDDrive},
		{get, raidPath + "/Volumes", closed, s.getVolumes},
		{post, raidPath + "/Volumes", closed, s.createVolume},
		{get, raidPath + "/Volumes/{id}", closed, s.getVolume},
		{del, raidPath + "/Volumes/{id}", closed, s.deleteVolume},
		{get, systemPath + "/SimpleStorage", closed,
			collection("SimpleStorage", "Simple Storage", systemPath+"/SimpleStorage/1")},
		{get, systemPath + "/SimpleStorage/1", closed, s.getSimpleStorage},

		{get, biosPath, closed, s.getBios},
		{post, biosPath + resetBiosAction, closed, s.resetBios},
		{get, biosSettingsPath, closed, s.getBiosSettings},
		{patch, biosSettingsPath, closed, s.patchBiosSettings},
		{get, secureBootPath, closed, s.getSecureBoot},
		{patch, secureBootPath, closed, s.patchSecureBoot},
		{post, secureBootPath + resetKeysAction, closed, s.resetKeys},
	}
}

func (s *Server) managerRoutes() []route {
	return []route{
		{get, rootPath + "/Managers", closed, collection("Manager", "Managers", managerPath)},
		{get, managerPath, closed, s.getManager},
		{post, managerPath + managerResetAction, closed, s.resetManager},
		{get, managerPath + "/VirtualMedia", closed, collection("VirtualMedia", "Virtual Media", mediaPath)},
		{get, mediaPath, closed, s.getMedia},
		{post, mediaPath + insertAction, closed, s.insertMedia},
		{post, mediaPath + ejectAction, closed, s.ejectMedia},

		{get, logServicesPath, closed, collection("LogService", "Log Services", logPath)},
		{get, logPath, closed, s.getLogService},
		{post, logPath + clearLogAction, closed, s.clearLog},
		{get, logPath + "/Entries", closed, s.getLogEntries},
		{get, logPath + "/Entries/{id}", closed, s.getLogEntry},
		{get, jobServicePath, closed, s.getJobService},
		{post, jobServicePath + deleteJobQueueAction, closed, s.deleteJobQueue},

		{get, rootPath + "/Chassis", closed, collection("Chassis", "Chassis", chassisPath)},
		{get, chassisPath, closed, s.getChassis},
		{patch, chassisPath, closed, s.patchIndicator(s.getChassis)},
		{get, adaptersPath, closed, s.getAdapters},
		{get, adaptersPath + "/{id}", closed, s.getAdapter},
	}
}

func (s *Server) serviceRoutes() []route {
	return []route{
		{get, servicePath, closed, s.getSessionService},
		{get, sessionsPath, closed, s.getSessions},
		{post, sessionsPath, open, s.login},
		{get, sessionsPath + "/{id}", closed, s.getSession},
		{del, sessionsPath + "/{id}", closed, s.logout},

		{get, accountsPath, closed, s.getAccountService},
		{get, accountsPath + "/Accounts", closed, collection("ManagerAccount", "Accounts", accountsPath+"/Accounts/1")},
		{get, accountsPath + "/Accounts/1", closed, s.getAccount},
		{get, accountsPath + "/Roles", closed, collection("Role", "Roles", rolePath)},
		{get, rolePath, closed, s.getRole},

		{get, tasksPath, closed, s.getTaskService},
		{get, tasksPath + "/Tasks", closed, s.getTasks},
		{get, tasksPath + "/Tasks/{id}", closed, s.getTask},
		{get, monitorsPath + "/{id}", closed, s.getMonitor},

		{get, updatePath, closed, s.getUpdateService},
		{post, updatePath + simpleUpdateAction, closed, s.simpleUpdate},
		{get, inventoryPath, closed,
			collection("SoftwareInventory", "Firmware Inventory", inventoryPath+"/BIOS", inventoryPath+"/BMC")},
		{get, inventoryPath + "/BIOS", closed, s.getFirmware(biosFirmware)},
		{get, inventoryPath + "/BMC", closed, s.getFirmware(bmcFirmware)},

		{get, eventsPath, closed, s.getEventService},
		{get, subscriptionsPath, closed, s.getSubscriptions},
		{post, subscriptionsPath, closed, s.createSubscription},
		{get, subscriptionsPath + "/{id}", closed, s.getSubscription},
		{del, subscriptionsPath + "/{id}", closed, s.deleteSubscription},

		{get, registryPath, closed,
			collection("MessageRegistryFile", "Registries", registryPath+"/Base", registryPath+"/"+biosRegistryID)},
		{get, registryPath + "/Base", closed, s.getRegistryFile},
		{get, baseRegistryPath, closed, s.getBaseRegistry},
		{get, registryPath + "/" + biosRegistryID, closed, s.getBiosRegistryFile},
		{get, biosRegistryPath, closed, s.getBiosRegistry},
	}
}
