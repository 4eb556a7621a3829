// SPDX-License-Identifier: Apache-2.0

package smac

import "math"

// turn turns a unit towards a point for one loop and reports whether it faces it: the alternative to decision 11.
func (u *soldier) turn(x, y float32) bool {
	rate := 1000.0 // degrees per game second
	if u.Type == Colossus {
		rate = 720
	}
	most := rate / gameSecond * math.Pi / 180
	left := math.Remainder(math.Atan2(float64(y-u.Y), float64(x-u.X))-float64(u.Facing), 2*math.Pi)
	u.Facing += float32(max(-most, min(left, most)))
	return math.Abs(left) <= most
}
