// SPDX-License-Identifier: Apache-2.0

//go:build !js

package sc2

import (
	"net/http"

	"github.com/coder/websocket"
)

// dialOptions bypass proxies, because the game is local, and keep only connections that the game has accepted.
var dialOptions = &websocket.DialOptions{
	HTTPClient:      &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	CompressionMode: websocket.CompressionDisabled,
}
