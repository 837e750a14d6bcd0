// Package lanes decides the order in which effects are carried out.
//
// A BMC that does not answer holds a worker for as long as a call may take. Were effects carried out in the order in
// which they fell due, some hundred silent BMCs would keep every healthy machine waiting for minutes. So effects wait
// in lanes, by how promptly the BMC or agent that they call (their peer) answered last, and every lane has workers of
// its own. Within a lane the turns go round: by project, then by kind of work, then by peer, then in the order in
// which effects fell due.
//
// The package holds plain data and no clock, so that tests count turns. It keeps nothing that cannot be read again
// from the store.
package lanes
