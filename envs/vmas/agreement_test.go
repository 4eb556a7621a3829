// SPDX-License-Identifier: Apache-2.0

package vmas

// fuses reports whether this program computes x·x+y with a single rounding, as Go may on some processors: the last digits of
// all results are then others. x must be 1 + 2⁻¹², whose square needs one bit more than a float32 has.
func fuses(x float32) bool { return x*x-(1+1.0/2048) != 0 }
