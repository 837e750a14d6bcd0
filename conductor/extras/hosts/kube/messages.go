package kube

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// The messages of Kubernetes' own kinds: field numbers of generated.proto in
// k8s.io/api/core/v1 and k8s.io/apimachinery/pkg/apis/meta/v1, which never change.
// Metal3's kinds have none, in a cluster either.

// protobufKinds are the kinds that may come as protobuf.
var protobufKinds = map[string]message{
	hostapi.KindSecret: {
		1: {name: "metadata", read: readMessage(objectMeta)},
		2: {name: "data", read: readMap(readBytes)},
		3: {name: "type", read: readString},
		4: {name: "stringData", read: readMap(readString)},
		5: {name: "immutable", read: readBool},
	},
	hostapi.KindNamespace: {
		1: {name: "metadata", read: readMessage(objectMeta)},
		2: {name: "spec", read: readMessage(message{1: {name: "finalizers", read: readString, many: true}})},
		3: {name: "status", read: readMessage(message{1: {name: "phase", read: readString}})},
	},
}

var objectMeta = message{
	1:  {name: "name", read: readString},
	2:  {name: "generateName", read: readString},
	3:  {name: "namespace", read: readString},
	4:  {name: "selfLink", read: readString},
	5:  {name: "uid", read: readString},
	6:  {name: "resourceVersion", read: readString},
	7:  {name: "generation", read: readInt},
	8:  {name: "creationTimestamp", read: readTime},
	9:  {name: "deletionTimestamp", read: readTime},
	10: {name: "deletionGracePeriodSeconds", read: readInt},
	11: {name: "labels", read: readMap(readString)},
	12: {name: "annotations", read: readMap(readString)},
	13: {name: "ownerReferences", many: true, read: readMessage(message{
		1: {name: "kind", read: readString},
		3: {name: "name", read: readString},
		4: {name: "uid", read: readString},
		5: {name: "apiVersion", read: readString},
		6: {name: "controller", read: readBool},
		7: {name: "blockOwnerDeletion", read: readBool},
	})},
	14: {name: "finalizers", read: readString, many: true},
	17: {name: "managedFields", read: readRaw, many: true},
}

// protobufDeleteOptions is DeleteOptions, which may come with any kind.
var protobufDeleteOptions = message{
	1: {name: "gracePeriodSeconds", read: readInt},
	2: {
		name: "preconditions",
		read: readMessage(message{1: {name: "uid", read: readString}, 2: {name: "resourceVersion", read: readString}}),
	},
	3: {name: "orphanDependents", read: readBool},
	4: {name: "propagationPolicy", read: readString},
	5: {name: "dryRun", read: readString, many: true},
}
