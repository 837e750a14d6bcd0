package ipmi_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/bougou/go-ipmi/pkg/bmc"
	"github.com/bougou/go-ipmi/pkg/hal/mock"
	"github.com/bougou/go-ipmi/pkg/handlers"
	"github.com/bougou/go-ipmi/pkg/server"
	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// board is a BMC in this process, go-ipmi's. It keeps all of the boot flags, knows cipher suite 17, and lets a test
// choose its answers.
type board struct {
	port int
	bmc  *bmc.BMC

	mu       sync.Mutex
	on       bool
	identify byte // as the chassis status has it
	flags    []byte
	commands []string // by name, as they came
	busy     int      // commands being answered
	many     int      // the most of them at once
	hook     func(c types.Command, req []byte) (answer []byte, code types.CompletionCode, mine bool)
}

const (
	boardUser     = "root"
	boardPassword = "secret-of-the-board" // as long as IPMI has room for, almost
)

func newBoard(t testing.TB, options ...bmc.Option) *board {
	b := &board{flags: make([]byte, 5)}
	b.bmc = bmc.New(bmc.DeviceInfo{IPMIVersion: 0x20}, [16]byte{0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99,
		0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}, mock.New(), options...)
	user, err := b.bmc.Users.Add(2, boardUser)
	if err != nil {
		t.Fatal(err)
	}
	user.SetPassword([]byte(boardPassword))
	user.Enabled = true
	user.ChannelAccess[1] = bmc.UserChannelAccess{MaxPrivilege: bmc.PrivilegeLevelAdministrator, Enabled: true}

	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.port = conn.LocalAddr().(*net.UDPAddr).Port
	r := handlers.NewRegistry()
	r.Use(b.watch)
	handlers.RegisterAllHandlers(r)
	for c, do := range map[types.Command]func(req []byte) ([]byte, types.CompletionCode){
		types.CommandGetChassisStatus:     b.chassisStatus,
		types.CommandChassisControl:       b.chassisControl,
		types.CommandChassisIdentify:      b.chassisIdentify,
		types.CommandGetSystemBootOptions: b.bootOptions,
		types.CommandSetSystemBootOptions: b.setBootOptions,
		types.CommandGetSystemGUID:        b.guid,
		types.CommandGetSDR:               lacking, // a hook answers these
		types.CommandGetSensorReading:     lacking,
		types.CommandGetSensorThresholds:  lacking,
	} {
		r.RegisterFunc(c,
			func(_ context.Context, _ *handlers.HandlerContext, req []byte) ([]byte, types.CompletionCode, error) {
				b.mu.Lock()
				defer b.mu.Unlock()
				answer, code := do(req)
				return answer, code, nil
			})
	}
	s := server.NewServer(b.bmc, conn, server.WithHandlerRegistry(r))
	done := make(chan error, 1)
	go func() { done <- s.Serve(context.Background()) }()
	t.Cleanup(func() {
		s.Close()
		conn.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return b
}

// watch counts commands and lets the hook answer them.
func (b *board) watch(next handlers.Handler) handlers.Handler {
	return handlers.HandlerFunc(func(ctx context.Context, h *handlers.HandlerContext,
		req []byte) ([]byte, types.CompletionCode, error) {
		b.mu.Lock()
		b.commands = append(b.commands, h.Command.Name)
		b.busy++
		b.many = max(b.many, b.busy)
		hook := b.hook
		b.mu.Unlock()
		defer b.set(func() { b.busy-- })
		if hook != nil {
			if answer, code, mine := hook(h.Command, req); mine {
				return answer, code, nil
			}
		}
		return next.Handle(ctx, h, req)
	})
}

// set changes the board.
func (b *board) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// user changes the board's user.
func (b *board) user(t *testing.T, change func(*bmc.User)) {
	t.Helper()
	if err := b.bmc.Users.Update(2, func(u *bmc.User) error { change(u); return nil }); err != nil {
		t.Fatal(err)
	}
}

func (b *board) count(command types.Command) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.commands {
		if c == command.Name {
			n++
		}
	}
	return n
}

func (b *board) chassisStatus([]byte) ([]byte, types.CompletionCode) {
	status := []byte{0, 0, 1<<6 | b.identify<<4}
	if b.on {
		status[0] = 1
	}
	return status, types.CodeOK
}

// chassisControl takes the actions of IPMI v2.0, table 28-4.
func (b *board) chassisControl(req []byte) ([]byte, types.CompletionCode) {
	if len(req) != 1 || req[0] > 5 {
		return nil, types.CodeRequestDataFieldInvalid
	}
	b.on = req[0] == 1 || b.on && (req[0] >= 2 && req[0] <= 4)
	return nil, types.CodeOK
}

// chassisIdentify takes the request of table 28-6.
func (b *board) chassisIdentify(req []byte) ([]byte, types.CompletionCode) {
	if len(req) != 2 {
		return nil, types.CodeRequestDataLengthInvalid
	}
	b.identify = 0
	if req[1]&1 != 0 {
		b.identify = 2
	}
	return nil, types.CodeOK
}

func (b *board) bootOptions(req []byte) ([]byte, types.CompletionCode) {
	if len(req) != 3 || req[0] != 5 {
		return nil, types.CodeParameterNotSupported
	}
	return append([]byte{1, 5}, b.flags...), types.CodeOK
}

func (b *board) setBootOptions(req []byte) ([]byte, types.CompletionCode) {
	switch {
	case len(req) == 2 && req[0] == 3:
	case len(req) == 6 && req[0] == 5:
		b.flags = slices.Clone(req[1:])
	default:
		return nil, types.CodeParameterNotSupported
	}
	return nil, types.CodeOK
}

func lacking([]byte) ([]byte, types.CompletionCode) { return nil, types.CodeInvalidCommand }

func (b *board) guid([]byte) ([]byte, types.CompletionCode) { return b.bmc.GUID[:], types.CodeOK }

// node is a node of this BMC, with settings by key and value.
func (b *board) node(settings ...any) node.Node {
	return nodeAt(b.port, boardUser, boardPassword, settings...)
}
