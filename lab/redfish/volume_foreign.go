package redfish

import "net/http"

// Dell's service for controllers, with the paths and words of iDRAC 9 as sushy's oem/dell has them.
const (
	raidServicePath    = rootPath + "/Dell/Systems/1/DellRaidService"
	clearForeignAction = "/Actions/DellRaidService.ClearForeignConfig"
)

func (v *volumes) hasForeign() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.raid.Foreign && !v.forgot
}

// clearForeign makes a task that forgets the foreign volumes of a controller.
func (s *Server) clearForeign(r *http.Request, q struct{ TargetFQDD string }) (reply, error) {
	if err := oneOf("DellRaidService.ClearForeignConfig", "TargetFQDD", q.TargetFQDD, "RAID"); err != nil {
		return reply{}, err
	}
	if !s.volumes.hasForeign() {
		return reply{}, problem(noForeignDrives)
	}
	return s.accept(work{name: "Clear Foreign Configuration", request: requested(r, q), finish: func() error {
		s.volumes.mu.Lock()
		defer s.volumes.mu.Unlock()
		s.volumes.forgot = true
		return nil
	}})
}
