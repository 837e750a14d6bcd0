package redfish

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// component is a part with firmware of its own, by its id in the inventory.
type component string

const (
	biosFirmware component = "BIOS"
	bmcFirmware  component = "BMC"
	nicFirmware  component = "NIC" // of all network cards
)

// firmware is the versions that run, and those flashed that the machine's next
// start will run.
type firmware struct {
	mu       sync.Mutex
	versions map[component]string
	staged   map[component]string
	busy     bool              // an update is under way
	jobs     map[string]string // states of Dell's jobs that outlive their tasks, by id
}

// firmwareImage is an image for this controller: JSON with the component and the version.
type firmwareImage struct {
	Component component
	Version   string
}

// fetchTimeout bounds copying one image; a lab's images are local.
const fetchTimeout = 5 * time.Minute

// maxFirmware bounds an image.
const maxFirmware = 64 << 20

// fetchFirmware reads the image of a request from where it is.
func (s *Server) fetchFirmware(ctx context.Context, q updateRequest,
	user, password string) (image firmwareImage, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, q.ImageURI, nil)
	if err != nil {
		return image, err
	}
	if user != "" {
		request.SetBasicAuth(user, password)
	}
	response, err := s.config.MediaClient.Do(request)
	if err != nil {
		return image, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return image, fmt.Errorf("GET %s: expected status 200, found %s", q.ImageURI, response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxFirmware+1))
	switch {
	case err != nil:
		return image, err
	case len(content) > maxFirmware:
		return image, fmt.Errorf("%s is larger than %d bytes", q.ImageURI, maxFirmware)
	}
	if err := json.Unmarshal(content, &image); err != nil || image.Version == "" ||
		!slices.Contains([]component{biosFirmware, bmcFirmware, nicFirmware}, image.Component) {
		return image,
			errors.Join(fmt.Errorf(`%s is no firmware image: expected {"Component": "BIOS", "Version": "2.0"}, or BMC`,
				q.ImageURI), err)
	}
	if len(q.Targets) > 0 && !slices.Contains(q.Targets, inventoryPath+"/"+string(image.Component)) {
		return image, fmt.Errorf("%s is for %s, and the targets are %v", q.ImageURI, image.Component, q.Targets)
	}
	return image, nil
}

// occupy lets one update in at a time.
func (f *firmware) occupy() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy {
		return problem(resourceInUse).because(errors.New("an update is under way"))
	}
	f.busy = true
	return nil
}

func (f *firmware) vacate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy = false
}

// flash writes an image. The controller runs its own at once, the machine with its next start; in the middle of a
// start, it does so at once, too.
func (f *firmware) flash(i firmwareImage, starting bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy = false
	if i.Component == bmcFirmware || starting {
		f.versions[i.Component] = i.Version
		return
	}
	f.staged[i.Component] = i.Version
}

func (f *firmware) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.Copy(f.versions, f.staged)
	clear(f.staged)
	for id := range f.jobs {
		f.jobs[id] = "Completed"
	}
}

// schedule keeps a job without a task for the machine's next start.
func (f *firmware) schedule(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.jobs[id] = "Scheduled"
}

func (f *firmware) jobItems() (all []item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(f.jobs)) {
		all = append(all, item{id, values{"jobState": f.jobs[id]}})
	}
	return all
}

// firmwareVersion is the running version; a BIOS that was never updated is QEMU's.
func (s *Server) firmwareVersion(c component) string {
	s.firmware.mu.Lock()
	defer s.firmware.mu.Unlock()
	shipped := map[qemu.Firmware]string{qemu.UEFI: "OVMF", qemu.BIOS: "SeaBIOS"}[s.machine.Boot().Firmware]
	if c == nicFirmware {
		shipped = "iPXE 1.0"
	}
	return cmp.Or(s.firmware.versions[c], shipped)
}
