package traces_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces/tracestest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// collected makes a tracer, and returns the spans that a collector has of it after do.
func collected(t *testing.T, do func(tr *traces.Tracer)) []tracestest.Span {
	t.Helper()
	collector := &tracestest.Receiver{}
	s := httptest.NewServer(collector)
	defer s.Close()
	tr, log := tracer(t, s.URL, "", "")
	do(tr)
	flush(tr)
	if _, dropped := tr.Counts(); dropped > 0 {
		t.Fatalf("%d spans are dropped: %s", dropped, log)
	}
	if _, _, faults := collector.Last(); len(faults) > 0 {
		t.Fatal(faults)
	}
	return collector.Spans()
}

// writing is a node at the writing of an image.
func writing(since time.Time) node.Node {
	return node.Node{UUID: uuid, Name: "rack-1", Driver: "redfish", ProvisionState: node.DeployWait,
		Run: &node.Run{Activity: "deploy", Generation: 7, Since: since,
			Steps: []node.Step{{Interface: "deploy", Step: "write_image", InBand: true}}}}
}

// over ends the run of a node.
func over(tr *traces.Tracer, n node.Node, history ...node.HistoryEntry) {
	done := n
	done.Run, done.ProvisionState = nil, node.Active
	decided(context.Background(), tr, &node.Change{Was: &n, Save: &done, History: history}, done, time.Now(), "", "")
}

// decided is a change that was committed with ctx.
func decided(ctx context.Context, tr *traces.Tracer, c *node.Change, saved node.Node, at time.Time,
	user, project string) {
	tr.Committed(ctx, &node.Committed{Change: c, Saved: saved, Decided: at, User: user, Project: project})
}

// read is a node that this process finds under way.
func read(tr *traces.Tracer, n node.Node) {
	tr.Committed(context.Background(), &node.Committed{Change: &node.Change{}, Saved: n, Read: true})
}

// TestExchanges: calls to BMC and agent are below their effect, with method, path and status, and nothing secret.
func TestExchanges(t *testing.T) {
	n := writing(time.Now())
	spans := collected(t, func(tr *traces.Tracer) {
		read(tr, n)
		ctx, end := tr.Working(context.Background(), n, node.Effect{Node: uuid, Name: "power.power_on", Attempt: 2})
		for _, e := range []exchange.Exchange{
			{Protocol: exchange.Redfish, Name: "POST /redfish/v1/Systems/1", Method: "POST", Path: "/redfish/v1/Systems/1",
				Server: "https://192.0.2.1", Status: 503},
			{Protocol: exchange.IPMI, Name: "Chassis Control", Server: "192.0.2.1:623", Err: errors.New("no answer")},
			{Protocol: exchange.Agent, Name: "deploy.execute_deploy_step", Method: "POST", Path: "/v1/commands/", Status: 200},
		} {
			e.Began = time.Now()
			exchange.Ended(ctx, e)
		}
		end(nil, errors.New("the BMC at https://ada:s3cret@192.0.2.1 is away"))
		over(tr, n)
	})
	tree, err := tracestest.Tree(spans, nil)
	if want := `deploy
  step deploy.write_image
    power.power_on !
      POST /redfish/v1/Systems/1 !
      ipmi Chassis Control !
      agent deploy.execute_deploy_step
`; err != nil || tree != want {
		t.Errorf("%v\n%s", err, tree)
	}
	for _, s := range spans {
		if strings.Contains(s.Failure, "s3cret") {
			t.Errorf("%s tells a secret: %s", s.Name, s.Failure)
		}
		if s.Name == "POST /redfish/v1/Systems/1" && (s.Attrs["http.response.status_code"] != "503" ||
			s.Attrs["server.address"] != "https://192.0.2.1" || s.Kind != "SPAN_KIND_CLIENT") {
			t.Errorf("%+v", s)
		}
		if s.Name == "power.power_on" && s.Attrs["ferrite.attempt"] != "2" {
			t.Errorf("%+v", s)
		}
	}
}

// TestAgentClock: an agent's times count where its clock is right, its duration where it is not.
func TestAgentClock(t *testing.T) {
	now := time.Now()
	century := now.AddDate(99, 0, 0)
	for name, tc := range map[string]struct {
		began, ended time.Time
		clock        string
		took         time.Duration
	}{
		"right":           {now.Add(-8 * time.Second), now.Add(-3 * time.Second), "agent", 5 * time.Second},
		"of 1970":         {time.Unix(0, 0), time.Unix(4, 0), "agent, moved", 4 * time.Second},
		"of next century": {century, century.Add(2 * time.Second), "agent, moved", 2 * time.Second},
		"set back":        {now, now.Add(-time.Hour), "conductor", 0},
		"untold":          {time.Time{}, time.Time{}, "conductor", 0},
		"a lie":           {time.Unix(0, 0), now.AddDate(200, 0, 0), "agent, moved", 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := writing(now.Add(-10 * time.Second))
			n.Run.StepSince = now.Add(-9 * time.Second)
			spans := collected(t, func(tr *traces.Tracer) {
				read(tr, n)
				_, end := tr.Working(context.Background(), n, node.Effect{Node: uuid, Name: "agent.poll"})
				end(agentapi.Result{ID: "1", Name: "execute_deploy_step", Status: agentapi.Failed, Began: tc.began, Ended: tc.ended,
					Error: agentapi.NewCommandError("ImageWriteError", "disk full", "")}, nil)
				over(tr, n, node.HistoryEntry{Severity: "ERROR", Event: "deploy failed"})
			})
			for _, s := range spans {
				switch {
				case s.Parent == "" && s.Failure != "deploy failed":
					t.Errorf("the root failed with %q", s.Failure)
				case s.Name != "agent step deploy.write_image":
				case s.Attrs["ferrite.clock"] != tc.clock || s.Failure != "disk full":
					t.Errorf("%+v", s)
				case s.Ended.Before(s.Began) || s.Ended.After(time.Now().Add(time.Second)):
					t.Errorf("from %s to %s", s.Began, s.Ended)
				case tc.clock == "agent" && s.Ended.Sub(s.Began).Round(time.Millisecond) != tc.took:
					t.Errorf("took %s", s.Ended.Sub(s.Began))
				}
			}
		})
	}
}

// TestAgentBegins: an agent's step begins between its command and the answer to that, independent of the agent's clock.
func TestAgentBegins(t *testing.T) {
	n := writing(time.Now())
	var answered time.Time
	spans := collected(t, func(tr *traces.Tracer) {
		read(tr, n)
		_, end := tr.Working(context.Background(), n, node.Effect{Node: uuid, Name: "agent.execute_step"})
		end(agentapi.Result{ID: "1", Status: agentapi.Running}, nil)
		answered = time.Now()
		time.Sleep(20 * time.Millisecond)
		_, end = tr.Working(context.Background(), n, node.Effect{Node: uuid, Name: "agent.poll"})
		began := time.Now().Add(300 * time.Millisecond)
		end(agentapi.Result{ID: "1", Status: agentapi.Succeeded, Began: began, Ended: began.Add(10 * time.Millisecond)}, nil)
		over(tr, n)
	})
	var sent, step tracestest.Span
	for _, s := range spans {
		switch s.Name {
		case "agent.execute_step":
			sent = s
		case "agent step deploy.write_image":
			step = s
		}
	}
	if step.Began.Before(sent.Began) || step.Began.After(answered) ||
		step.Ended.Sub(step.Began) != 10*time.Millisecond || step.Attrs["ferrite.clock"] != "agent" {
		t.Errorf("sent %s, answered %s, done from %s to %s, by %s", sent.Began, answered, step.Began, step.Ended,
			step.Attrs["ferrite.clock"])
	}
}

// TestHostileNames: for any name of a node, a BMC or an agent, a span is valid, printable and short.
func TestHostileNames(t *testing.T) {
	const bad = "\xff\x1b[31m\x00\u202e"
	long := bad + strings.Repeat("ä", 5000)
	n := writing(time.Now())
	n.Name, n.ConductorGroup, n.Driver = long, long, long
	n.Run.Steps[0] = node.Step{Interface: long, Step: long, InBand: true, From: long}
	spans := collected(t, func(tr *traces.Tracer) {
		read(tr, n)
		tr.Staged(uuid, long, long, time.Now())
		for range 500 {
			tr.Progressed(uuid, agentapi.Progress{Step: long, Stage: long, Done: -1, Total: -1})
			tr.Progressed(uuid, agentapi.Progress{Step: long, Stage: bad, Done: 1 << 62, Total: 1})
		}
		ctx, end := tr.Working(context.Background(), n, node.Effect{Node: uuid, Name: long})
		exchange.Ended(ctx, exchange.Exchange{Protocol: long, Name: long, Path: long, Method: long, Server: long,
			Err: errors.New(long)})
		end(agentapi.Result{ID: long, Name: long, Status: agentapi.Status(long),
			Error: agentapi.NewCommandError(bad, bad, long)}, nil)
		over(tr, n, node.HistoryEntry{Severity: "ERROR", Event: long})
	})
	if len(spans) != 6 {
		t.Fatalf("%d spans, expected root, step, stage, effect, exchange and the agent's step", len(spans))
	}
	for _, s := range spans {
		texts := append([]string{s.Failure}, s.Events...)
		for _, v := range s.Attrs {
			texts = append(texts, v)
		}
		for _, text := range append(texts, s.Name) {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\u202e") || len(text) > 1024 {
				t.Errorf("%s has %d bytes: %.40q", s.Name, len(text), text)
			}
		}
		if len(s.Name) > 200 || len(s.Events) > 64 {
			t.Errorf("a name of %d bytes, %d events", len(s.Name), len(s.Events))
		}
	}
}

const traceOfRequest = `deploy
  PUT /v1/nodes/:node/states/provision
  available -> deploying
  step deploy.write_image
`

// TestRequest: a request is in the trace that it begins, with a link to the sender's. A request that changes nothing is
// in none.
func TestRequest(t *testing.T) {
	for name, tc := range map[string]struct{ parent, link string }{
		"a trace of the caller": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
			"0af7651916cd43dd8448eb211c80319c/b7ad6b7169203331"},
		"none":     {"", ""},
		"nonsense": {"00-zz-\xff-01" + strings.Repeat("0", 10_000), ""},
		"zeroes":   {"00-00000000000000000000000000000000-0000000000000000-01", ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := writing(time.Now())
			spans := collected(t, func(tr *traces.Tracer) {
				for range 2 { // the second changes nothing
					r := httptest.NewRequest(http.MethodPut, "/v1/nodes/rack-1/states/provision", nil)
					r.Header.Set("Traceparent", tc.parent)
					r, end := tr.Follow(r, "req-1")
					if was := n; was.Run != nil {
						was.Run, was.ProvisionState = nil, node.Available
						decided(r.Context(), tr, &node.Change{Was: &was, Save: &n,
							Moves: []node.Transition{*node.Row(node.Available, node.Deploy)}}, n, time.Now(), "ada", "engines")
						over(tr, n)
						n.Run = nil
					}
					end("/v1/nodes/:node/states/provision", http.StatusAccepted)
				}
			})
			links := ""
			for _, s := range spans {
				if s.Kind == "SPAN_KIND_SERVER" {
					links = strings.Join(s.Links, " ")
				}
				if s.Parent == "" && (s.Attrs["ferrite.request.id"] != "req-1" || s.Attrs["user.name"] != "ada") {
					t.Errorf("root %+v", s)
				}
			}
			if links != tc.link {
				t.Errorf("links %q, want %q", links, tc.link)
			}
			tree, err := tracestest.Tree(spans, nil)
			if err != nil || tree != traceOfRequest {
				t.Errorf("%v\n%s", err, tree)
			}
		})
	}
}

// TestEarlyEffect: an effect may be carried out before its decision is reported.
func TestEarlyEffect(t *testing.T) {
	was := node.Node{UUID: uuid, ProvisionState: node.Active, Run: nil, Chore: ""}
	is := was
	is.Chore = "power.request"
	done := was
	spans := collected(t, func(tr *traces.Tracer) {
		ctx := context.Background()
		_, end := tr.Working(ctx, is, node.Effect{ID: 5, Node: uuid, Name: is.Chore})
		decided(ctx, tr, &node.Change{Was: &was, Save: &is, Effects: []node.Effect{{Name: is.Chore}}}, is, time.Now(), "ada",
			"")
		end(nil, nil)
		decided(ctx, tr, &node.Change{Was: &is, Save: &done, Finish: &node.Effect{}}, done, time.Now(), "", "")
	})
	if tree, err := tracestest.Tree(spans, nil); err != nil || tree != "power.request\n  power.request\n" {
		t.Errorf("%v\n%s", err, tree)
	}
	if root := spans[0]; root.Attrs["user.name"] != "ada" || root.Attrs["ferrite.resumed"] != "false" {
		t.Errorf("root %+v", root)
	}
}

// TestDeleted: a node that is deleted is forgotten.
func TestDeleted(t *testing.T) {
	n := writing(time.Now())
	if spans := collected(t, func(tr *traces.Tracer) {
		read(tr, n)
		tr.Committed(context.Background(), &node.Committed{Change: &node.Change{Delete: uuid}})
		tr.Staged(uuid, "dhcp offer", "", time.Now())
		tr.Progressed(uuid, agentapi.Progress{})
	}); len(spans) > 0 {
		t.Errorf("%+v", spans)
	}
}
