package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/agent/inventory"
	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// idle is shown between two commands.
const idle = "waiting for the conductor's next command"

// showMachine shows the machine's identity and addresses on the consoles.
func (a *Agent) showMachine() {
	vendor := inventory.SystemVendor(a.Root)
	var cards []screen.Card
	interfaces, _ := inventory.Interfaces(a.Root, addresses)
	for _, i := range interfaces {
		cards = append(cards, screen.Card{Name: i.Name, MAC: i.MACAddress, Carrier: i.HasCarrier,
			Addresses: addresses(i.Name)})
	}
	conductor := slices.Concat(a.Params.APIURLs, a.Params.InspectionURLs, []string{""})[0]
	a.Board.Set(func(s *screen.State) {
		s.Version, s.Cards, s.Conductor = Version, cards, conductor
		s.Machine, s.Serial = strings.TrimSpace(vendor.Manufacturer+" "+vendor.ProductName), vendor.SerialNumber
	})
}

// showNode shows the node that the conductor has found.
func (a *Agent) showNode(r agentapi.LookupReply) {
	a.showMachine()
	a.Board.Doing(idle)
	a.Board.Set(func(s *screen.State) {
		s.Node, s.Name, s.Conductor, s.Err = r.Node.UUID, r.Config.FerriteName, a.conductor.URL(), ""
	})
}

// showCommand shows the conductor's command: the step, if it is one.
func (a *Agent) showCommand(c agentapi.Command) { a.Board.Doing(title(c)) }

// showEnd shows that the command is done, or why it failed.
func (a *Agent) showEnd(c agentapi.Command, err error) {
	if err != nil {
		a.Board.Failed(fmt.Errorf("%s: %w", title(c), err))
	}
	a.Board.Doing(idle)
}

// title is the name of a command's step, or else of the command.
func title(c agentapi.Command) string {
	var params struct {
		Step agentapi.Step `json:"step"`
	}
	if json.Unmarshal(c.Params, &params) != nil || params.Step.Step == "" {
		return c.Name
	}
	return params.Step.Interface + "." + params.Step.Step
}
