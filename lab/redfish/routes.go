package redfish

import (
	"maps"
	"net/http"
	"slices"
	"strings"
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
	storagePath  = systemPath + "/Storage/1"
	adaptersPath = chassisPath + "/NetworkAdapters"
)

// routes is everything the controller answers: the documents of its tree, and their changes.
func (s *Server) routes() []route {
	all := slices.DeleteFunc(s.changes(), func(r route) bool {
		resource, _, _ := strings.Cut(r.path, "/Actions/")
		return s.tree[resource] == nil
	})
	for _, pattern := range slices.Sorted(maps.Keys(s.tree)) {
		all = append(all, route{get, pattern, slices.Contains(openPaths, pattern), s.show(pattern)})
	}
	// Documents with answers of their own come last: they replace documents of the tree.
	return append(all, route{get, taskPattern, closed, s.getTask},
		route{get, monitorsPath + "/{id}", closed, s.getMonitor},
		route{get, rootPath + "/$metadata", open, s.getMetadata})
}

// show answers GET with the document of a pattern.
func (s *Server) show(pattern string) handler {
	return func(r *http.Request) (reply, error) {
		body, err := s.document(pattern, r.URL.Path)
		return reply{body: body}, err
	}
}

// The columns of the table.
const (
	get, post, patch, del = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete
	open, closed          = true, false
)

// openPaths need no session and no basic authentication (DSP0266, 13.3).
var openPaths = []string{"/redfish", rootPath, rootPath + "/odata"}

// changes are the methods other than GET.
func (s *Server) changes() []route {
	all := []route{
		{patch, systemPath, closed, change(s.patchSystem)},
		{patch, systemSettingsPath, closed, change(s.patchSystem)},
		{post, systemPath + resetAction, closed, with(s.resetSystem)},
		{patch, storagePath + "/Drives/{id}", closed, s.patchIndicator(storagePath + "/Drives/{id}")},
		{post, raidPath + "/Volumes", closed, with(s.createVolume)},
		{del, raidPath + "/Volumes/{id}", closed, with(s.deleteVolume)},
		{post, biosPath + resetBiosAction, closed, change(s.resetBios)},
		{patch, biosSettingsPath, closed, change(s.patchBiosSettings)},
		{patch, secureBootPath, closed, change(s.patchSecureBoot)},
		{post, secureBootPath + resetKeysAction, closed, change(s.resetKeys)},

		{patch, managerPath, closed, change(s.patchManager)},
		{post, managerPath + managerResetAction, closed, change(s.resetManager)},
		{patch, attributesPath, closed, change(s.patchAttributes)},
		{post, mediaPath + insertAction, closed, change(s.insertMedia)},
		{post, mediaPath + ejectAction, closed, change(s.ejectMedia)},
		{post, logPath + clearLogAction, closed, change(s.clearLog)},
		{post, raidServicePath + clearForeignAction, closed, with(s.clearForeign)},
		{post, jobServicePath + deleteJobQueueAction, closed, change(s.deleteJobQueue)},
		{patch, chassisPath, closed, s.patchIndicator(chassisPath)},

		{post, sessionsPath, open, with(s.login)},
		{del, sessionsPath + "/{id}", closed, s.logout},
		{post, updatePath + simpleUpdateAction, closed, with(s.simpleUpdate)},
		{post, subscriptionsPath, closed, with(s.createSubscription)},
		{del, subscriptionsPath + "/{id}", closed, s.deleteSubscription},
	}
	if s.personality.has(MediaByPatch) {
		all = append(all, route{patch, mediaPath, closed, change(s.patchMedia)})
	}
	return all
}
