// SPDX-License-Identifier: Apache-2.0

package sc2api

import "google.golang.org/protobuf/reflect/protoreflect"

// Kind is the kind of a request as the interface calls it, "create_game" or "step"; "" for an empty one.
func (x *Request) Kind() string { return kindOf(x.ProtoReflect()) }

// Kind is the kind of request that a response answers; "" for an empty one.
func (x *Response) Kind() string { return kindOf(x.ProtoReflect()) }

// kindOf is the name of the field that is set of a message's first group of alternatives.
func kindOf(m protoreflect.Message) string {
	if f := m.WhichOneof(m.Descriptor().Oneofs().Get(0)); f != nil {
		return string(f.Name())
	}
	return ""
}
