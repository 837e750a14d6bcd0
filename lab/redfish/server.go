package redfish

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// Config is one controller.
type Config struct {
	Machine  Machine
	Username string
	Password string
	// MaxSessions is how many sessions may be open at once; 0 is 8. Real
	// controllers have 4 to 16, and clients that leak them lock others out.
	MaxSessions int
	// SessionTimeout ends a session not used for so long; 0 is 30 minutes.
	SessionTimeout time.Duration
	// MediaClient looks at images for the virtual drive, and fetches firmware; nil is http.DefaultClient.
	MediaClient *http.Client
	// RAID is a controller with drives of its own; the zero value has none.
	RAID RAID
	// TaskTime is how long a task works once it is prepared; 0 is 2 s.
	TaskTime time.Duration
	// RestartTime is how long the controller does not answer after a reset of
	// its own; 0 is 5 s.
	RestartTime time.Duration
	// SSHPort is where the machine's serial console is reached by SSH; 0: it has none.
	SSHPort int
	// Personality is how it presents itself and deviates; the zero value is the ideal one.
	Personality Personality
	// Delays is how long passing deviations last.
	Delays Delays
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	Log *slog.Logger
}

// Server is the controller: an http.Handler for a listener of its own.
type Server struct {
	config  Config
	machine Machine

	tree  tree
	own   map[string]func() values
	lists map[string]func() []item

	personality Personality
	recent      *recent

	emptyDriveAsked atomic.Bool // the override names the drive of cd-is-a-drive

	log      *slog.Logger
	mux      *http.ServeMux
	sessions *sessions
	counters *counters
	faults   *Faults
	media    *media

	bios       *bios
	secureBoot *secureBoot
	volumes    *volumes
	firmware   *firmware
	tasks      *tasks
	events     *events
	indicators *indicators

	subscriptions *subscriptions

	mu        sync.Mutex // guards the fields below
	lastReset time.Time  // of the controller itself
	awayUntil time.Time
	clockOff  time.Duration // of its clock from config.Now
	zone      string        // DateTimeLocalOffset
	health    string        // of the machine

	// life ends with Close; hanging requests and late power changes wait on
	// it, and late counts the latter.
	life context.Context
	end  context.CancelFunc
	late sync.WaitGroup
}

// New makes the controller of one machine.
func New(c Config) *Server {
	c.MaxSessions = cmp.Or(c.MaxSessions, 8)
	c.SessionTimeout = cmp.Or(c.SessionTimeout, 30*time.Minute)
	c.TaskTime = cmp.Or(c.TaskTime, 2*time.Second)
	c.RestartTime = cmp.Or(c.RestartTime, 5*time.Second)
	c.MediaClient = cmp.Or(c.MediaClient, http.DefaultClient)
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Delays = c.Delays.complete()
	s := &Server{
		config: c, machine: c.Machine,
		personality: c.Personality.complete(), recent: newRecent(c.Now),
		log:      c.Log.With("bmc", c.Machine.Spec().Name),
		mux:      http.NewServeMux(),
		sessions: newSessions(c.MaxSessions, c.SessionTimeout, c.Now),
		counters: newCounters(),
		health:   "OK",
		media:    &media{client: c.MediaClient, tray: c.Machine},
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.faults = NewFaults(s.sessions.clear)
	s.faults.life, s.faults.hanging = s.life, s.counters.hang
	s.equip()
	s.own, s.lists = s.ownValues(), s.memberLists()
	s.tree = newTree(s.parts(), s.personality)
	table := map[string]resource{}
	for _, r := range s.routes() {
		if table[r.path] == nil {
			table[r.path] = resource{}
		}
		table[r.path][r.method] = r
	}
	for path, methods := range table {
		s.mux.Handle(path, s.serve(methods))
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.writeError(w, r, problem(resourceMissing, r.URL.Path))
	})
	return s
}

// equip makes the parts with a state of their own, besides the machine.
func (s *Server) equip() {
	strikes := func(kind FaultKind) func() bool {
		return func() bool {
			_, hit := s.faults.strikes(kind)
			return hit
		}
	}
	s.bios = newBios(strikes(SettingsLost))
	s.secureBoot = newSecureBoot()
	s.volumes = &volumes{raid: s.config.RAID}
	s.firmware = &firmware{staged: map[component]string{}, jobs: map[string]string{}, versions: map[component]string{
		bmcFirmware: s.personality.FirmwareVersion, biosFirmware: s.personality.BIOSVersion}}
	s.events = &events{now: s.config.Now}
	s.indicators = newIndicators()
	s.subscriptions = &subscriptions{}
	s.tasks = &tasks{life: s.life, run: s.late.Go, now: s.config.Now, lasts: s.config.TaskTime,
		fails: strikes(TaskException)}
	s.lastReset, s.zone = s.config.Now(), "+00:00"
}

// Close lets hanging requests go, drops power changes and tasks under way, and
// ejects virtual media. Calling it again is fine.
func (s *Server) Close() error {
	s.end()
	s.late.Wait()
	return s.media.eject(context.Background())
}

// ServeHTTP counts the request, applies the fault in force, and answers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	end := s.counters.begin(r)
	defer end()
	w = answering{w, end}
	// Clients write collections with and without a slash at the end.
	if path := strings.TrimRight(r.URL.Path, "/"); path != r.URL.Path {
		r = r.Clone(r.Context())
		r.URL.Path = path
	}
	if s.away() {
		panic(http.ErrAbortHandler) // net/http's way to close without an answer
	}
	s.tasks.settle()
	s.faults.Before(http.HandlerFunc(s.undisturbed)).ServeHTTP(w, r)
}

// undisturbed applies the deviations of the connection, and answers.
func (s *Server) undisturbed(w http.ResponseWriter, r *http.Request) {
	if w, answered := s.disturb(w, r); !answered {
		s.mux.ServeHTTP(w, r)
	}
}

// parts are the documents that not every machine has.
func (s *Server) parts() []string {
	all := s.consoleParts()
	if len(s.config.RAID.DriveGiB) > 0 {
		all = append(all, "raid")
	}
	if s.personality.Vendor == "Dell" {
		all = append(all, "dell")
	}
	return all
}

// handler answers one method of one resource.
type handler func(*http.Request) (reply, error)

// reply is an answer before it is written: a nil body is 204, a []byte is
// written as it is, anything else as JSON.
type reply struct {
	status int // 0 is 200
	header http.Header
	body   any
}

// route is one method of one resource; open ones need no authentication.
type route struct {
	method string
	path   string
	open   bool
	handle handler
}

// resource is the methods of one path.
type resource map[string]route

// serve makes the HTTP handler of one resource.
func (s *Server) serve(methods resource) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // net/http drops the body
		}
		rt, known := methods[method]
		if !known {
			w.Header().Set("Allow", methods.allow())
			s.writeError(w, r, problem(operationNotAllowed))
			return
		}
		answer, err := s.answer(methods, rt, r)
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		s.write(w, r, answer)
	})
}

// answer answers a request, unless the controller or one of its deviations refuses it.
func (s *Server) answer(methods resource, rt route, r *http.Request) (reply, error) {
	if !rt.open {
		if err := s.authenticate(r); err != nil {
			return reply{}, err
		}
	}
	if err := s.refuse(r); err != nil {
		return reply{}, err
	}
	if err := s.precondition(methods, r); err != nil {
		return reply{}, err
	}
	return rt.handle(r)
}

// refuse asks the deviations. It leaves the body of the request to be read again.
func (s *Server) refuse(r *http.Request) error {
	on := func() bool { return s.machine.Power() == qemu.On }
	a := Ask{Request: r, On: on, since: s.recent.within, delays: s.config.Delays}
	text, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return problem(malformedJSON).because(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	if json.Unmarshal(text, &a.Body) != nil {
		a.Body = nil // the handler refuses it
	}
	return Refuse(s.personality.Deviations, a)
}

// allow is the Allow header of a resource (RFC 9110, 10.2.1).
func (m resource) allow() string {
	var names []string
	for _, name := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if _, ok := m[name]; ok {
			names = append(names, name)
		}
	}
	if len(names) > 0 && names[0] == http.MethodGet {
		names = append(names, http.MethodHead)
	}
	return strings.Join(names, ", ")
}
