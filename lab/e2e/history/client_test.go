//go:build cluster

package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// client asks conductors by chance, and not those that it knows to be away.
type client struct {
	members []*member
	http    *http.Client
}

// another is a client at an address of its own, as a site's clients are: a conductor has 64 connections for each.
func (w *world) another() *client {
	nth := w.clients.Add(1)
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(nth>>8), byte(nth))}}
	return &client{w.members, &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		MaxIdleConnsPerHost: 4, DialContext: from.DialContext}}}
}

// ask asks any conductor but the one of a name.
func (c *client) ask(but, method, path string, body, answer any) (status int, err error) {
	m := c.members[rand.IntN(len(c.members))]
	for m.Name == but {
		m = c.members[rand.IntN(len(c.members))]
	}
	return c.askOne(m, method, path, body, answer)
}

func (c *client) askOne(m *member, method, path string, body, answer any) (status int, err error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	q, err := http.NewRequest(method, "http://"+m.Address+path, bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	q.Header.Set("X-OpenStack-Ironic-API-Version", "latest")
	q.Header.Set("Content-Type", "application/json")
	a, err := c.http.Do(q)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return 0, err
	}
	if a.StatusCode/100 != 2 {
		return a.StatusCode, fmt.Errorf("%s: %s %s answers %d: %.300s", m.Name, method, path, a.StatusCode, text)
	}
	if answer != nil {
		err = json.Unmarshal(text, answer)
	}
	return a.StatusCode, err
}

// shown holds the fields of a node.
type shown struct {
	UUID        string
	State       string `json:"provision_state"`
	Power       string `json:"power_state"`
	PowerTarget string `json:"target_power_state"`
	Reservation string
	LastError   string `json:"last_error"`
	Extra       map[string]string
}

// until waits until a node shows something.
func (c *client) until(id, what string, so func(shown) bool) error {
	var n shown
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(paced(100 * time.Millisecond)) {
		n = shown{}
		if _, err = c.ask("", http.MethodGet, "/v1/nodes/"+id, nil, &n); err == nil && so(n) {
			return nil
		}
	}
	return fmt.Errorf("node %s does not come to %s: %+v, %w", id, what, n, err)
}
