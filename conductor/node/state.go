package node

// State is a provisioning state, spelt as Ironic spells it on the wire.
type State string

// The thirty states.
const (
	Enroll         State = "enroll"
	Verifying      State = "verifying"
	Manageable     State = "manageable"
	Inspecting     State = "inspecting"
	InspectWait    State = "inspect wait"
	InspectFailed  State = "inspect failed"
	Adopting       State = "adopting"
	AdoptFailed    State = "adopt failed"
	Cleaning       State = "cleaning"
	CleanWait      State = "clean wait"
	CleanHold      State = "clean hold"
	CleanFailed    State = "clean failed"
	Available      State = "available"
	Deploying      State = "deploying"
	DeployWait     State = "wait call-back"
	DeployHold     State = "deploy hold"
	DeployFailed   State = "deploy failed"
	Active         State = "active"
	Servicing      State = "servicing"
	ServiceWait    State = "service wait"
	ServiceHold    State = "service hold"
	ServiceFailed  State = "service failed"
	Rescuing       State = "rescuing"
	RescueWait     State = "rescue wait"
	Rescue         State = "rescue"
	RescueFailed   State = "rescue failed"
	Unrescuing     State = "unrescuing"
	UnrescueFailed State = "unrescue failed"
	Deleting       State = "deleting"
	Error          State = "error"
)

// Event is a reason to change state: an API verb or an outcome.
type Event string

// The events. The first group are verbs an operator can ask for; Clean,
// Manage are also the engine's own, as in Ironic.
const (
	Manage   Event = "manage"
	Provide  Event = "provide"
	Inspect  Event = "inspect"
	Clean    Event = "clean"
	Adopt    Event = "adopt"
	Deploy   Event = "deploy"
	Rebuild  Event = "rebuild"
	Delete   Event = "delete"
	RescueIt Event = "rescue"
	Unrescue Event = "unrescue"
	Service  Event = "service"
	Abort    Event = "abort"
	Unhold   Event = "unhold"
	Done     Event = "done"
	Fail     Event = "fail"
	Wait     Event = "wait"
	Resume   Event = "resume"
	Hold     Event = "hold"
)

// Class groups states by the kind of work in them.
type Class int

// The classes. Only Stable states are left by a request alone and have no
// default target; Failed and Held ones are waiting for a person.
const (
	Stable  Class = iota
	Working       // an effect is pending
	Waiting       // the machine's turn; a deadline runs
	Held          // a person's turn; no deadline
	Failed
)

// Info holds the properties of a state that are the same for all nodes.
type Info struct {
	Class  Class
	Target State // the default target_provision_state; "" for stable states
}

// States describes all thirty.
var States = map[State]Info{
	Enroll:         {Stable, ""},
	Verifying:      {Working, Manageable},
	Manageable:     {Stable, ""},
	Inspecting:     {Working, Manageable},
	InspectWait:    {Waiting, Manageable},
	InspectFailed:  {Failed, Manageable},
	Adopting:       {Working, Active},
	AdoptFailed:    {Failed, Active},
	Cleaning:       {Working, Available},
	CleanWait:      {Waiting, Available},
	CleanHold:      {Held, Available},
	CleanFailed:    {Failed, Available},
	Available:      {Stable, ""},
	Deploying:      {Working, Active},
	DeployWait:     {Waiting, Active},
	DeployHold:     {Held, Active},
	DeployFailed:   {Failed, Active},
	Active:         {Stable, ""},
	Servicing:      {Working, Active},
	ServiceWait:    {Waiting, Active},
	ServiceHold:    {Held, Active},
	ServiceFailed:  {Failed, Active},
	Rescuing:       {Working, Rescue},
	RescueWait:     {Waiting, Rescue},
	Rescue:         {Stable, ""},
	RescueFailed:   {Failed, Rescue},
	Unrescuing:     {Working, Active},
	UnrescueFailed: {Failed, Active},
	Deleting:       {Working, Available},
	Error:          {Stable, ""},
}

// Class returns the class of s.
func (s State) Class() Class { return States[s].Class }
