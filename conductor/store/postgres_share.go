package store

import "database/sql"

// The connections to a PostgreSQL server that a room has: all its conductors together.
const (
	roomConnections   = 32
	aloneConnections  = 28 // of a conductor without a cluster, beside the one of its lock
	memberConnections = 3  // of a member of a cluster, whether or not it leads
	leastShare        = 6  // of the leader of a group
)

// Share is how many connections the leader of a group may open, besides its member's. It is an equal part of the 32
// that all leaders and members share, less the connections of the members. One more member is counted, because a new
// member connects before the leaders know of it.
func Share(members, groups int) int {
	return max(leastShare, (roomConnections-memberConnections*(members+1))/max(groups, 1))
}

// divide divides connections between writes and reads.
func divide(connections int) (writers, readers int) {
	readers = connections * 3 / 7
	return connections - readers, readers
}

// Resize has the database open at most some connections from now on. Those that are too many close when their work is
// done.
func (s *Database) Resize(connections int) {
	if s.resize != nil {
		s.resize(connections)
	}
}

func resize(connections int, write, read *sql.DB) {
	writers, readers := divide(connections)
	for db, most := range map[*sql.DB]int{write: writers, read: readers} {
		db.SetMaxOpenConns(most)
		db.SetMaxIdleConns(most)
	}
}
