package redfish

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// volumes are the volumes of the RAID controller, and the drives that requests under way have reserved.
type volumes struct {
	raid RAID

	mu       sync.Mutex
	list     []volume
	reserved []string // drives
	deleting []string // ids
	forgot   bool     // the foreign volumes
	lastID   int
}

type volume struct {
	id, name string
	raidType raidType
	bytes    int64
	drives   []string // paths
}

type volumeLinks struct {
	Drives []link
}

func (l *volumes) items() (all []item) {
	for _, v := range l.all() {
		all = append(all, item{v.id, values{"volume": v.name, "raidType": v.raidType, "bytes": v.bytes,
			"volumeDrives": links(v.drives...)}})
	}
	return all
}

// volumeRequest is the body of a creation.
type volumeRequest struct {
	Name          string `json:",omitempty"`
	RAIDType      raidType
	CapacityBytes int64  `json:",omitempty"` // 0 is all there is
	ApplyTime     string `json:"@Redfish.OperationApplyTime,omitempty"`
	Links         volumeLinks
}

// createVolume reserves the drives and makes a task of the rest.
func (s *Server) createVolume(r *http.Request, q volumeRequest) (reply, error) {
	if err := s.checkApplyTime(q.ApplyTime); err != nil {
		return reply{}, err
	}
	v, err := s.volumes.reserve(q)
	if err != nil {
		return reply{}, err
	}
	return s.accept(work{
		name: "Create Volume", request: requested(r, q), onReset: q.ApplyTime == applyOnReset,
		finish: func() error { s.volumes.add(v); return nil },
		cancel: func() { s.volumes.free(v) },
	})
}

// deletion is the body of a DELETE.
type deletion struct {
	ApplyTime string `json:"@Redfish.OperationApplyTime,omitempty"`
}

// deleteVolume makes a task of it.
func (s *Server) deleteVolume(r *http.Request, q deletion) (reply, error) {
	if err := s.checkApplyTime(q.ApplyTime); err != nil {
		return reply{}, err
	}
	id := r.PathValue("id")
	if err := s.volumes.condemn(id, r.URL.Path); err != nil {
		return reply{}, err
	}
	return s.accept(work{
		name: "Delete Volume", request: requested(r, q), onReset: q.ApplyTime == applyOnReset,
		finish: func() error { s.volumes.remove(id); return nil },
		cancel: func() { s.volumes.spare(id) },
	})
}

// checkApplyTime refuses a time the controller does not offer.
func (s *Server) checkApplyTime(t string) error {
	if t != "" && !slices.Contains(s.config.RAID.applyTimes(), t) {
		return problem(valueNotInList, t, "@Redfish.OperationApplyTime").about("#/@Redfish.OperationApplyTime")
	}
	return nil
}

func (l *volumes) all() []volume {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// reserve checks a request against its layout and the drives, and keeps the
// drives for it.
func (l *volumes) reserve(q volumeRequest) (volume, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	form, known := layoutOf(q.RAIDType)
	if !known {
		return volume{}, problem(valueNotInList, string(q.RAIDType), "RAIDType").about("#/RAIDType")
	}
	wrong := func(format string, args ...any) error {
		return problem(valueError, "Links/Drives").about("#/Links/Drives").because(fmt.Errorf(format, args...))
	}
	v := volume{raidType: q.RAIDType, name: q.Name}
	smallest := int64(0)
	for _, d := range q.Links.Drives {
		bytes, exists := l.driveBytes(d.ODataID)
		switch {
		case !exists:
			return volume{}, wrong("there is no drive %s", d.ODataID)
		case slices.Contains(v.drives, d.ODataID):
			return volume{}, wrong("the drive %s is there twice", d.ODataID)
		case l.taken(d.ODataID):
			return volume{}, problem(resourceInUse).because(fmt.Errorf("the drive %s belongs to a volume", d.ODataID))
		case smallest == 0 || bytes < smallest:
			smallest = bytes
		}
		v.drives = append(v.drives, d.ODataID)
	}
	if n := len(v.drives); n < form.min || n > form.max || form.even && n%2 != 0 {
		return volume{}, wrong("%s of %d drives: expected at least %d, at most %d, an even number: %t", q.RAIDType, n,
			form.min, form.max, form.even)
	}
	room := smallest * int64(form.data(len(v.drives)))
	if q.CapacityBytes < 0 || q.CapacityBytes > room {
		return volume{}, problem(valueOutOfRange, strconv.FormatInt(q.CapacityBytes, 10), "CapacityBytes").about(
			"#/CapacityBytes")
	}
	v.bytes = cmp.Or(q.CapacityBytes, room)
	l.reserved = append(l.reserved, v.drives...)
	return v, nil
}

// driveBytes is the size of a drive. The caller holds mu.
func (l *volumes) driveBytes(path string) (int64, bool) {
	i := slices.Index(numbered(raidPath+"/Drives", len(l.raid.DriveGiB)), path)
	if i < 0 {
		return 0, false
	}
	return int64(l.raid.DriveGiB[i]) << 30, true
}

// taken reports whether a drive is used or reserved. The caller holds mu.
func (l *volumes) taken(drive string) bool {
	return slices.Contains(l.reserved, drive) ||
		slices.ContainsFunc(l.list, func(v volume) bool { return slices.Contains(v.drives, drive) })
}

// free gives reserved drives back.
func (l *volumes) free(v volume) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(v)
}

// release gives up the drives of v; the caller holds mu.
func (l *volumes) release(v volume) {
	l.reserved = slices.DeleteFunc(l.reserved, func(d string) bool { return slices.Contains(v.drives, d) })
}

func (l *volumes) add(v volume) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(v)
	l.lastID++
	v.id = strconv.Itoa(l.lastID)
	v.name = cmp.Or(v.name, "Volume "+v.id)
	l.list = append(l.list, v)
}

// condemn marks a volume for deletion, so that it is not deleted twice.
func (l *volumes) condemn(id, path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.ContainsFunc(l.list, func(v volume) bool { return v.id == id }) {
		return problem(resourceMissing, path)
	}
	if slices.Contains(l.deleting, id) {
		return problem(resourceInUse).because(fmt.Errorf("%s is being deleted", path))
	}
	l.deleting = append(l.deleting, id)
	return nil
}

func (l *volumes) spare(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deleting = slices.DeleteFunc(l.deleting, func(d string) bool { return d == id })
}

func (l *volumes) remove(id string) {
	l.spare(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(v volume) bool { return v.id == id })
}
