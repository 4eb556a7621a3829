// SPDX-License-Identifier: Apache-2.0

package nn

// Bytes estimates from below what training layers of these widths on rows of in numbers takes: of each weight the value, the gradient
// and Adam's two moments, of each row the results that the backward pass reads. It is no integer: absurd settings overflow one.
func Bytes(rows, in float64, widths ...int) float64 {
	const each = 4 // of a float32
	sum := 0.0
	for _, width := range widths {
		w := float64(width)
		sum += each * (4*(in+1)*w + rows*w)
		in = w
	}
	return sum
}
