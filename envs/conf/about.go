// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Document lets a program explain the settings of a package's configs in the words of its source: the comment of a field, behind it or
// above it, is what help texts, tables and errors say of the setting. files are the sources of the package that declares T,
// embedded in the program, so that readers and users have one text:
//
//	//go:embed *.go
//	var sources embed.FS
//
//	func init() { conf.Document[Config](sources) }
func Document[T any](files fs.FS) {
	documents.Lock()
	defer documents.Unlock()
	documents.of[reflect.TypeFor[T]().PkgPath()] = sync.OnceValue(func() map[string]string { return comments(files) })
}

var documents = struct {
	sync.RWMutex
	of map[string]func() map[string]string // package path -> "Type.Field" -> comment
}{of: map[string]func() map[string]string{}}

// about is the comment of the field at an index path of struct type t; empty where the source is not there or says nothing.
func about(t reflect.Type, index []int) string {
	owner := t
	for _, i := range index[:len(index)-1] {
		owner = owner.Field(i).Type
	}
	documents.RLock()
	read := documents.of[owner.PkgPath()]
	documents.RUnlock()
	if read == nil {
		return ""
	}
	return read()[owner.Name()+"."+owner.Field(index[len(index)-1]).Name]
}

// comments are those of the fields of all structs in Go files, by "Type.Field".
func comments(files fs.FS) map[string]string {
	out := map[string]string{}
	names, _ := fs.Glob(files, "*.go") // the pattern is well formed
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue // files of a program that was compiled do parse
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, isType := n.(*ast.TypeSpec)
			if !isType {
				return true
			}
			if body, isStruct := spec.Type.(*ast.StructType); isStruct {
				for _, f := range body.Fields.List {
					for _, field := range f.Names {
						out[spec.Name.Name+"."+field.Name] = comment(f)
					}
				}
			}
			return false
		})
	}
	return out
}

// comment is the first paragraph of what stands behind a field, or else above it, on one line.
func comment(f *ast.Field) string {
	text := f.Comment.Text()
	if strings.TrimSpace(text) == "" {
		text = f.Doc.Text()
	}
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.Join(strings.Fields(text), " ")
}

// Explain adds to an error about a setting of v what that setting is, where its sentence says "KEY is …" and the source of v's configs
// is known (Document). Other errors, and nil, come back as they are.
func Explain(v any, err error) error {
	if err == nil {
		return nil
	}
	m := keyIs.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	var meant []KeyDoc
	for _, k := range Keys(v) {
		if k.About != "" && (k.Key == m[1] || strings.HasSuffix(k.Key, "."+m[1])) {
			meant = append(meant, k)
		}
	}
	if own := slices.DeleteFunc(slices.Clone(meant), func(k KeyDoc) bool { return !strings.HasPrefix(err.Error(), partOf(v, k.Key)+": ") }); len(own) > 0 {
		meant = own // the sentence begins with the kind of the part that refuses
	}
	meant = slices.CompactFunc(meant, func(a, b KeyDoc) bool { return a.About == b.About })
	if len(meant) != 1 { // several parts have a setting of this name: which is meant, the sentence alone does not tell
		return err
	}
	return fmt.Errorf("%w (%s)", err, meant[0].Sentence())
}

// partOf is the kind of the config that a key belongs to.
func partOf(v any, key string) (kind string) {
	for _, k := range Keys(v) {
		if k.Kinds != nil && strings.HasPrefix(key, k.Key+".") {
			kind = k.Value // of several the innermost, which comes last
		}
	}
	return kind
}

var keyIs = regexp.MustCompile(`([a-zA-Z0-9_.]+) is `)

// Sentence says what the setting is, and what it can be where that is a choice: "reward stream …; one of dense, sparse".
func (k KeyDoc) Sentence() string {
	kind := ""
	switch {
	case k.Kinds != nil:
		kind = oneOf(k.Kinds)
	case strings.HasPrefix(k.Type, "one of "):
		kind = k.Type
	}
	if k.About == "" || kind == "" {
		return cmp.Or(k.About, kind, k.Type)
	}
	return k.About + "; " + kind
}

// Range says between which bounds a setting lies, as it follows its Sentence; "" without any.
func (k KeyDoc) Range() string {
	switch {
	case k.Bounds == nil:
		return ""
	case strings.HasPrefix(k.Type, "a list"):
		return fmt.Sprintf("; each %v", k.Bounds)
	}
	return fmt.Sprintf("; %v", k.Bounds)
}

// CheckChoices returns one sentence about the first setting of v, a struct, that is none of the choices its field lists in a tag:
//
//	Reduce string `json:"reduce" oneof:"mean,sum"` // …
func CheckChoices(v any) error {
	at := reflect.ValueOf(v)
	known, err := fields(at.Type())
	if err != nil {
		return err
	}
	for _, f := range known {
		if value := at.FieldByIndex(f.index); f.choices != nil && !slices.Contains(f.choices, value.String()) {
			return fmt.Errorf("%s is %q%s", f.name, value.String(), Near(value.String(), f.choices))
		}
	}
	return nil
}

// oneOf lists choices as a help text does; an empty one is called so.
func oneOf(choices []string) string {
	names := slices.Clone(choices)
	for i, c := range names {
		if c == "" {
			names[i] = `"" (empty)`
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return "one of " + strings.Join(names, ", ")
}
