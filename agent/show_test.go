package agent

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// checkBoard checks the consoles of a machine that has heard its conductor and waits for more.
func checkBoard(t *testing.T, c *conductor, m *machine) {
	t.Helper()
	s := m.board.State()
	if s.Node != nodeUUID || s.Name != "web-1" || s.Conductor != c.URL || s.Doing != idle || s.Heartbeat.IsZero() {
		t.Errorf("the consoles show %+v", s)
	}
	if s.Machine != "QEMU" || s.Serial != "S-1" || len(s.Cards) != 1 || s.Cards[0].MAC != nodeMAC || !s.Cards[0].Carrier {
		t.Errorf("the consoles show of the machine %+v", s)
	}
}

func TestShowCommand(t *testing.T) {
	a := &Agent{Options: Options{Board: screen.NewBoard()}}
	step := agentapi.Command{Name: "deploy.execute_deploy_step",
		Params: json.RawMessage(`{"step":{"interface":"deploy","step":"write_image"}}`)}
	a.showCommand(step)
	if s := a.Board.State(); s.Doing != "deploy.write_image" || s.Err != "" {
		t.Errorf("a step: %+v", s)
	}
	a.showEnd(step, errors.New("no disk"))
	if s := a.Board.State(); s.Doing != idle || s.Err != "deploy.write_image: no disk" {
		t.Errorf("a step that failed: %+v", s)
	}
	for params, want := range map[string]string{`{}`: "standby.sync", `[]`: "standby.sync", `{"step":{}}`: "standby.sync",
		``: "standby.sync"} {
		if got := title(agentapi.Command{Name: "standby.sync", Params: json.RawMessage(params)}); got != want {
			t.Errorf("%s: %s, want %s", params, got, want)
		}
	}
}
