//go:build proxytest

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole/sshconsoletest"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The ways to the conductor: past the proxies, in TCP mode, in HTTP mode, and to boot files.
const (
	inside   = "FERRITE_PROXYTEST" // marks the process that has a network namespace of its own
	straight = "https://192.0.2.11:6385"
	byTCP    = "https://192.0.2.5:6385"
	byHTTP   = "https://192.0.2.5:443"
	bootFile = "http://192.0.2.5:8088/loader/undionly.kpxe"
)

// TestProxies: Debian's HAProxy and nginx, with the files of docs/operate/proxy.md, before a conductor.
func TestProxies(t *testing.T) {
	suitetest.Need(t, "proxy-test")
	if os.Getenv(inside) == "" {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", os.Args[1:]...)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), inside+"=1"), os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return
	}
	p := newProxied(t)
	haproxy, nginx := page(t, "haproxy.cfg"), page(t, "nginx.conf")
	for of, s := range []struct{ name, program, file string }{
		{"haproxy", "haproxy", haproxy},
		{"haproxy-v1", "haproxy", strings.ReplaceAll(haproxy, "send-proxy-v2", "send-proxy")},
		{"haproxy-forwarded", "haproxy", strings.NewReplacer("option forwardfor", "", "del-header Forwarded",
			"set-header Forwarded for=%[src];proto=https").Replace(haproxy)},
		{"nginx", "nginx", nginx},
	} {
		t.Run(s.name, func(t *testing.T) {
			p.start(t, s.program, s.file)
			for i, way := range []string{byTCP, byHTTP} {
				mode := fmt.Sprintf("%s-%d", s.name, i)
				p.names(t, way, mode)
				p.follows(t, way, mode)
				p.console(t, way)
				p.uploads(t, way, mode)
				p.many(t, way)
				p.lockout(t, way, i)
			}
			p.boots(t, fmt.Sprintf("198.51.100.%d", 2+of))
		})
		t.Run(s.name+"-stranger", func(t *testing.T) {
			at := regexp.MustCompile(`(source|proxy_bind) 192\.0\.2\.5`)
			p.start(t, s.program, at.ReplaceAllString(s.file, "$1 203.0.113.5"))
			if from, err := p.seen(byHTTP, s.name+"-stranger"); err != nil || from != "203.0.113.5" {
				t.Errorf("a client of a strange proxy is seen as %s, %v", from, err)
			}
			if from, err := p.seen(byTCP, s.name+"-stranger-tcp"); err == nil {
				t.Errorf("a strange proxy's header is believed: %s", from)
			}
		})
	}
	if from, err := p.seen(straight, "straight"); err != nil || from != "198.51.100.7" {
		t.Errorf("a client that claims another address is seen as %s, %v", from, err)
	}
	if !t.Failed() {
		fmt.Println("proxy-test: ok")
	}
}

// page is a file of the page about proxies.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/operate/proxy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```"+name+"\n")
	file, _, ended := strings.Cut(rest, "```\n")
	if !ok || !ended {
		t.Fatalf("the page has no %s", name)
	}
	return file
}

// seen is the address that the audit has of a request of 198.51.100.7, which claims to be others.
func (p *proxied) seen(way, name string) (string, error) {
	trait := "CUSTOM_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	res, err := p.ask(p.client("198.51.100.7"), "PUT", way+"/v1/nodes/n1/traits/"+trait, "wonderland", nil,
		"X-Forwarded-For", "192.0.2.5", "X-Forwarded-For", "127.0.0.1", "Forwarded", "for=127.0.0.1",
		"X-Forwarded-Proto", "http")
	if err != nil {
		return "", err
	}
	res.Body.Close()
	if res.StatusCode != http.StatusNoContent {
		return "", fmt.Errorf("a trait is added: %s", res.Status)
	}
	audit := fmt.Sprintf("%s/ferrite/v1/audit?after=%d", straight, p.after)
	if res, err = p.ask(p.client("192.0.2.11"), "GET", audit, "wonderland", nil); err != nil {
		return "", err
	}
	defer res.Body.Close()
	for lines := json.NewDecoder(res.Body); ; {
		var l nodeapi.AuditLine
		var e nodeapi.AuditEntry
		if err := lines.Decode(&l); err != nil {
			return "", fmt.Errorf("%s is not in the audit: %w", trait, err)
		}
		if err := json.Unmarshal(l.Entry, &e); err != nil {
			return "", err
		}
		if p.after = l.ID; strings.HasSuffix(e.Path, "/"+trait) {
			return e.From, nil
		}
	}
}

func (p *proxied) names(t *testing.T, way, mode string) {
	if from, err := p.seen(way, mode); err != nil || from != "198.51.100.7" {
		t.Errorf("%s: the client is seen as %s, %v", way, from, err)
	}
}

// follows reads an event as it happens.
func (p *proxied) follows(t *testing.T, way, mode string) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", way+"/ferrite/v1/events?follow=true", nil)
	r.SetBasicAuth("alice", "wonderland")
	res, err := p.client("198.51.100.7").Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	name := "followed-" + mode
	node := strings.NewReader(`{"driver": "fake-hardware", "name": "` + name + `"}`)
	got := p.status(p.client("198.51.100.7"), "POST", way+"/v1/nodes", "wonderland", node)
	if got != http.StatusCreated {
		t.Fatalf("%s: a node is made: %d", way, got)
	}
	for lines := bufio.NewScanner(res.Body); ; {
		if !lines.Scan() {
			t.Fatalf("%s: no event of %s: %v", way, name, lines.Err())
		}
		if strings.Contains(lines.Text(), name) {
			return
		}
	}
}

// console types at a machine.
func (p *proxied) console(t *testing.T, way string) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, _ := http.NewRequest("GET", "/", nil)
	r.SetBasicAuth("alice", "wonderland")
	c, _, err := websocket.Dial(ctx, way+"/ferrite/v1/nodes/n1/console?write=true&take=true", &websocket.DialOptions{
		HTTPClient: p.client("198.51.100.7"), HTTPHeader: r.Header, Subprotocols: []string{nodeapi.ConsoleProtocol}})
	if err != nil {
		t.Fatalf("%s: console: %v", way, err)
	}
	defer c.CloseNow()
	for shown := ""; !strings.Contains(shown, sshconsoletest.Hello); {
		_, b, err := c.Read(ctx)
		if err != nil {
			t.Fatalf("%s: console shows %q, then %v", way, shown, err)
		}
		shown += string(b)
	}
	before := p.board.Typed()
	if err := c.Write(ctx, websocket.MessageBinary, []byte("typed|")); err != nil {
		t.Fatal(err)
	}
	for p.board.Typed() == before {
		if ctx.Err() != nil {
			t.Fatalf("%s: what is typed does not reach the machine", way)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// uploads sends an image, and has it back.
func (p *proxied) uploads(t *testing.T, way, mode string) {
	image := bytes.Repeat([]byte(mode+" image of 16 bytes\n\x00"), 1<<20)[:16<<20]
	c := p.client("198.51.100.7")
	at := way + nodeapi.ImagesPath + "/" + mode + "/file"
	if got := p.status(c, "PUT", at, "wonderland", bytes.NewReader(image)); got != http.StatusCreated {
		t.Fatalf("%s: an upload is answered %d", way, got)
	}
	res, err := p.ask(c, "GET", at, "wonderland", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if back, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(back, image) {
		t.Errorf("%s: %d bytes of the image come back, %v", way, len(back), err)
	}
}

// many has 200 clients ask at a time, three requests each, beside a client at its limit.
func (p *proxied) many(t *testing.T, way string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var greedy sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for range 80 {
		greedy.Go(func() {
			r, _ := http.NewRequestWithContext(ctx, "GET", way+"/ferrite/v1/events?follow=true", nil)
			r.SetBasicAuth("alice", "wonderland")
			if res, err := p.client("198.51.100.250").Do(r); err == nil {
				mu.Lock()
				answers[res.StatusCode]++
				mu.Unlock()
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
	var wait sync.WaitGroup
	failed := make(chan int, 600)
	for i := range 200 {
		for range 3 {
			wait.Go(func() {
				c := p.client(fmt.Sprintf("198.51.100.%d", i+10))
				if got := p.status(c, "GET", way+"/v1/nodes", "wonderland", nil); got != http.StatusOK {
					failed <- got
				}
			})
		}
	}
	wait.Wait()
	cancel()
	greedy.Wait()
	if len(failed) > 0 {
		t.Errorf("%s: %d of 600 requests of 200 clients fail, the first with %d", way, len(failed), <-failed)
	}
	if answers[http.StatusOK] > 64 {
		t.Errorf("%s: a client has more than 64 connections: %v", way, answers)
	}
}

// lockout locks one client out.
func (p *proxied) lockout(t *testing.T, way string, i int) {
	bad, good := p.client(fmt.Sprintf("198.51.100.%d", 240+i)), p.client(fmt.Sprintf("198.51.100.%d", 242+i))
	var got []int
	for range 30 {
		got = append(got, p.status(bad, "GET", way+"/v1/nodes", "wrong", nil))
	}
	if !slices.Contains(got, http.StatusTooManyRequests) {
		t.Errorf("%s: 30 wrong passwords of one client are answered %v", way, got)
	}
	if got := p.status(good, "GET", way+"/v1/nodes", "wrong", nil); got != http.StatusUnauthorized {
		t.Errorf("%s: another client is locked out with it: %d", way, got)
	}
	if got := p.status(good, "GET", way+"/v1/nodes", "wonderland", nil); got != http.StatusOK {
		t.Errorf("%s: another client: %d", way, got)
	}
}

// boots fetches a boot file, and checks the client's address in the boot network's record.
func (p *proxied) boots(t *testing.T, from string) {
	want, err := os.ReadFile("/usr/lib/ipxe/undionly.kpxe")
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.client(from).Get(bootFile)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(b, want) {
		t.Errorf("the boot file: %s, %d bytes, %v", res.Status, len(b), err)
	}
	var watch *http.Response
	// A proxy that keeps the streams of many departed clients leaves no place for this one.
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		at := straight + "/ferrite/v1/boot/watch?since=5m"
		watch, err = p.ask(p.client("192.0.2.11"), "GET", at, "wonderland", nil)
		if err != nil {
			t.Fatal(err)
		}
		if watch.StatusCode == http.StatusOK || time.Now().After(end) {
			break
		}
		watch.Body.Close()
	}
	defer watch.Body.Close()
	if b, err := io.ReadAll(watch.Body); err != nil || !strings.Contains(string(b), `"`+from+`"`) ||
		strings.Contains(string(b), `"192.0.2.5"`) {
		t.Errorf("the boot network's record is %s, %v", b, err)
	}
}
