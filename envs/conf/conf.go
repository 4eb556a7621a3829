// SPDX-License-Identifier: Apache-2.0

// Package conf is the registry and the JSON form of configuration structs.
//
// A config is a plain struct with a Kind method. Registering a complete default makes it known under its kind to the
// command line, to JSON files and to the conformance tests. In JSON a config is an object with the key "kind".
// Reading overlays the given keys on the registered default, strictly: an unknown key is an error that names the near
// ones.
package conf

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Kinder is what every config of a group (tasks, learners, policies, explorers) is.
type Kinder interface{ Kind() string }

// registry holds complete defaults by interface type and kind.
var registry = map[reflect.Type]map[string]Kinder{}

// Register makes proto, a complete default, known in group G (an interface type such as envs.Config) under
// proto.Kind(). Call it at start-up. It panics if the kind is taken or proto is not a struct value, which are
// programming errors.
func Register[G Kinder](proto G) {
	group := reflect.TypeFor[G]()
	if reflect.TypeOf(proto).Kind() != reflect.Struct {
		panic(fmt.Sprintf("conf: %s %q is a %T, want a struct value", group, proto.Kind(), proto))
	}
	if registry[group] == nil {
		registry[group] = map[string]Kinder{}
	}
	if _, taken := registry[group][proto.Kind()]; taken {
		panic(fmt.Sprintf("conf: %s %q is registered twice", group, proto.Kind()))
	}
	registry[group][proto.Kind()] = proto
}

// New returns the registered default of kind in group G, or an error that lists near names.
func New[G Kinder](kind string) (G, error) {
	proto, err := lookup(reflect.TypeFor[G](), kind)
	if err != nil {
		var none G
		return none, err
	}
	return proto.(G), nil
}

// Kinds lists the kinds of group G in alphabetical order.
func Kinds[G Kinder]() []string { return kinds(reflect.TypeFor[G]()) }

func lookup(group reflect.Type, kind string) (Kinder, error) {
	proto, ok := registry[group][kind]
	if !ok {
		return nil, fmt.Errorf("unknown %s %q%s", groupName(group), kind, Near(kind, kinds(group)))
	}
	return clone(reflect.ValueOf(proto)).Interface().(Kinder), nil
}

// registered returns the registered default of a kind that has type t, in any group; the zero Value if there is none.
func registered(kind string, t reflect.Type) reflect.Value {
	for _, group := range registry {
		if proto, ok := group[kind]; ok && reflect.TypeOf(proto) == t {
			return reflect.ValueOf(proto)
		}
	}
	return reflect.Value{}
}

func kinds(group reflect.Type) []string { return slices.Sorted(maps.Keys(registry[group])) }

// groupNames are the users' words for groups that are not called after their package or their type.
var groupNames = map[string]string{"envs.Config": "task", "learn.Config": "learner", "explore.Config": "explorer"}

// groupName is the users' word for a group: policy.Config is a "policy", learn.MixerConfig a "mixer".
func groupName(group reflect.Type) string {
	if name, ok := groupNames[group.String()]; ok {
		return name
	}
	pkg, name, _ := strings.Cut(strings.TrimSuffix(group.String(), "Config"), ".")
	return strings.ToLower(cmp.Or(name, pkg))
}
