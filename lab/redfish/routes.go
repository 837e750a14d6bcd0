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
		{patch, systemPath, closed, s.patchSystem},
		{patch, systemSettingsPath, closed, s.patchSystem},
		{post, systemPath + resetAction, closed, s.resetSystem},
		{patch, storagePath + "/Drives/{id}", closed, s.patchIndicator(storagePath + "/Drives/{id}")},
		{post, raidPath + "/Volumes", closed, s.createVolume},
		{del, raidPath + "/Volumes/{id}", closed, s.deleteVolume},
		{post, biosPath + resetBiosAction, closed, s.resetBios},
		{patch, biosSettingsPath, closed, s.patchBiosSettings},
		{patch, secureBootPath, closed, s.patchSecureBoot},
		{post, secureBootPath + resetKeysAction, closed, s.resetKeys},

		{post, managerPath + managerResetAction, closed, s.resetManager},
		{patch, attributesPath, closed, s.patchAttributes},
		{post, mediaPath + insertAction, closed, s.insertMedia},
		{post, mediaPath + ejectAction, closed, s.ejectMedia},
		{post, logPath + clearLogAction, closed, s.clearLog},
		{post, jobServicePath + deleteJobQueueAction, closed, s.deleteJobQueue},
		{patch, chassisPath, closed, s.patchIndicator(chassisPath)},

		{post, sessionsPath, open, s.login},
		{del, sessionsPath + "/{id}", closed, s.logout},
		{post, updatePath + simpleUpdateAction, closed, s.simpleUpdate},
		{post, subscriptionsPath, closed, s.createSubscription},
		{del, subscriptionsPath + "/{id}", closed, s.deleteSubscription},
	}
	if s.personality.has(MediaByPatch) {
		all = append(all, route{patch, mediaPath, closed, s.patchMedia})
	}
	return all
}
