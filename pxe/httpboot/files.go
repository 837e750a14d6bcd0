package httpboot

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/ipxe"
	"github.com/ferrite-metal/ferrite/pxe/loader"
)

// loader serves a boot loader; UEFI firmware sends HEAD, then GET, and wants the length.
func (h *handler) loader(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	file, info, err := h.Loaders.Open(name)
	if err != nil {
		e := pxe.Event{Reason: pxe.ReasonNoFile}
		if !errors.Is(err, loader.ErrName) && !errors.Is(err, fs.ErrNotExist) {
			e.Reason, e.Detail = pxe.ReasonUnreadable, err.Error()
			h.Log.Warn("boot loader not served", "file", name, "err", err)
		}
		h.record(r, e)
		h.refuse(w, r, http.StatusNotFound, fmt.Sprintf("there is no boot loader %.100q", name))
		return
	}
	defer file.Close()
	if c, ok := h.known(clientaddr.Of(r), nil); ok {
		c.Detail = name
		h.reached(r, c, pxe.StageHTTP)
	}
	h.record(r, pxe.Event{Answer: size(info)})
	serveFile(w, r, file, info)
}

// start serves the script that leads each machine to its own. It holds nothing that is secret.
func (h *handler) start(w http.ResponseWriter, r *http.Request) {
	text, err := ipxe.Start(h.URL)
	if err != nil {
		h.record(r, pxe.Event{Reason: pxe.ReasonPolicy, Detail: err.Error()})
		h.Log.Error("no ipxe script", "err", err)
		http.Error(w, "no script: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h.record(r, pxe.Event{Answer: "script for all machines"})
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeContent(w, r, "", zeroTime(), strings.NewReader(text))
}

func (h *handler) script(w http.ResponseWriter, r *http.Request, c pxe.Client, boot pxe.Boot) {
	text, err := h.scriptFor(c, boot)
	if err != nil {
		h.recordOf(r, c, boot, pxe.Event{Reason: pxe.ReasonPolicy, Detail: err.Error()})
		h.Log.Error("no ipxe script", "mac", c.MAC.String(), "err", err)
		http.Error(w, "no script: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	h.reached(r, c, pxe.StageScript)
	h.recordScript(r, c, boot)
	http.ServeContent(w, r, "", zeroTime(), strings.NewReader(text))
}

func (h *handler) scriptFor(c pxe.Client, boot pxe.Boot) (string, error) {
	switch boot.Action {
	case pxe.Ramdisk:
		b := ipxe.Boot{
			MAC:     c.MAC,
			Kernel:  h.URL + pxe.KernelPath(c.MAC),
			Initrd:  h.URL + pxe.InitrdPath(c.MAC),
			Cmdline: boot.Cmdline,
			Failed:  h.URL + pxe.FailedPath(c.MAC),
		}
		if boot.Overlay != "" {
			b.Overlay = h.URL + pxe.OverlayPath(c.MAC)
		}
		return ipxe.Script(b)
	case pxe.Image:
		return ipxe.ImageScript(c.MAC, boot.ImageURL, h.URL+pxe.FailedPath(c.MAC))
	default:
		return ipxe.Exit(c.MAC), nil
	}
}

func (h *handler) kernel(w http.ResponseWriter, r *http.Request, c pxe.Client, boot pxe.Boot) {
	h.bootFile(w, r, c, boot, boot.Kernel, pxe.StageKernel)
}

func (h *handler) initrd(w http.ResponseWriter, r *http.Request, c pxe.Client, boot pxe.Boot) {
	h.bootFile(w, r, c, boot, boot.Initrd, pxe.StageRamdisk)
}

// overlay serves the files that this machine's ramdisk gets.
func (h *handler) overlay(w http.ResponseWriter, r *http.Request, c pxe.Client, boot pxe.Boot) {
	if boot.Action != pxe.Ramdisk || boot.Overlay == "" {
		h.recordOf(r, c, boot, pxe.Event{Reason: cmp.Or(boot.Why, pxe.ReasonNotToBoot)})
		h.refuse(w, r, http.StatusNotFound, fmt.Sprintf("%v gets no files of its own for a ramdisk now", c.MAC))
		return
	}
	h.recordOf(r, c, boot, pxe.Event{Answer: fmt.Sprintf("%d bytes", len(boot.Overlay))})
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	http.ServeContent(w, r, "", zeroTime(), strings.NewReader(boot.Overlay))
}

// bootFile serves a kernel or ramdisk from disk, or sends the machine to the
// URL it is at; either way the machine passes here and its stage is seen.
func (h *handler) bootFile(w http.ResponseWriter, r *http.Request, c pxe.Client, boot pxe.Boot, from string,
	s pxe.Stage) {
	if boot.Action != pxe.Ramdisk {
		h.recordOf(r, c, boot, pxe.Event{Reason: cmp.Or(boot.Why, pxe.ReasonNotToBoot)})
		h.refuse(w, r, http.StatusNotFound, fmt.Sprintf("%v is not to boot a ramdisk now", c.MAC))
		return
	}
	c.Detail = from
	if strings.HasPrefix(from, "http://") || strings.HasPrefix(from, "https://") {
		h.reached(r, c, s)
		h.recordOf(r, c, boot, pxe.Event{Answer: "it is at " + host(from)})
		http.Redirect(w, r, from, http.StatusFound)
		return
	}
	file, info, err := openFile(from)
	if err != nil {
		h.recordOf(r, c, boot, pxe.Event{Reason: pxe.ReasonUnreadable, Detail: err.Error()})
		h.Log.Error("boot file not served", "mac", c.MAC.String(), "stage", s, "err", err)
		http.Error(w, fmt.Sprintf("the %s is not there, see the server's log", s), http.StatusInternalServerError)
		return
	}
	defer file.Close()
	c.Detail = filepath.Base(from)
	h.reached(r, c, s)
	h.recordOf(r, c, boot, pxe.Event{Answer: size(info)})
	serveFile(w, r, file, info)
}

// errorNumber is how iPXE writes the number of an error.
var errorNumber = regexp.MustCompile(`^[0-9a-f]{8}$`)

// failed handles iPXE's report that a file could not be loaded or does not boot.
func (h *handler) failed(w http.ResponseWriter, r *http.Request, c pxe.Client, boot pxe.Boot) {
	c.Detail = "see the machine's console"
	if n := r.URL.Query().Get("error"); errorNumber.MatchString(n) {
		c.Detail = "iPXE error " + n + ", explained at https://ipxe.org/" + n
	}
	h.reached(r, c, pxe.StageFailed)
	h.recordOf(r, c, boot, pxe.Event{Answer: "noted", Reason: pxe.ReasonFailed, Detail: c.Detail})
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, "noted\n") // the machine needs no answer
}

func openFile(path string) (*os.File, fs.FileInfo, error) {
	// Without O_NONBLOCK opening a pipe would wait for its writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

func serveFile(w http.ResponseWriter, r *http.Request, file *os.File, info fs.FileInfo) {
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", info.ModTime(), file)
}
