package imagestore

import "fmt"

// leastBytes must come in 30 seconds: a transfer takes room from others while it lasts.
const leastBytes = 1 << 20

// pulls is how many images are pulled at a time, of one project a quarter. The last quarter is for the system, and for
// projects that have none yet: else four with slow servers would keep all the others out.
const pulls = 16

// mayPull refuses a transfer beside too many others. Operators' images are none of these. The lock is held.
func (s *Store) mayPull(src Source) error {
	if src.Stored {
		return nil
	}
	all, own := 0, 0
	for key, f := range s.fetches {
		if !pulledKey.MatchString(key) {
			continue
		}
		all++
		if f.owner == src.Owner && src.Owner != "" {
			own++
		}
	}
	if all < pulls && (own == 0 || own < pulls/4 && all < pulls-pulls/4) {
		return nil
	}
	return &NoRoomError{What: fmt.Sprintf("%d images are being fetched already, %d of them for this project; at most %d "+
		"and %d are at a time, and the last %[4]d are for who has none: try again later", all, own, pulls, pulls/4)}
}
