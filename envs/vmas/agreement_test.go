// SPDX-License-Identifier: Apache-2.0

package vmas

// fuses reports whether the compiler fuses x·x+y into one rounding, as some processors allow, which changes the last
// digits of all results. x must be 1 + 2⁻¹², whose square needs one bit more than a float32 has.
func fuses(x float32) bool { return x*x-(1+1.0/2048) != 0 }
