// Package events lets many readers follow the changes that a database has committed, and the boot stages and progress
// of machines.
//
// One reader reads them for all; a follower that is behind reads the database by itself, in pages, so that none needs
// memory of its own. It must not write anything but the positions of events, and the deletion of old ones.
package events
