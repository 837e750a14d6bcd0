package redfish

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stmcginnis/gofish/schemas"
)

// bmcTask is Task: long work of the BMC. Payload repeats the request; it exists since Task.v1_2_0, and some BMCs leave
// it out.
type bmcTask struct {
	path            string
	TaskState       schemas.TaskState
	TaskStatus      string
	PercentComplete *float64
	Messages        []struct{ Message string }
	Payload         *struct {
		HTTPOperation string `json:"HttpOperation"`
		TargetURI     string `json:"TargetUri"`
		JSONBody      string `json:"JsonBody"`
	}
}

// phase is the progress of a task, for a step that waits for it.
type phase int

const (
	working phase = iota
	halted        // waits for something: a start of the machine, mostly
	succeeded
	failed
)

// phase sorts the states of DSP2046. An unknown state counts as working.
func (t bmcTask) phase() phase {
	switch t.TaskState {
	case schemas.CompletedTaskState:
		if t.TaskStatus == "Critical" {
			return failed
		}
		return succeeded
	case schemas.ExceptionTaskState, schemas.KilledTaskState, schemas.CancelledTaskState:
		return failed
	case schemas.NewTaskState, schemas.PendingTaskState, schemas.SuspendedTaskState, schemas.InterruptedTaskState:
		return halted
	default:
		return working
	}
}

func (t bmcTask) over() bool { return t.phase() == succeeded || t.phase() == failed }

// String describes its progress.
func (t bmcTask) String() string {
	if t.PercentComplete == nil {
		return string(t.TaskState)
	}
	return fmt.Sprintf("%s, %.0f %%", t.TaskState, *t.PercentComplete)
}

// percent is how much of it is done; 0 where the BMC does not report it.
func (t bmcTask) percent() int {
	if t.PercentComplete == nil {
		return 0
	}
	return int(min(max(*t.PercentComplete, 0), 100))
}

// failure is why a task went wrong, in the BMC's words.
func (t bmcTask) failure() error {
	var all []string
	for _, m := range t.Messages {
		all = append(all, m.Message)
	}
	return broken("the BMC's task %s ended as %s: %s", t.path, t.TaskState,
		cmp.Or(quote(all), "it gives no reason, look into the BMC's log"))
}

// asks reports whether the task carries out a request; known is false where the BMC does not show its request.
func (t bmcTask) asks(r request) (same, known bool) {
	if t.Payload == nil || t.Payload.TargetURI == "" {
		return false, false
	}
	if strings.TrimRight(t.Payload.TargetURI, "/") != r.path || t.Payload.HTTPOperation != r.method {
		return false, true
	}
	if r.same == nil {
		return true, true
	}
	var body map[string]any
	if json.Unmarshal([]byte(t.Payload.JSONBody), &body) != nil {
		return false, false
	}
	return r.same(body), true
}

// request is a request to the BMC that becomes a task. same distinguishes its body from other requests to the same
// path; nil where there are no others.
type request struct {
	method, path string
	body         map[string]any
	same         func(body map[string]any) bool
	name         string // for people
}

func (s *session) task(path string) (t bmcTask, err error) {
	_, err = s.get(path, &t)
	t.path = path
	return t, err
}

// taskPaths lists the tasks the BMC has, none where it has no such service.
func (s *session) taskPaths() ([]string, error) {
	r, err := s.root()
	if err != nil || r.Tasks.Path == "" {
		return nil, err
	}
	var service struct{ Tasks reference }
	if _, err := s.get(r.Tasks.Path, &service); err != nil || service.Tasks.Path == "" {
		return nil, err
	}
	all, err := s.members(service.Tasks.Path)
	if size := len(strings.Join(all, "")); size > maxTaskPaths {
		return nil, broken("the BMC names its %d tasks in %d bytes, at most %d are looked through: clear its tasks", len(all),
			size, maxTaskPaths)
	}
	return all, err
}

// maxTaskPaths bounds the paths of all tasks, in bytes: a step keeps those that
// were there before it.
const maxTaskPaths = 128 << 10

// recent bounds the tasks that are searched for a lost step's task: a BMC keeps hundreds, and answers one request at a
// time.
const recent = 20

// tasksBut reads the newest tasks that are not in known.
func (s *session) tasksBut(known []string) ([]bmcTask, error) {
	all, err := s.taskPaths()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p string) bool { return slices.Contains(known, p) })
	slices.SortFunc(all, byNumber)
	var tasks []bmcTask
	for _, p := range all[max(0, len(all)-recent):] {
		t, err := s.task(p)
		if status(err) == http.StatusNotFound {
			continue // gone since it was listed
		}
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}
