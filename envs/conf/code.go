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
)

// codeKey is the key of the hash of a config's code in JSON; see Program.
const codeKey = "code"

// codes are the hashes of the declarations of package main, by name.
var codes map[string]string

// Program adds the code of configs of package main, such as the configs of a notebook's cells, to their JSON and so
// to their identity. source is the file of package main. The key "code" holds a hash of the declarations in source
// that the config's type and methods reach. Comments and layout do not count. Without Program, and for configs of
// other packages, there is no such key. Call it before configs are used.
func Program(source []byte) { codes = hashes(source) }

// codeOf returns the hash of the code of a config type; empty if Program was not given its source.
func codeOf(t reflect.Type) string {
	if t.PkgPath() != "main" {
		return ""
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	return codes[name]
}

// hashes returns the hash of each top-level declaration of a Go file with all that it reaches; nil if it is not Go.
func hashes(source []byte) map[string]string {
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", source, 0)
	if err != nil {
		return nil
	}
	declared, out := declarations(file), map[string]string{}
	for name := range declared {
		out[name] = hashOf(file, declared, name)
	}
	return out
}

// declarations lists the top-level declarations of a file by name. A type's list includes its methods.
func declarations(file *ast.File) map[string][]ast.Node {
	out := map[string][]ast.Node{}
	for name, object := range file.Scope.Objects {
		out[name] = []ast.Node{object.Decl.(ast.Node)}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				name := receiver(d.Recv).Name
				out[name] = append(out[name], d)
			}
		case *ast.GenDecl:
			if d.Tok != token.CONST || len(d.Specs) == 1 {
				continue
			}
			for _, s := range d.Specs {
				for _, n := range s.(*ast.ValueSpec).Names {
					out[n.Name] = []ast.Node{d} // a constant may depend on those above it
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
func hashOf(file *ast.File, declared map[string][]ast.Node, name string) string {
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
				// The name of a field, a method or a local variable has no object of the file's scope.
				id, ok := n.(*ast.Ident)
				if ok && id.Obj != nil && id.Obj == file.Scope.Lookup(id.Name) && !slices.Contains(reached, id.Name) {
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
