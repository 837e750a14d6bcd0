package sshconsole

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"
)

// session is one client's terminal. Where there is no command line several sessions share the console, as with
// OpenBMC.
type session struct {
	server  *Server
	channel ssh.Channel
	ended   chan struct{} // closed when another session takes the console; under the server's lock
}

func (c *session) say(format string, args ...any) { fmt.Fprintf(c.channel, format, args...) }

// run is the session's life.
func (c *session) run() {
	cli := c.server.c.CLI
	if cli.Command == "" {
		c.console("")
		return
	}
	c.say("\r\nBoard controller, command line\r\n\r\n")
	for {
		c.say("%s ", cli.Prompt)
		line, err := c.readLine()
		if err != nil {
			return
		}
		switch line {
		case "":
		case cli.Command:
			c.say("Press %q to leave the console.\r\n", cli.Escape)
			if c.server.hold(c) {
				c.console(cli.Escape)
				c.server.release(c)
			} else {
				c.say("The serial port is in use by another session.\r\n")
			}
			c.say("\r\n")
		case cli.Free:
			c.server.take(nil)
			c.say("done\r\n")
		case "exit":
			return
		default:
			c.say("unknown command\r\n")
		}
	}
}

// readLine reads a command, and echoes it.
func (c *session) readLine() (string, error) {
	var line strings.Builder
	var b [1]byte
	for {
		if _, err := io.ReadFull(c.channel, b[:]); err != nil {
			return "", err
		}
		if b[0] == '\r' || b[0] == '\n' {
			c.say("\r\n")
			return strings.TrimSpace(line.String()), nil
		}
		line.WriteByte(b[0])
		if _, err := c.channel.Write(b[:]); err != nil {
			return "", err
		}
	}
}

// take gives the console to c, and ends it for the session that had it. With a nil c the console becomes free.
func (s *Server) take(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder != nil {
		close(s.holder.ended)
	}
	s.holder = c
}

// hold gives the console to c unless another session has it.
func (s *Server) hold(c *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder != nil {
		return false
	}
	s.holder, c.ended = c, make(chan struct{})
	return true
}

func (s *Server) release(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder == c {
		s.holder = nil
	}
}

// behind is how many pieces of output may wait for a client before some are lost, as on a real controller.
const behind = 1024

// console joins the client with the serial line until the escape, the end of the connection, or another session takes
// the line.
func (c *session) console(escape string) {
	output := make(chan []byte, behind)
	stop := c.server.c.Line.Watch(func(data []byte) {
		select {
		case output <- append([]byte{}, data...):
		default:
		}
	})
	defer stop()
	over := make(chan struct{})
	go func() { // may read on until the client's next key, when another session has taken the line
		defer close(over)
		c.typed(escape)
	}()
	for {
		select {
		case data := <-output:
			if _, err := c.channel.Write(data); err != nil {
				return
			}
		case <-over:
			return
		case <-c.ended:
			c.say("\r\nanother session has taken the console\r\n")
			_ = c.channel.Close()
			<-over
			return
		}
	}
}

// typed passes input on until the escape or the end.
func (c *session) typed(escape string) {
	var b [1]byte
	var seen string
	for {
		if _, err := io.ReadFull(c.channel, b[:]); err != nil {
			return
		}
		seen += string(b[:])
		if escape != "" && strings.HasSuffix(seen, escape) {
			return
		}
		seen = seen[max(0, len(seen)-len(escape)):]
		if _, err := c.server.c.Line.Write(b[:]); err != nil {
			return
		}
	}
}
