package plan

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan/rules"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// effect describes one kind of work outside the conductor: a call to a BMC, an agent or a network. An effect either
// belongs to a run and has settle, or is a chore. A run's effect is obsolete as soon as its run is over: it is not
// begun, and its outcome is dropped. A chore is never obsolete. Package jobs binds a function to each name.
type effect struct {
	args   any // a value of their type; nil for none
	chore  func(args json.RawMessage) (chore, error)
	needs  func(result json.RawMessage) Need               // of its success; nil for nothing
	settle func(d *decision, result json.RawMessage) error // its success: goes on, or says why the run has failed
	replan func(d *decision, o Outcome) bool               // its failure: reports whether the run goes on; nil: it fails
	tries  tries
	again  again
	apart  bool // it calls neither BMC nor agent
}

// effects is the table, by name.
var effects = map[string]effect{
	"power.validate":      {settle: ends(validated), tries: twice, again: reads},
	"management.validate": {settle: ends(validated), needs: validatedNeeds, tries: twice, again: reads},

	"power.power_on":  {args: PowerArgs{}, settle: ends(poweredOn(false)), tries: patient, again: accepted},
	"power.power_off": {args: PowerArgs{}, settle: ends(poweredOff), tries: patient, again: accepted},
	"power.reboot":    {args: PowerArgs{}, settle: ends(poweredOn(true)), tries: patient, again: accepted},
	changePower:       choreOf[powerChange](asAsked, accepted),
	ShutDown:          choreOf[powerChange](patient, accepted),

	setBootDevice: {args: BootDeviceArgs{}, settle: ends(bootDeviceSet), replan: bootDeviceRefused, tries: patient,
		again: sets},
	insertMedium: {args: MediumArgs{}, settle: ends(mediumInserted), tries: patient, again: sets},
	ejectMedium:  {settle: ends(mediumEjected), replan: ejectFailed, tries: patient, again: sets},
	clearMedium:  choreOf[ejectBootMedium](patient, sets),

	hardwareEffect:             {settle: ends(hardwareRead), needs: hardwareNeeds, tries: patient, again: reads},
	"management.set_boot_mode": {args: BootModeRequest{}, settle: ends(bootModeSet), tries: patient, again: accepted},

	"management.change_boot_mode":     choreOf[BootModeRequest](patient, accepted),
	"management.change_secure_boot":   choreOf[SecureBootRequest](patient, accepted),
	"management.attach_virtual_media": choreOf[AttachRequest](patient, sets),
	"management.detach_virtual_media": choreOf[DetachRequest](patient, sets),
	"console.change":                  choreOf[ConsoleRequest](usual, sets),
	"vendor.call":                     choreOf[VendorRequest](once, never),

	readSystem: {settle: ends(systemKnown), needs: systemNeeds, again: reads},
	readPorts:  {settle: ends(portsKnown), needs: portsNeeds, again: reads},
	callEffect: {args: rules.Call{}, settle: ends(noResult), again: reads, apart: true},

	getSteps:                    {settle: takes(stepsKnown), replan: agentGone, needs: hardwareNeeds, again: asksAgent},
	"agent.execute_step":        {args: node.Step{}, settle: takes(commandAnswered), again: asksAgent},
	"agent.get_partition_uuids": {settle: takes(partitionsKnown), again: asksAgent},
	installBootloader:           {args: map[string]any{}, settle: takes(commandAnswered), again: asksAgent},
	"agent.sync":                {settle: takes(commandAnswered), again: asksAgent},
	"agent.finalize_rescue":     {settle: takes(rescueFinalized), again: asksAgent},
	"agent.poll":                {args: PollArgs{}, settle: takes(commandAnswered), tries: long, again: reads},
	"agent.power_off":           {settle: ends(askedOff), again: asksAgent}, // the next step waits until it is off
	"agent.collect_logs":        choreOf[collectLogs](once, asksAgent),

	kexecStep: {args: agentapi.KexecParams{}, settle: ends(kexecStarted), replan: kexecFailed, again: asksAgent},

	driverEffect: {args: DriverArgs{}, settle: takes(driverAnswered), needs: hardwareNeeds, tries: unlessRefused,
		again: sets},
	childrenEffect: {args: node.Step{}, settle: ends(noResult), again: tokens, apart: true},

	attachNetwork:    {args: NetworkArgs{}, settle: ends(networkAttached), again: sets},
	reattachNetworks: {settle: ends(networkAttached), again: sets},
	leaveEffect:      choreOf[leaveNetwork](usual, sets),
	returnEffect:     choreOf[returnToTenant](usual, accepted),
}

// choreOf returns the row of a chore. The args of its effect are the chore itself.
func choreOf[T chore](often tries, as again) effect {
	var args T
	return effect{args: args, tries: often, again: as, chore: func(args json.RawMessage) (chore, error) {
		var c T
		err := json.Unmarshal(args, &c)
		return c, err
	}}
}

// again is how an effect is carried out that an earlier attempt, maybe of a conductor that has died, may have carried
// out already.
type again string

const (
	reads     again = "it only reads"
	sets      again = "it sets the same again"
	accepted  again = "the row says which actions the BMC has accepted, and the machine is read first"
	asksAgent again = "the agent's list of commands is read first"
	tokens    again = "each child knows the step by its token"
	never     again = "it is refused: the result of a second call is not known"
)

// tries is how often an effect is tried before its failure counts.
type tries int

const (
	usual         tries = iota // as configured
	once                       //
	twice                      // a client waits for it, and can ask again
	asAsked                    // once where the request says so, else patient
	patient                    // three times as often while a machine is in POST or its BMC restarts
	unlessRefused              // three times as often, unless the BMC refuses: its own restart must not end a step
	long                       // three times as often: minutes, since a short outage must not end a long write
)

// Tries returns how often an effect is tried before a failure counts. most is the configured number. passing is set if
// the cause of the failure may last for minutes. known is set if the type of the error states that.
func Tries(ef node.Effect, most int, passing, known bool) int {
	var asked struct{ Once bool }
	switch effects[ef.Name].tries {
	case once:
		return 1
	case twice:
		return min(2, most)
	case asAsked:
		if json.Unmarshal(ef.Args, &asked) == nil && asked.Once {
			return 1
		}
	case unlessRefused:
		passing = passing || !known
	case long:
		passing = true
	case usual:
		passing = false
	case patient:
	}
	if passing {
		return 3 * most
	}
	return most
}

// Effects are the names of all effects, in order.
func Effects() []string { return slices.Sorted(maps.Keys(effects)) }

// Repeats reports whether an effect may be begun that an earlier attempt may have carried out.
func Repeats(name string) bool { return effects[name].again != never }

// CallsNoBMC reports whether an effect calls neither BMC nor agent.
func CallsNoBMC(name string) bool { return effects[name].apart }

// Wanted reports whether the outcome of an effect still matters. An effect of an aborted or expired run must not begin:
// the machine may have other work by now.
func Wanted(n node.Node, ef node.Effect) bool {
	return effects[ef.Name].chore != nil || n.Run != nil && n.Run.Generation == ef.Generation
}

// The needs of effects.

func hardwareNeeds(json.RawMessage) Need { return Need{HardwareReport: true} }

func validatedNeeds(result json.RawMessage) (need Need) {
	var v Validated
	if json.Unmarshal(result, &v) == nil { // an undecodable result fails the run
		need.System = node.SystemUUID(v.SystemUUID)
	}
	return need
}

func portsNeeds(result json.RawMessage) (need Need) {
	var s node.System
	if json.Unmarshal(result, &s) == nil {
		need.System, need.Addresses = node.SystemUUID(s.UUID), newAddresses(cardsOf(s))
	}
	return need
}

func systemNeeds(result json.RawMessage) Need {
	need := portsNeeds(result)
	need.Rules = true
	return need
}
