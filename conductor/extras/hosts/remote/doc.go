// Package remote has nodes of other conductor groups acted on for hosts. The leader of the default group reconciles the
// hosts of a whole cluster, and reads nodes of every group from the database; only a node's own leader acts on it.
//
// So the leader of the default group (Caller) sends each action to the leader of the node's group (Server), together
// with the revision of the node that was decided on: an action that was sent twice, or came late, is refused. The other
// way round, leaders tell which nodes have changed (Teller). Nothing is remembered that could not be found again: a
// leader of either kind that ends leaves hosts where documents and nodes are.
//
// It must not decide, and knows members of the cluster by their group alone.
package remote
