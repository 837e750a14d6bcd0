package kube

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// The messages of Kubernetes' own kinds: field numbers of generated.proto in
// k8s.io/api/core/v1 and k8s.io/apimachinery/pkg/apis/meta/v1, which never change.
// Metal3's kinds have none, in a cluster either.

// packedKinds are the kinds that may come as protobuf.
var packedKinds = map[string]message{
	hostapi.KindSecret: {
		1: {name: "metadata", read: readMessage(objectMeta)},
		2: {name: "data", read: readMap(readBlob)},
		3: {name: "type", read: readText},
		4: {name: "stringData", read: readMap(readText)},
		5: {name: "immutable", read: readTruth},
	},
	hostapi.KindNamespace: {
		1: {name: "metadata", read: readMessage(objectMeta)},
		2: {name: "spec", read: readMessage(message{1: {name: "finalizers", read: readText, many: true}})},
		3: {name: "status", read: readMessage(message{1: {name: "phase", read: readText}})},
	},
}

var objectMeta = message{
	1:  {name: "name", read: readText},
	2:  {name: "generateName", read: readText},
	3:  {name: "namespace", read: readText},
	4:  {name: "selfLink", read: readText},
	5:  {name: "uid", read: readText},
	6:  {name: "resourceVersion", read: readText},
	7:  {name: "generation", read: readNumber},
	8:  {name: "creationTimestamp", read: readMoment},
	9:  {name: "deletionTimestamp", read: readMoment},
	10: {name: "deletionGracePeriodSeconds", read: readNumber},
	11: {name: "labels", read: readMap(readText)},
	12: {name: "annotations", read: readMap(readText)},
	13: {name: "ownerReferences", many: true, read: readMessage(message{
		1: {name: "kind", read: readText},
		3: {name: "name", read: readText},
		4: {name: "uid", read: readText},
		5: {name: "apiVersion", read: readText},
		6: {name: "controller", read: readTruth},
		7: {name: "blockOwnerDeletion", read: readTruth},
	})},
	14: {name: "finalizers", read: readText, many: true},
	17: {name: "managedFields", read: readRaw, many: true},
}

// packedDeletion is DeleteOptions, which may come with any kind.
var packedDeletion = message{
	1: {name: "gracePeriodSeconds", read: readNumber},
	2: {name: "preconditions", read: readMessage(message{1: {name: "uid", read: readText}, 2: {name: "resourceVersion", read: readText}})},
	3: {name: "orphanDependents", read: readTruth},
	4: {name: "propagationPolicy", read: readText},
	5: {name: "dryRun", read: readText, many: true},
}
