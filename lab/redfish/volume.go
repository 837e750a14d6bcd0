package redfish

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// volumes are the volumes of the RAID controller, and the drives that requests under way have reserved.
type volumes struct {
	raid RAID

	mu       sync.Mutex
	list     []volume
	reserved []string // drives
	deleting []string // ids
	lastID   int
}

type volume struct {
	id, name string
	raidType raidType
	bytes    int64
	drives   []string // paths
}

// volumeBody is Volume.v1_8_0.
type volumeBody struct {
	common
	RAIDType       raidType
	CapacityBytes  int64
	BlockSizeBytes int
	Status         status
	Links          volumeLinks
}

type volumeLinks struct {
	Drives []link
}

// volumeCollection is a collection that says when its changes can be applied.
type volumeCollection struct {
	collectionBody
	ApplyTimes applyTimes `json:"@Redfish.OperationApplyTimeSupport"`
}

// applyTimes is Settings.OperationApplyTimeSupport.
type applyTimes struct {
	Type   string   `json:"@odata.type"`
	Values []string `json:"SupportedValues"`
}

func (s *Server) getVolumes(r *http.Request) (reply, error) {
	if err := s.hasRAID(r); err != nil {
		return reply{}, err
	}
	members := []string{}
	for _, v := range s.volumes.all() {
		members = append(members, raidPath+"/Volumes/"+v.id)
	}
	return ok(volumeCollection{
		collectionBody: collectionBody{
			ODataID: strings.TrimRight(r.URL.Path, "/"), Type: "#VolumeCollection.VolumeCollection", Name: "Volumes",
			Count: len(members), Members: links(members...),
		},
		ApplyTimes: applyTimes{"#Settings.v1_3_0.OperationApplyTimeSupport", s.config.RAID.applyTimes()},
	})
}

func (s *Server) getVolume(r *http.Request) (reply, error) {
	for _, v := range s.volumes.all() {
		if v.id == r.PathValue("id") {
			return ok(volumeBody{
				common:   head(r.URL.Path, "Volume.v1_8_0.Volume", v.name),
				RAIDType: v.raidType, CapacityBytes: v.bytes, BlockSizeBytes: 512, Status: enabled(),
				Links: volumeLinks{links(v.drives...)},
			})
		}
	}
	return reply{}, problem(resourceMissing, r.URL.Path)
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
func (s *Server) createVolume(r *http.Request) (reply, error) {
	var q volumeRequest
	if err := s.hasRAID(r); err != nil {
		return reply{}, err
	}
	if err := decode(r, &q); err != nil {
		return reply{}, err
	}
	if err := s.checkApplyTime(q.ApplyTime); err != nil {
		return reply{}, err
	}
	request, err := requested(r, q)
	if err != nil {
		return reply{}, err
	}
	v, err := s.volumes.reserve(q)
	if err != nil {
		return reply{}, err
	}
	return s.accept(work{
		name: "Create Volume", request: request, onReset: q.ApplyTime == applyOnReset,
		finish: func() error { s.volumes.add(v); return nil },
		cancel: func() { s.volumes.free(v) },
	})
}

// deleteVolume makes a task of it.
func (s *Server) deleteVolume(r *http.Request) (reply, error) {
	var q struct {
		ApplyTime string `json:"@Redfish.OperationApplyTime,omitempty"`
	}
	if err := decode(r, &q); err != nil {
		return reply{}, err
	}
	if err := s.checkApplyTime(q.ApplyTime); err != nil {
		return reply{}, err
	}
	request, err := requested(r, q)
	if err != nil {
		return reply{}, err
	}
	id := r.PathValue("id")
	if err := s.volumes.condemn(id, r.URL.Path); err != nil {
		return reply{}, err
	}
	return s.accept(work{
		name: "Delete Volume", request: request, onReset: q.ApplyTime == applyOnReset,
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
