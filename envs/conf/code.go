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

// codeKey is the key of the hash of a config's code in JSON; see Program.
const codeKey = "code"

// Program adds the code of configs of package main, such as those of a notebook's cells, to their JSON and so to their
// identity: under the key "code" stands a hash of the declarations in source, the file of package main, that the
// config's type and methods reach. Comments and layout do not count. Without Program, and for configs of other
// packages, there is no such key.
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

// codeOf returns the hash of the code of a config type; empty if Program was not given its source.
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

// declarations lists the top-level declarations of a Go file, and of a type those of its methods; nil if it is not Go.
func declarations(source []byte) map[string][]ast.Node {
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", source, 0)
	if err != nil {
		return nil
	}
	out := map[string][]ast.Node{}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			id := d.Name
			if d.Recv != nil {
				id = receiver(d.Recv)
			}
			out[id.Name] = append(out[id.Name], d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out[s.Name.Name] = append(out[s.Name.Name], s)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						var node ast.Node = s
						if d.Tok == token.CONST && len(d.Specs) > 1 {
							node = d // a constant may depend on those above it
						}
						out[n.Name] = append(out[n.Name], node)
					}
				}
			}
		}
	}
	return out
}

// receiver returns the name of a method's type.
func receiver(of *ast.FieldList) (name *ast.Ident) {
	ast.Inspect(of.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == nil {
			name = id
		}
		return true
	})
	return name
}

// hashOf hashes the text of all declarations that a name reaches.
func hashOf(declared map[string][]ast.Node, name string) string {
	reached := []string{name}
	var texts []string
	for i := 0; i < len(reached); i++ {
		for _, node := range declared[reached[i]] {
			var b bytes.Buffer
			// With an empty set of files, line breaks of the source do not count.
			if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, token.NewFileSet(), node); err == nil {
				texts = append(texts, b.String())
			}
			ast.Inspect(node, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && isTopLevel(id, declared) && !slices.Contains(reached, id.Name) {
					reached = append(reached, id.Name)
				}
				return true
			})
		}
	}
	slices.Sort(texts) // cells can be in any order
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(texts), "\n")))
	return hex.EncodeToString(sum[:4])
}

// isTopLevel reports whether an identifier means a top-level declaration, not a field, a method or a local name.
func isTopLevel(id *ast.Ident, declared map[string][]ast.Node) bool {
	if id.Obj == nil {
		return false
	}
	spec, ok := id.Obj.Decl.(ast.Node)
	return ok && slices.ContainsFunc(declared[id.Name], func(n ast.Node) bool {
		group, isGroup := n.(*ast.GenDecl)
		return n == spec || isGroup && slices.ContainsFunc(group.Specs, func(s ast.Spec) bool { return s == spec })
	})
}
