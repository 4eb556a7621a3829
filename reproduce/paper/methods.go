// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"strings"
)

// Group is a block of rows in Table 1.
type Group string

// The groups, in the order of Table 1, which prints the last as the end of "Curiosity Methods", below a dashed line.
const (
	Baseline  Group = "Baseline Methods"
	SoTA      Group = "Current SoTA"
	Curiosity Group = "Curiosity Methods"
	Ours      Group = "CERMIC"
)

// Method is one row of Table 1.
type Method struct {
	ID    string // ours, everywhere: "mappo-cermic"
	Name  string // to display: "MAPPO-CERMIC"
	Group Group
}

// Methods are the ten rows of Table 1, in its order.
//
// paper:table:sota  the rows
var Methods = func() (all []Method) {
	for _, row := range data.Tables[0].Rows {
		all = append(all, Method{row.Method, row.Head, Group(row.Group)})
	}
	return all
}()

// TheoremBonus names our bonus, which methods whose ID ends in theoremSuffix have instead of CERMIC's printed one.
const (
	TheoremBonus  = "Theorem 1's bonus"
	theoremSuffix = "-ucb"
)

// literalSuffix ends the name of a method whose settings are the paper's wherever it prints them.
const literalSuffix = "-literal"

// InTables reports whether tables and figures of the paper show a method. They show the paper's ten and, of the
// methods with CERMIC, the literal one and ours with Theorem 1's bonus.
func InTables(method string) bool {
	base := strings.TrimSuffix(strings.TrimSuffix(method, literalSuffix), theoremSuffix)
	m, err := FindMethod(base)
	return err == nil && m.ID == base && (base == method || m.Group == Ours)
}

// FindMethod accepts our name or the displayed one, in any case. The error names near ones.
func FindMethod(name string) (Method, error) {
	plain := fold(name)
	return find("method", name, Methods, func(m Method) string { return m.ID },
		func(m Method) bool { return plain == fold(m.ID) || plain == fold(m.Name) })
}

// DisplayName is the paper's name of a method, "MAPPO-CERMIC-UCB" of ours with Theorem 1's bonus, and the ID of others.
func DisplayName(method string) string {
	base, ours := strings.CutSuffix(method, theoremSuffix)
	m, err := FindMethod(base)
	switch {
	case err != nil:
		return method
	case ours:
		return m.Name + strings.ToUpper(theoremSuffix)
	}
	return m.Name
}
