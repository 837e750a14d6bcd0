package plan

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// StepSource is the executor of a step.
type StepSource string

// The sources of steps.
const (
	ByConductor StepSource = "conductor"
	ByBMC       StepSource = "bmc"
	ByAgent     StepSource = "agent"
)

// StepInfo is a step that a node has.
type StepInfo struct {
	Interface, Step string
	Source          StepSource
	Priority        map[node.Framework]int // 0: only when asked for; a framework that is not named lacks the step
	Args            map[string]node.StepArg
	Abortable       bool
}

// StepTable is the steps a node has, as far as they are known without booting it.
type StepTable struct {
	Steps []StepInfo // by interface and name; of two with the same name the BMC's comes first and is done
	// Listed is when the agent listed its steps of a framework. Frameworks without a list are missing.
	Listed map[node.Framework]time.Time
	// Open names the interfaces that may have further steps in a framework, because an agent has not listed its steps
	// there.
	Open map[node.Framework][]string

	limit   time.Duration     // of one step
	refused map[string]string // the reasons of steps that this conductor does not do, by interface and name
}

// agentInterfaces are the interfaces with steps that an agent may do beside the BMC driver. The others belong to
// conductor and driver alone, unless an agent has listed steps there.
var agentInterfaces = []string{"deploy", "raid"}

// requested are the frameworks with steps that an operator can request.
var requested = []node.Framework{node.CleanSteps, node.DeploySteps, node.ServiceSteps}

// StepsOf is the steps of a node: offers are the BMC driver's, listed the agent's.
func StepsOf(n node.Node, offers []node.StepOffer, listed map[node.Framework]node.AgentSteps, s Settings) StepTable {
	d := &decision{n: n, f: Facts{Offers: offers, Settings: s}}
	t := StepTable{Steps: reservedSteps(), Listed: map[node.Framework]time.Time{}, Open: map[node.Framework][]string{},
		limit: s.StepLimit, refused: map[string]string{}}
	if Neutron(n) {
		t.Steps = append(t.Steps, reattachStep())
	}
	for _, o := range offers {
		switch {
		case !driven(&n, o.Interface):
		case o.Refusal != "":
			t.refused[o.Interface+"."+o.Step] = o.Refusal
		default:
			t.Steps = append(t.Steps, StepInfo{Interface: o.Interface, Step: o.Step, Source: ByBMC,
				Priority: s.prioritiesOf(o), Args: o.Args, Abortable: o.Abortable})
		}
	}
	for _, fw := range requested {
		list, known := listed[fw]
		if !leftAlone(n) && (!agentDeploy(n) || !binding(listed, fw)) { // deploy interface fake stands for any agent
			t.Open[fw] = agentInterfaces
		}
		if !known || !agentDeploy(n) {
			continue
		}
		t.Listed[fw] = list.At
		t.addAgent(fw, d.effective(fw, list.Steps))
	}
	rank := map[StepSource]int{ByConductor: 0, ByBMC: 1, ByAgent: 2}
	slices.SortStableFunc(t.Steps, func(a, b StepInfo) int {
		return cmp.Or(cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.Step, b.Step), rank[a.Source]-rank[b.Source])
	})
	return t
}

// reservedSteps are the conductor's own, under the interface that fits them best:
// they can be asked for under any.
func reservedSteps() (all []StepInfo) {
	for _, name := range slices.Sorted(maps.Keys(reserved)) {
		s := StepInfo{Interface: "power", Step: name, Source: ByConductor, Priority: map[node.Framework]int{}}
		for _, fw := range requested {
			s.Priority[fw] = 0
		}
		switch name {
		case "hold":
			s.Interface = "deploy"
		case "wait":
			s.Interface = "deploy"
			s.Args = map[string]node.StepArg{waitSeconds: {
				Description: "How long to wait, at most --step-limit; until the agent's next heartbeat if left out"}}
		}
		all = append(all, s)
	}
	return all
}

// effective gives an agent's steps the priorities they are done with.
func (d *decision) effective(fw node.Framework, steps []node.AgentStep) []node.AgentStep {
	const one = "agent"
	agent := byAgent{}
	for _, s := range steps {
		agent[one] = append(agent[one], agentapi.Step{Interface: s.Interface, Step: s.Step, Priority: s.Priority})
	}
	out := slices.Clone(steps)
	for i, s := range d.reprioritised(fw, agent)[one] {
		out[i].Priority = s.Priority
		if fw == node.DeploySteps && s.Interface+"."+s.Step == writeImage && d.n.DeployInterface() == "direct" {
			out[i].Priority = atImage
		}
	}
	return out
}

// addAgent adds a framework's steps, to the row of the same step where there is one.
func (t *StepTable) addAgent(fw node.Framework, steps []node.AgentStep) {
	for _, s := range steps {
		i := slices.IndexFunc(t.Steps, func(o StepInfo) bool {
			return o.Source == ByAgent && o.Interface == s.Interface && o.Step == s.Step
		})
		if i < 0 {
			i = len(t.Steps)
			t.Steps = append(t.Steps, StepInfo{Interface: s.Interface, Step: s.Step, Source: ByAgent,
				Priority: map[node.Framework]int{}, Args: s.Args})
		}
		t.Steps[i].Priority[fw] = s.Priority
		t.Steps[i].Abortable = t.Steps[i].Abortable || s.Abortable
	}
}

// names lists a framework's steps, each once, in order.
func (t StepTable) names(fw node.Framework, agent bool) []string {
	all := map[string]bool{}
	for _, s := range t.Steps {
		if _, ok := s.Priority[fw]; !ok || s.Source == ByAgent && !agent {
			continue
		}
		if reserved[s.Step] {
			all[s.Step] = true // under any interface
			continue
		}
		all[s.Interface+"."+s.Step] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// find returns the row that a step of a framework is.
func (t StepTable) find(fw node.Framework, s node.Step, agent bool) (StepInfo, bool) {
	for _, row := range t.Steps {
		_, ok := row.Priority[fw]
		if ok && row.Interface == s.Interface && row.Step == s.Step && (agent || row.Source != ByAgent) {
			return row, true
		}
	}
	return StepInfo{}, false
}
