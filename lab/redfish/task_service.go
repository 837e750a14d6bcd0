package redfish

import (
	"net/http"
	"time"
)

// taskService is TaskService.v1_2_0.
type taskService struct {
	common
	ServiceEnabled                  bool
	DateTime                        string
	CompletedTaskOverWritePolicy    string
	LifeCycleEventOnTaskStateChange bool
	Status                          status
	Tasks                           link
}

func (s *Server) getTaskService(*http.Request) (reply, error) {
	return ok(taskService{
		common:         head(tasksPath, "TaskService.v1_2_0.TaskService", "Task Service"),
		ServiceEnabled: true, DateTime: s.config.Now().UTC().Format(time.RFC3339),
		CompletedTaskOverWritePolicy: "Oldest", Status: enabled(), Tasks: link{tasksPath + "/Tasks"},
	})
}
