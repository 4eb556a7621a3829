// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Short writes a number in few characters, with k and M for thousands and millions: 1200000 is "1.2M".
func Short(v float64) string { return numbers(math.Abs(v), 0)(v) }

// numbers writes numbers of sizes up to top with four digits, or with as many as tell numbers apart that differ by
// step.
func numbers(top, step float64) func(v float64) string {
	unit, suffix, digits := 1.0, "", 4
	if step > 0 {
		digits = max(digits, min(2+exponent(top)-exponent(step), 17))
	}
	switch {
	case digits > 4 && top >= 1 && top < 1e16:
		digits = max(digits, 1+exponent(top)) // whole numbers in full
	case digits > 4 || top >= 1e10:
	case top >= 999_950:
		unit, suffix = 1e6, "M"
	case top >= 10_000:
		unit, suffix = 1e3, "k"
	}
	return func(v float64) string {
		if v == 0 {
			return "0" // also for −0
		}
		return minus.Replace(strconv.FormatFloat(v/unit, 'g', digits, 64)) + suffix
	}
}

// minus writes a real minus sign, and none for plus.
var minus = strings.NewReplacer("-", "−", "+", "")

// exponent is the power of ten of a number's first digit.
func exponent(v float64) int { return int(math.Floor(math.Log10(v) + 1e-9)) }

// Fixed writes a number with this many digits after the point and a real minus sign; NaN is Missing, and a number
// beyond 1e15 short.
func Fixed(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return Missing
	case math.Abs(v) >= 1e15:
		return Short(v)
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return strings.Replace(s, "-", "−", 1)
}

// Count writes a number of things: 1 run, 3 runs.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Clock writes seconds as people say them: 42 s, 3 min 05 s, 2 h 07 min.
func Clock(seconds float64) string {
	s := int(math.Round(seconds))
	switch {
	case s >= 3600:
		return fmt.Sprintf("%d h %02d min", s/3600, s/60%60)
	case s >= 60:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	default:
		return fmt.Sprintf("%d s", s)
	}
}
