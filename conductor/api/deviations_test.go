package api_test

import "fmt"

// deviation is an exchange we answer otherwise than Ironic 21.4, on purpose.
type deviation struct {
	why    string
	status int  // our status; 0 for the same
	shape  bool // our answer has another shape
}

// deviations is all of them, by exchange.
func deviations() map[string]deviation {
	all := map[string]deviation{
		"02#20": {why: "the header common to all of OpenStack counts here, as in newer Ironics; 21.4 ignored it",
			shape: true},

		"04#3":  {why: "malformed JSON is the client's mistake: 400, not 500", status: 400},
		"04#5":  {why: "null is no node: 400, not 500", status: 400},
		"04#35": {why: "without authentication there is no project the owner would have to be", status: 201},
		"04#39": {why: "our hardware types know the flat network too", status: 201},

		"05#5":  {why: "an unknown field is the client's mistake: 400, not 500", status: 400},
		"05#14": {why: "links may be asked for, they are shown anyway; Ironic answered 500", status: 200},

		"06#30": {why: "we know parent_node, from 1.83 on; 21.4 did not know it", status: 406},
		"06#31": {why: "we know include_children, from 1.83 on; 21.4 did not know it", status: 406},

		"09#12": {why: "malformed JSON is the client's mistake: 400, not 500", status: 400},

		"15#11": {why: "the path is the one that Ironic documents: it is served; 21.4 answered 500", status: 200},
		"15#13": {why: "the same, and a state is spelt in small letters: 400, not 500", status: 400},
		"18#5":  {why: "a portgroup may be named wherever its UUID goes; Ironic forgot it here", status: 200},

		"20#7": {why: "our drivers read other keys of driver_info", shape: true},

		"25#16": {why: "a second lookup from where a token was given out is told it again, until an agent has used it; " +
			"Ironic masks it, and an agent whose answer was lost waits for ever", shape: true},

		"30#5": {why: "states/provision cannot be read: 405, not 500", status: 405},
	}
	for _, n := range []int{2, 3, 4, 5, 6} {
		all[fmt.Sprintf("01#%d", n)] = deviation{why: "only resources that are served are linked to", shape: true}
	}
	for _, n := range []int{1, 3, 4, 5} {
		all[fmt.Sprintf("11#%d", n)] = deviation{why: "reasons are given where our driver has them", shape: true}
	}
	for _, n := range []int{14, 15, 36} {
		all[fmt.Sprintf("25#%d", n)] = deviation{
			why: "the configuration also has keys of newer Ironics, and our own", shape: true,
		}
	}
	return all
}
