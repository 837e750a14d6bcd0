package nodeapi

// ConsoleProtocol is the WebSocket subprotocol of GET /ferrite/v1/nodes/{node}/console.
// Binary messages are the bytes of the serial line, in both directions. Text messages, from
// the server alone, are a ConsoleEvent.
const ConsoleProtocol = "console.v1.ferrite"

// ConsoleEvent says something about a console beside its output.
type ConsoleEvent struct {
	Role   string `json:"role,omitempty"`   // "writer" or "reader": this client's from now on
	Holder string `json:"holder,omitempty"` // the user that writes instead
	Text   string `json:"text,omitempty"`   // one sentence for people
	Error  string `json:"error,omitempty"`  // why the console ends now
}

// ConsoleMessageLimit bounds a message of a client, in bytes.
const ConsoleMessageLimit = 32 << 10
