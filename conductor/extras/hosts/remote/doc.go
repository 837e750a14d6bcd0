// Package remote acts for hosts on nodes of other conductor groups. The leader of the default group reconciles the
// hosts of a whole cluster, and reads nodes of every group from the database; only a node's own leader acts on it.
//
// So the leader of the default group (Caller) sends each action to the leader of the node's group (Server), together
// with the revision of the node that the decision was made on: an action that was sent twice, or came late, is
// refused. The other leaders report changed nodes to it (Notifier). Nothing is remembered that could not be found
// again: a leader of either kind that ends leaves hosts as their documents and nodes are.
//
// It must not decide, and knows members of the cluster by their group alone.
package remote
