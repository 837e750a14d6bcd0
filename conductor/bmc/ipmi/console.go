package ipmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/bougou/go-ipmi/pkg/command/transport"
	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// consoleInterfaces are Ironic's names of consoles by serial over LAN.
var consoleInterfaces = []string{"ipmitool-socat", "ipmitool-shellinabox"}

// ValidateConsole refuses console interfaces that are not by serial over LAN.
func (d *Driver) ValidateConsole(n node.Node) error {
	if name := n.Interfaces["console"]; name != "" && !slices.Contains(consoleInterfaces, name) {
		return node.Refuse(node.Invalid,
			"console_interface %s of node %s is no serial console: set console_interface to ipmitool-socat or no-console",
			name, n.UUID)
	}
	return d.Validate(n)
}

// SetConsole looks whether the BMC has serial over LAN switched on; the conductor opens it.
func (d *Driver) SetConsole(ctx context.Context, n node.Node, on bool) error {
	if !on {
		return nil
	}
	return d.call(ctx, n, "read the settings of serial over LAN", func(ctx context.Context, s *session) error {
		param := &types.SOLConfigParam_SOLEnable{}
		_, err := ask(ctx, s, types.CommandGetSOLConfigParam, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, s.client.GetSOLConfigParamFor(ctx, types.ChannelNumberSelf, param)
		})
		switch {
		case unsupported(err):
			return nil // it may have serial over LAN, and not say so; opening it will show
		case err != nil:
			return err
		case !param.EnableSOLPayload:
			return errSOLDisabled
		}
		return nil
	})
}

// Console is how clients of Ironic reach the console: a path of the conductor's API.
func (d *Driver) Console(_ context.Context, n node.Node) (map[string]any, error) {
	return map[string]any{"type": "websocket", "url": "/ferrite/v1/nodes/" + n.UUID + "/console"}, nil
}

var errSOLDisabled = errors.New("serial over LAN is disabled on the BMC: enable it in the BMC's settings for " +
	"serial over LAN, or with: ipmitool sol set enabled true 1")

// activateRefused are the answers to Activate Payload (IPMI v2.0, table 24-2).
var activateRefused = map[types.CompletionCode]error{
	types.CodeActivatePayloadAlreadyActive: errors.New("serial over LAN is in use by another session: " +
		"end that one, or take over with: ferrite node console NODE --take"),
	types.CodeActivatePayloadTypeDisabled: errSOLDisabled,
	types.CodeActivatePayloadActivationLimitReached: errors.New("the BMC has no more activations of serial over LAN: " +
		"end another one, or reset the BMC"),
	types.CodeActivatePayloadCannotActivateWithEncryption: errors.New("the BMC refuses encrypted serial over LAN: " +
		"enable encryption for it, with: ipmitool sol set force-encryption true 1"),
	types.CodeInsufficientPrivilege: errors.New("the user has no right to serial over LAN: " +
		"enable it with: ipmitool sol payload enable 1 USERID"),
	types.CodeInvalidCommand: errors.New("the BMC has no serial over LAN"),
}

// instance is the payload instance: BMCs have one serial line.
const instance = 1

// OpenConsole activates serial over LAN in a session of its own: a console lasts, and the
// driver's session does one command at a time. take ends the activation of another session.
// Closing deactivates it.
func (d *Driver) OpenConsole(ctx context.Context, n node.Node, take bool) (io.ReadWriteCloser, error) {
	t, err := parse(n)
	if err != nil {
		return nil, err
	}
	l := &login{o: d.o, address: t.address, account: t.account}
	if err := l.connect(ctx); err != nil {
		return nil, fmt.Errorf("open the console: %w", err)
	}
	s := l.session
	answer, err := s.activate(ctx)
	if take && code(err) == types.CodeActivatePayloadAlreadyActive {
		if err := s.deactivate(ctx); err != nil {
			s.log.Info("serial over LAN of another session cannot be ended", "err", err)
		}
		answer, err = s.activate(ctx)
	}
	if err != nil {
		if known, ok := activateRefused[code(err)]; ok {
			err = known
		}
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.o.RequestTimeout)
		defer cancel()
		if closing := s.close(end); closing != nil {
			s.log.Info("session not given back, it will run out by itself", "err", closing)
		}
		return nil, fmt.Errorf("open the console: %w", err)
	}
	return newSOLLine(s, int(answer.InboundPayloadSize)), nil
}

func (s *session) activate(ctx context.Context) (*transport.ActivatePayloadResponse, error) {
	return ask(ctx, s, types.CommandActivatePayload,
		func(ctx context.Context) (*transport.ActivatePayloadResponse, error) {
			return s.client.ActivatePayload(ctx, &transport.ActivatePayloadRequest{PayloadType: types.PayloadTypeSOL,
				PayloadInstance: instance, EnableEncryption: true, EnableAuthentication: true,
				SharedSerialAlertBehavior: transport.SharedSerialAlertBehavior_Defer})
		})
}

func (s *session) deactivate(ctx context.Context) error {
	_, err := ask(ctx, s, types.CommandDeactivatePayload,
		func(ctx context.Context) (*transport.DeactivatePayloadResponse, error) {
			return s.client.DeactivatePayload(ctx, &transport.DeactivatePayloadRequest{
				PayloadType: types.PayloadTypeSOL, PayloadInstance: instance})
		})
	return err
}

// closeTime bounds the end of a console: two commands to a BMC that may be gone.
const closeTime = 3 * time.Second
