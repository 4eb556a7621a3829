// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"strings"
)

// firstSteps visits a sample of the weights below scope, about so many of each variable, with their gradients g by
// differences of the loss and what one step of Adam must make of them.
func firstSteps(params map[string][]float64, scope string, sample int, lr, eps float64, loss func() float64, visit func(name string, i int, want, g float64)) {
	for name, p := range params {
		if !strings.HasPrefix(name, scope+"/") || strings.HasPrefix(name, scope+"/adam/") {
			continue
		}
		for i := 0; i < len(p); i += max(1, len(p)/sample) {
			const h = 1e-5
			old := p[i]
			p[i] = old + h
			up := loss()
			p[i] = old - h
			g := (up - loss()) / (2 * h)
			p[i] = old
			visit(name, i, old-lr*g/(math.Abs(g)+eps), g)
		}
	}
}
