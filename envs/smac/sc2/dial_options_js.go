// SPDX-License-Identifier: Apache-2.0

package sc2

import "github.com/coder/websocket"

// dialOptions are a browser's own: a page cannot choose them.
var dialOptions *websocket.DialOptions
