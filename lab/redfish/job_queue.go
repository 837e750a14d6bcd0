package redfish

import "net/http"

// Dell's boards have a queue of jobs beside the tasks, and an action outside the standard that empties it; here the
// queue is the tasks themselves. The paths and the words are taken from iDRAC 9, as Ironic's driver uses them.
const (
	jobsPath             = managerPath + "/Jobs"
	jobServicePath       = rootPath + "/Dell/Managers/1/DellJobService"
	deleteJobQueueAction = "/Actions/DellJobService.DeleteJobQueue"
	allJobs              = "JID_CLEARALL"
)

// deleteJobQueue forgets every task that is not being worked on.
func (s *Server) deleteJobQueue(_ *http.Request, q struct{ JobID string }) error {
	if err := oneOf("DellJobService.DeleteJobQueue", "JobID", q.JobID, allJobs); err != nil {
		return err
	}
	s.tasks.clear()
	s.log.Info("job queue cleared")
	return nil
}
