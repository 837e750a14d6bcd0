package redfish

import "net/http"

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
	registryPath = rootPath + "/Registries"
)

// routes is everything the controller answers. All but the rows marked open
// need a session or basic authentication (DSP0266, 13.3).
func (s *Server) routes() []route {
	const get, post, patch, del = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete
	const open, closed = true, false
	return []route{
		{get, "/redfish", open, s.getVersions},
		{get, rootPath, open, s.getRoot},
		{get, rootPath + "/odata", open, s.getOData},
		{get, rootPath + "/$metadata", open, s.getMetadata},

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
		{get, systemPath + "/Storage", closed, collection("Storage", "Storage", systemPath+"/Storage/1")},
		{get, systemPath + "/Storage/1", closed, s.getStorage},
		{get, systemPath + "/Storage/1/Drives/{id}", closed, s.getDrive},
		{get, systemPath + "/Storage/1/Volumes", closed, collection("Volume", "Volumes")},
		{get, systemPath + "/SimpleStorage", closed, collection("SimpleStorage", "Simple Storage", systemPath+"/SimpleStorage/1")},
		{get, systemPath + "/SimpleStorage/1", closed, s.getSimpleStorage},

		{get, rootPath + "/Managers", closed, collection("Manager", "Managers", managerPath)},
		{get, managerPath, closed, s.getManager},
		{post, managerPath + managerResetAction, closed, s.resetManager},
		{get, managerPath + "/VirtualMedia", closed, collection("VirtualMedia", "Virtual Media", mediaPath)},
		{get, mediaPath, closed, s.getMedia},
		{post, mediaPath + insertAction, closed, s.insertMedia},
		{post, mediaPath + ejectAction, closed, s.ejectMedia},

		{get, rootPath + "/Chassis", closed, collection("Chassis", "Chassis", chassisPath)},
		{get, chassisPath, closed, s.getChassis},

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
		{get, tasksPath + "/Tasks", closed, collection("Task", "Tasks")},

		{get, registryPath, closed, collection("MessageRegistryFile", "Registries", registryPath+"/Base")},
		{get, registryPath + "/Base", closed, s.getRegistryFile},
		{get, baseRegistryPath, closed, s.getBaseRegistry},
	}
}
