package redfish

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"
)

// taskState is Task.TaskState.
type taskState string

// The states a task here goes through: New until its work can begin.
const (
	taskNew       taskState = "New"
	taskStarting  taskState = "Starting"
	taskRunning   taskState = "Running"
	taskCompleted taskState = "Completed"
	taskException taskState = "Exception"
)

// maxTasks is how many tasks are remembered; the oldest that are over go first.
const maxTasks = 64

// work is the work of a task.
type work struct {
	name    string
	request payload
	onReset bool // begins with the machine's next start
	// prepare comes first, and may take any time; nil for nothing.
	prepare func(ctx context.Context) error
	finish  func() error // the result once its time is over
	cancel  func()       // gives up the request's reservations; nil for nothing
	// held is the state in which a prepared task waits for the machine's next start; "" if it does not wait. gone
	// reports whether a task that has ended is forgotten. Both may be nil.
	held func() taskState
	gone func(id string) bool
}

// payload is Task.Payload: the request that made the task. By it a restarted client finds its own task.
type payload struct {
	HTTPHeaders   []string `json:"HttpHeaders"`
	HTTPOperation string   `json:"HttpOperation"`
	JSONBody      string   `json:"JsonBody"`
	TargetURI     string   `json:"TargetUri"`
}

// requested is the payload of a request with a body that was decoded, and so can be encoded.
func requested(r *http.Request, body any) payload {
	text, err := json.Marshal(body)
	must(err)
	return payload{[]string{}, r.Method, string(text), r.URL.Path}
}

// task is work under way.
type task struct {
	work
	id      string
	state   taskState
	percent int
	start   time.Time
	begun   time.Time // when the part that takes a known time began; zero before it
	end     time.Time
	said    string
}

func (t *task) over() bool { return t.state == taskCompleted || t.state == taskException }

// tasks are the controller's long jobs. No goroutine drives them: at a client's request, settle brings them up to date
// by the clock.
type tasks struct {
	life  context.Context // ends the preparations
	run   func(func())    // beside the requests
	now   func() time.Time
	lasts time.Duration // of every task, once it is prepared
	fails func() bool   // whether the task that ends now goes wrong

	mu     sync.Mutex
	list   []*task
	lastID int
}

// add begins a task, or lets it wait for the machine's next start.
func (l *tasks) add(w work) task {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastID++
	t := &task{work: w, id: strconv.Itoa(l.lastID), state: taskNew, start: l.now()}
	l.list = append(l.list, t)
	if i := slices.IndexFunc(l.list, (*task).over); len(l.list) > maxTasks && i >= 0 {
		l.list = slices.Delete(l.list, i, i+1)
	}
	switch {
	case w.onReset:
	case w.prepare != nil:
		l.run(func() { l.prepare(t) })
	default:
		l.begin(t)
	}
	return *t
}

// prepare does the part of a task that does not go by the clock.
func (l *tasks) prepare(t *task) {
	l.mu.Lock()
	t.state = taskRunning
	l.mu.Unlock()
	err := t.prepare(l.life)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.close(t, err)
		return
	}
	if t.held != nil {
		if state := t.held(); state != "" {
			t.state, t.onReset = state, true
			return
		}
	}
	l.begin(t)
}

// waits reports a task that has not begun.
func (t *task) waits() bool { return t.state == taskNew || t.state == taskStarting }

// begin starts a task's clock. The caller holds mu.
func (l *tasks) begin(t *task) { t.state, t.begun = taskRunning, l.now() }

// close ends a task. The caller holds mu.
func (l *tasks) close(t *task, err error) {
	t.state, t.percent, t.end = taskCompleted, 100, l.now()
	if err != nil {
		t.state, t.said = taskException, err.Error()
		if t.cancel != nil {
			t.cancel()
		}
	}
}

// begun is how many tasks there ever were.
func (l *tasks) begun() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastID
}

// settle brings every task to where it is now.
func (l *tasks) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() {
		l.list = slices.DeleteFunc(l.list, func(t *task) bool { return t.over() && t.gone != nil && t.gone(t.id) })
	}()
	for _, t := range l.list {
		if t.state != taskRunning || t.begun.IsZero() {
			continue
		}
		spent := l.now().Sub(t.begun)
		if spent < l.lasts {
			t.percent = int(100 * spent / l.lasts)
			continue
		}
		if l.fails() {
			l.close(t, fmt.Errorf("fault %s is in force", TaskException))
			continue
		}
		l.close(t, t.finish())
	}
}

// release begins the tasks that waited for the machine's start.
func (l *tasks) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.list {
		if t.waits() && t.onReset {
			l.begin(t)
		}
	}
}

// drop forgets the tasks of a name that have not begun.
func (l *tasks) drop(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(t *task) bool { return t.state == taskNew && t.name == name })
}

// clear forgets every task that is not being worked on.
func (l *tasks) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(t *task) bool {
		if t.waits() && t.cancel != nil {
			t.cancel()
		}
		return t.state != taskRunning
	})
}

// find is the task with an id.
func (l *tasks) find(id string) (found task, has bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.list, func(t *task) bool { return t.id == id })
	if i < 0 {
		return task{}, false
	}
	return *l.list[i], true
}

func (l *tasks) items() (all []item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.list {
		all = append(all, item{t.id, t.values()})
	}
	return all
}

// accept answers a request that becomes a task (DSP0266, 13.2). There is no Retry-After: sushy 4.3.3 falls over a value
// in seconds.
func (s *Server) accept(w work) (reply, error) {
	t := s.tasks.add(w)
	s.log.Info("task", "id", t.id, "name", t.name)
	body, err := s.document(taskPattern, tasksPath+"/Tasks/"+t.id)
	header := http.Header{"Location": {monitorsPath + "/" + t.id}}
	return reply{status: http.StatusAccepted, header: header, body: body}, err
}

const taskPattern = tasksPath + "/Tasks/{id}"

// failure is the error of a task that went wrong; nil for others.
func (t *task) failure() *problemError {
	if t.state != taskException {
		return nil
	}
	return problem(operationFailed, path.Base(t.request.TargetURI), t.said)
}

func (t *task) values() values {
	v := values{"task": t.name, "taskState": t.state, "taskStatus": "OK", "monitor": monitorsPath + "/" + t.id,
		"percent": t.percent, "start": rfc3339(t.start), "end": "", "payload": t.request, "messages": []messageBody{}}
	if t.over() {
		v["end"] = rfc3339(t.end)
	}
	if failed := t.failure(); failed != nil {
		v["taskStatus"], v["messages"] = critical, failed.body().Error.Extended
	}
	return v
}

// getTask answers 202 while the task is under way, as iDRAC 9 does: sushy takes
// the task's own address for its monitor's.
func (s *Server) getTask(r *http.Request) (reply, error) {
	id := r.PathValue("id")
	body, err := s.document(taskPattern, tasksPath+"/Tasks/"+id)
	if t, has := s.tasks.find(id); has && !t.over() {
		return reply{status: http.StatusAccepted, body: body}, err
	}
	return reply{body: body}, err
}

// getMonitor answers 202 while the task is under way. Afterwards it gives the answer of the same request done at once
// (DSP0266, 13.2).
func (s *Server) getMonitor(r *http.Request) (reply, error) {
	if t, has := s.tasks.find(r.PathValue("id")); has && t.failure() != nil {
		return reply{}, t.failure()
	}
	return s.getTask(r)
}
