package dial_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
)

// TestChecked: without permission nothing is dialled or sent, and half a request ends the connection.
func TestChecked(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			heard <- err.Error()
			return
		}
		defer conn.Close()
		text, err := io.ReadAll(conn)
		if err != nil {
			text = []byte(err.Error())
		}
		heard <- string(text)
	}()
	var why error
	d := dial.Checked(&net.Dialer{}, func() error { return why })
	conn, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := dial.KeepAlive(conn, net.KeepAliveConfig{Enable: true, Idle: time.Minute}); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(conn, "before"); err != nil {
		t.Fatal(err)
	}
	why = errors.New("frozen")
	if _, err := io.WriteString(conn, "after"); !errors.Is(err, why) {
		t.Errorf("the late write ended with %v", err)
	}
	if got := <-heard; got != "before" {
		t.Errorf("the peer heard %q", got)
	}
	if conn, err := d.DialContext(t.Context(), "tcp", l.Addr().String()); !errors.Is(err, why) {
		t.Errorf("dialled: %v, %v", conn, err)
	}
}
