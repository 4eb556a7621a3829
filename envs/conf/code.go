// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// codeKey is the key under which the JSON of a config of somebody's own says what its code is.
const codeKey = "code"

// Program makes the code of configs that package main declares, as the cells of a notebook do, part of their JSON and so of their
// identity, since it changes from one run of the program to the next: under the key "code" stands a hash of the declarations that the config's type and
// methods reach in source, the file of package main. Comments and layout do not count. Without Program, and for configs of other packages,
// there is no such key.
func Program(source []byte) {
	program.Lock()
	defer program.Unlock()
	program.declared, program.hashes = declarations(source), map[string]string{}
}

var program struct {
	sync.Mutex
	declared map[string][]ast.Node // top-level name -> its declaration and, of a type, those of its methods
	hashes   map[string]string     // of types, by name
}

// codeOf is the hash of the code of a config type; empty if it is of no program that was told.
func codeOf(t reflect.Type) string {
	if t.PkgPath() != "main" {
		return ""
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	program.Lock()
	defer program.Unlock()
	if _, ok := program.declared[name]; !ok {
		return ""
	}
	hash, ok := program.hashes[name]
	if !ok {
		hash = hashOf(program.declared, name)
		program.hashes[name] = hash
	}
	return hash
}

// declarations are those of a file; nil if it is not Go.
func declarations(source []byte) map[string][]ast.Node {
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", source, 0)
	if err != nil {
		return nil
	}
	out := map[string][]ast.Node{}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil && len(d.Recv.List) == 1 {
				name = receiver(d.Recv.List[0].Type)
			}
			out[name] = append(out[name], d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out[s.Name.Name] = append(out[s.Name.Name], s)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						var node ast.Node = s
						if d.Tok == token.CONST && len(d.Specs) > 1 {
							node = d // iota, and what is repeated from above
						}
						out[n.Name] = append(out[n.Name], node)
					}
				}
			}
		}
	}
	return out
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// hashOf hashes the text of all declarations that a name reaches.
func hashOf(declared map[string][]ast.Node, name string) string {
	reached, todo := map[string]bool{name: true}, []string{name}
	var texts []string
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		for _, node := range declared[next] {
			var b bytes.Buffer
			// An empty set of files: lines of the source do not count.
			if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, token.NewFileSet(), node); err == nil {
				texts = append(texts, b.String())
			}
			ast.Inspect(node, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && declared[id.Name] != nil && !reached[id.Name] && !shadowed(id, declared) {
					reached[id.Name] = true
					todo = append(todo, id.Name)
				}
				return true
			})
		}
	}
	slices.Sort(texts) // cells can be in any order
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(texts), "\n")))
	return hex.EncodeToString(sum[:4])
}

// shadowed reports whether an identifier means something that a function declares for itself, or a field of that name.
func shadowed(id *ast.Ident, declared map[string][]ast.Node) bool {
	if id.Obj == nil {
		return true // a field or method behind a dot, or something of another package
	}
	node, ok := id.Obj.Decl.(ast.Node)
	if !ok {
		return true
	}
	return !slices.ContainsFunc(declared[id.Name], func(n ast.Node) bool { return holds(n, node) })
}

// holds reports whether a declaration is, or groups, another.
func holds(n, spec ast.Node) bool {
	if n == spec {
		return true
	}
	d, ok := n.(*ast.GenDecl)
	return ok && slices.ContainsFunc(d.Specs, func(s ast.Spec) bool { return s == spec })
}
